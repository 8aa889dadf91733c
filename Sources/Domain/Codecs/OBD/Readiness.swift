/// The lamp, the count of codes and the monitors of the exhaust system (mode 01, parameters 01 and 41; SAE J1979).
public struct Readiness: Equatable, Sendable {
    public enum Ignition: String, Sendable { case spark, compression }

    public struct Monitor: Equatable, Sendable {
        public let name: String
        let isComplete: Bool
    }

    /// The malfunction lamp is on; nil in the monitors of a drive cycle, which do not tell.
    public let isLampOn: Bool?
    /// Confirmed trouble codes of this control unit; nil likewise.
    public let codeCount: Int?
    public let ignition: Ignition
    /// Those that the car has.
    public let monitors: [Monitor]

    public var notReady: [String] { monitors.filter { !$0.isComplete }.map(\.name) }

    /// Precondition: four bytes.
    init(_ data: ArraySlice<UInt8>, isOfCycle: Bool) {
        let bytes = Array(data)
        precondition(bytes.count == 4)
        isLampOn = isOfCycle ? nil : bytes[0] & 0x80 != 0
        codeCount = isOfCycle ? nil : Int(bytes[0] & 0x7F)
        ignition = bytes[1] & 0x08 == 0 ? .spark : .compression
        let continuous = Readiness.continuous.enumerated().filter { bytes[1] & (1 << $0.offset) != 0 }.map {
            Monitor(name: $0.element, isComplete: bytes[1] & (0x10 << $0.offset) == 0)
        }
        let names = ignition == .spark ? Readiness.spark : Readiness.compression
        let others = names.enumerated().filter { bytes[2] & (1 << $0.offset) != 0 }.map {
            Monitor(name: $0.element, isComplete: bytes[3] & (1 << $0.offset) == 0)
        }
        monitors = continuous + others
    }

    var text: String {
        var parts: [String] = []
        if let isLampOn { parts.append("lamp \(isLampOn ? "on" : "off")") }
        if let codeCount { parts.append("\(codeCount) \(codeCount == 1 ? "code" : "codes")") }
        parts.append(notReady.isEmpty ? "all monitors complete" : "not ready: " + notReady.joined(separator: ", "))
        return parts.joined(separator: "; ")
    }

    /// By bit, the lowest first.
    private static let continuous = ["misfire", "fuel system", "components"]
    private static let spark = [
        "catalyst", "heated catalyst", "evaporative system", "secondary air", "gasoline particulate filter",
        "oxygen sensor", "oxygen sensor heater", "EGR or VVT",
    ]
    private static let compression = [
        "NMHC catalyst", "NOx aftertreatment", "reserved 2", "boost pressure", "reserved 4", "exhaust gas sensor",
        "particulate filter", "EGR or VVT",
    ]
}
