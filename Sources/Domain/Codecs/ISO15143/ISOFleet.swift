internal import Basics
public import Fleet
internal import Formats

/// A page of a fleet snapshot of ISO/TS 15143-3 (AEMP 2.0).
public struct ISOPage: Sendable {
    public var machines: [ISOMachine] = []
    /// Address of the next page, as it stands in the document.
    public var next: String?
    /// Machines that nothing names.
    public var unnamed = 0
}

/// A machine as the maker's service tells of it.
public struct ISOMachine: Sendable {
    public let vehicle: VehicleID
    /// By which time series are asked for.
    public let pin: String?
    let model: String
    let serial: String?
    /// In the order of their times.
    public var readings: [MachineReading] = []
}

/// Documents of ISO/TS 15143-3 into readings. Element names as makers publish them; their casing, order, prefixes and
/// presence vary, so does whether a time is an attribute or an element.
///
/// Each element has its own time: elements of one time make one reading. Elements without a field in a reading (fuel used, engine status,
/// fault codes) are left out. `isReporting` is never set: these services report once an hour.
public enum ISOFleet {
    /// 100 machines with all elements are about 300 KB.
    static let bytesMax = 8 << 20

    /// - Throws: also when the document is another one, such as a page of HTML.
    public static func snapshot(_ bytes: [UInt8]) throws(DecodeError) -> ISOPage {
        let root = try root(of: bytes)
        guard root.local == "fleet" || root.local == "equipment" else {
            throw .telematics("<\(root.name.prefix(40))> instead of <Fleet>")
        }
        var page = ISOPage(next: next(in: root))
        for equipment in root.local == "equipment" ? [root] : root.all("equipment") {
            guard let machine = machine(equipment) else {
                page.unnamed += 1
                continue
            }
            page.machines.append(machine)
        }
        return page
    }

    /// A page of a time series of one machine: its readings, and the next page's address.
    public static func series(
        _ bytes: [UInt8], of machine: ISOMachine
    ) throws(DecodeError) -> (readings: [MachineReading], next: String?) {
        let root = try root(of: bytes)
        guard root.local.hasSuffix("messages") else {
            throw .telematics("<\(root.name.prefix(40))> instead of <…Messages>")
        }
        return (readings(in: root, of: machine), next(in: root))
    }

    private static func root(of bytes: [UInt8]) throws(DecodeError) -> XMLElement {
        do throws(XMLFault) {
            return try XMLReader.root(of: bytes, bytesMax: bytesMax)
        } catch {
            throw .telematics("line \(error.line): \(error.reason)")
        }
    }

    // MARK: Who

    private static func machine(_ equipment: XMLElement) -> ISOMachine? {
        guard let header = equipment.first("equipmentheader") else { return nil }
        let (pin, serial) = (known(header["pin"]), known(header["serialnumber"]))
        // The owner's name for the machine comes first; some put the PIN there, with a prefix.
        let name =
            known(header["equipmentid"]).map { $0.hasPrefix("PIN:") ? String($0.dropFirst(4)) : $0 } ?? pin ?? serial
        guard let name, let vehicle = VehicleID(sanitizing: name) else { return nil }
        let model = known(header["model"]) ?? known(header["oemname"]) ?? "unknown"
        var machine = ISOMachine(
            vehicle: vehicle, pin: pin ?? serial, model: bounded(model), serial: serial.map(bounded))
        machine.readings = readings(in: equipment, of: machine)
        return machine
    }

    /// Some services write this word where they know nothing.
    private static func known(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.lowercased() != "missing" else { return nil }
        return text
    }

    /// At most the length that a record accepts.
    private static func bounded(_ text: String) -> String {
        var text = text
        while text.utf8.count > 64 { text.removeLast() }
        return text
    }

    // MARK: What

    private static func readings(in parent: XMLElement, of machine: ISOMachine) -> [MachineReading] {
        var byTime: [Int64: MachineReading] = [:]
        for element in parent.children {
            guard let take = fields[element.local], let ts = time(element) else { continue }
            var reading =
                byTime[ts]
                ?? MachineReading(vehicle: machine.vehicle, ts: ts, id: "", model: machine.model)
            take(element, &reading)
            byTime[ts] = reading
        }
        return byTime.values.filter { !$0.values.isEmpty }.sorted { $0.ts < $1.ts }.map { reading in
            var reading = reading
            reading.serial = machine.serial
            reading.isPartial = true
            reading.id = id(of: reading)
            return reading
        }
    }

