internal import Basics

/// A diagnostic trouble code: two bytes, written as a letter and four digits (SAE J2012).
public struct TroubleCode: Hashable, Sendable {
    public let raw: UInt16

    /// Nil for 0000, which is padding.
    public init?(raw: UInt16) {
        guard raw != 0 else { return nil }
        self.raw = raw
    }

    init?(bytes: ArraySlice<UInt8>) {
        self.init(raw: bytes.prefix(2).reduce(0) { $0 << 8 | UInt16($1) })
    }

    /// As people write it, any case: `p0133`. Nil when it is no code.
    public init?(text: some Collection<UInt8>) {
        guard text.count == 5, let letter = text.first,
            let system = TroubleCode.letters.firstIndex(of: letter & 0xDF)
        else { return nil }
        var value = UInt16(system) << 14
        for (place, character) in text.dropFirst().enumerated() {
            guard let digit = Hex.digit(character), place > 0 || digit < 4 else { return nil }
            value |= UInt16(digit) << UInt16(12 - 4 * place)
        }
        self.init(raw: value)
    }

    private static let letters = Array("PCBU".utf8)

    public var text: String {
        let digits = Hex.text([UInt8(raw >> 8 & 0x3F), UInt8(raw & 0xFF)]).uppercased()
        return String(UnicodeScalar(TroubleCode.letters[Int(raw >> 14)])) + digits
    }

    public enum System: String, CaseIterable, Sendable { case powertrain, chassis, body, network }
    public var system: System { System.allCases[Int(raw >> 14)] }

    /// The body that defines the code.
    public enum Origin: String, Sendable { case generic, manufacturer, reserved }
    public var origin: Origin {
        let (group, third) = (raw >> 12 & 3, raw >> 8 & 0xF)
        switch (system, group) {
        case (_, 0): return .generic
        case (.powertrain, 1): return .manufacturer
        case (.powertrain, 2): return .generic
        case (.powertrain, _): return third < 4 ? .manufacturer : third < 10 ? .generic : .reserved
        case (_, 1), (_, 2): return .manufacturer
        case (.network, _): return .generic
        default: return .reserved
        }
    }

    /// The subsystem by the third character; nil where none is fixed.
    public var subsystem: String? {
        let third = raw >> 8 & 0xF
        switch (system, third) {
        case (.powertrain, 0): return "fuel and air metering, auxiliary emission controls"
        case (.powertrain, 1), (.powertrain, 2): return "fuel and air metering"
        case (.powertrain, 3): return "ignition system or misfire"
        case (.powertrain, 4): return "auxiliary emission controls"
        case (.powertrain, 5): return "vehicle speed, idle control, auxiliary inputs"
        case (.powertrain, 6): return "computer and auxiliary outputs"
        case (.powertrain, 7...9): return "transmission"
        case (.powertrain, 0xA...0xC): return "hybrid propulsion"
        case (.network, 0): return "network electrical"
        case (.network, 1...2): return "network communication"
        case (.network, 3): return "network software"
        case (.network, 4): return "network data"
        default: return nil
        }
    }
}

extension OBDAnswer {
    /// The codes of an answer in mode 03 (confirmed), 07 (pending) or 0A (permanent), without padding.
    ///
    /// On a CAN bus a count precedes the codes, though not every adapter passes it on; older buses have none and pad with 0000 to three
    /// codes. With a count the number of bytes is even. A line of seven bytes that is known to come from a CAN bus has a count and
    /// padding, if its first byte can be one.
    public func troubleCodes() throws(OBDValueError) -> [TroubleCode] {
        guard let mode = bytes.first, [0x43, 0x47, 0x4A].contains(mode) else {
            throw .notAboutThis(mode: (bytes.first ?? 0) &- 0x40)
        }
        var data = bytes.dropFirst()
        if bytes.count % 2 == 0 || bus == .can && isPaddedCount(data) {
            let count = Int(data.removeFirst())
            guard data.count >= 2 * count else { throw .tooShort(pid: mode, bytes: data.count, need: 2 * count) }
            data = data.prefix(2 * count)
        }
        return stride(from: data.startIndex, to: data.endIndex - 1, by: 2).compactMap {
            TroubleCode(bytes: data[$0..<$0 + 2])
        }
    }

    private func isPaddedCount(_ data: ArraySlice<UInt8>) -> Bool {
        guard bytes.count == 7, let count = data.first else { return false }
        let padding = data.dropFirst(1 + 2 * Int(count))
        guard !padding.isEmpty, let first = padding.first, [0x00, 0x55, 0xAA, 0xCC, 0xFF].contains(first) else {
            return false
        }
        return padding.allSatisfy { $0 == first }
    }
}