    /// Merges two pages about one machine and time, such as hours and fuel from two time series; `later` wins.
    public static func merged(_ earlier: MachineReading, _ later: MachineReading) -> MachineReading {
        precondition(earlier.vehicle == later.vehicle && earlier.ts == later.ts)
        var reading = later
        reading.values.merge(earlier.values) { later, _ in later }
        (reading.latitude, reading.longitude) =
            later.latitude == nil ? (earlier.latitude, earlier.longitude) : (later.latitude, later.longitude)
        reading.id = id(of: reading)
        return reading
    }

    /// The same in each pull. Of two of one time the one that says more has the larger id, so it counts.
    private static func id(of reading: MachineReading) -> String {
        "iso-\(UTC.two(Int64(reading.values.count)))-\(reading.ts)"
    }

    /// One row an element that has a place in a reading.
    private static let fields: [String: @Sendable (XMLElement, inout MachineReading) -> Void] = [
        "location": { element, reading in
            guard let latitude = position(element["latitude"], .latitude),
                let longitude = position(element["longitude"], .longitude)
            else { return }
            reading.latitude = latitude
            reading.longitude = longitude
            (reading.values[.gpsAvailable], reading.values[.gpsFixTime]) = (1, reading.ts)
        },
        "cumulativeoperatinghours": { element, reading in
            set(.engineHours, number(element["hour"]), &reading)
        },
        "fuelremaining": { element, reading in
            guard let percent = number(element["percent"]), let capacity = number(element["fueltankcapacity"]),
                (0...100_000).contains(percent), (1...100_000_000).contains(capacity),
                let milliGal = gallons(capacity, element["fueltankcapacityunits"])
            else { return }
            set(.fuelLevel, Decimal.divided(percent * milliGal, by: 100_000), &reading)
        },
    ]

    private static func set(_ parameter: MachineParameter, _ value: Int64?, _ reading: inout MachineReading) {
        guard let value, parameter.row.isPossible(value) else { return }
        reading.values[parameter] = value
    }

    /// Thousandths of a US gallon (3.785411784 l by definition); litres unless the unit says otherwise.
    private static func gallons(_ thousandths: Int64, _ unit: String?) -> Int64? {
        switch unit?.lowercased() {
        case nil, "litre", "liter", "litres", "liters", "l":
            Decimal.divided(thousandths * 1_000_000_000, by: 3_785_411_784)
        case "gallon", "gallons", "gal", "us gallon": thousandths
        default: nil
        }
    }

    private static func number(_ text: String?) -> Int64? {
        text.flatMap { Decimal.scaled($0.utf8, decimals: 3) }
    }

    private static func position(_ text: String?, _ signal: Signal) -> Int32? {
        text.flatMap { Decimal.scaled($0.utf8, decimals: signal.row.decimals) }.flatMap { signal.row.stored($0) }
    }

    /// Times without a zone are UTC, as the standard has them.
    private static func time(_ element: XMLElement) -> Int64? {
        guard let text = element["datetime"], let ts = UTC.parse(text) ?? UTC.parse(text + "Z"),
            UTC.plausible.contains(ts)
        else { return nil }
        return ts
    }

    // MARK: Where the rest is

    private static func next(in root: XMLElement) -> String? {
        let links = root.all("links")
        let all = links.flatMap { [$0] + $0.children.filter { $0.local == "link" || $0.local == "links" } }
        return all.first { $0["rel"]?.lowercased() == "next" }.flatMap { known($0["href"]) }
    }
}

extension XMLElement {
    /// The name without prefix, in lower case.
    fileprivate var local: String { XMLElement.local(name) }

    private static func local(_ name: String) -> String { String(name.split(separator: ":").last ?? "").lowercased() }

    fileprivate func all(_ name: String) -> [XMLElement] { children.filter { $0.local == name } }
    fileprivate func first(_ name: String) -> XMLElement? { children.first { $0.local == name } }

    /// The text of a child or an attribute, without blanks around it.
    fileprivate subscript(_ name: String) -> String? {
        let text = first(name)?.text ?? attributes.first { XMLElement.local($0.key) == name }?.value
        return text.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    }
}
