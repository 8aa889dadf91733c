internal import Basics

/// A request to a car's control units: the service (mode) and its bytes (SAE J1979).
public struct OBDRequest: Hashable, Sendable {
    /// The mode first; 1 to `bytesMax`.
    public let bytes: [UInt8]

    /// The payload of one CAN frame.
    public static let bytesMax = 7

    /// Precondition: 1 to 7 bytes.
    public init(_ bytes: [UInt8]) {
        precondition((1...OBDRequest.bytesMax).contains(bytes.count))
        self.bytes = bytes
    }

    /// Current data: the values of one parameter.
    public static func current(_ pid: UInt8) -> OBDRequest { OBDRequest([0x01, pid]) }
    /// The value of one parameter when a trouble code was stored.
    public static func freezeFrame(_ pid: UInt8, frame: UInt8 = 0) -> OBDRequest { OBDRequest([0x02, pid, frame]) }
    public static let storedCodes = OBDRequest([0x03])
    public static let pendingCodes = OBDRequest([0x07])
    public static let permanentCodes = OBDRequest([0x0A])
    public static let readiness = OBDRequest([0x01, 0x01])
    public static let vin = OBDRequest([0x09, 0x02])

    /// As people and adapters write it: hexadecimal digits with or without blanks, any case. A digit left over at the
    /// end tells the adapter how many lines to wait for. Nil when it is anything else, or too long.
    public init?(text: some Sequence<UInt8>) {
        var digits: [UInt8] = []
        for byte in text where byte != 0x20 && byte != 0x09 {
            guard let digit = Hex.digit(byte), digits.count <= 2 * OBDRequest.bytesMax else { return nil }
            digits.append(digit)
        }
        let bytes = Hex.bytes(digits)
        guard (1...OBDRequest.bytesMax).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// The text for the adapter, without the carriage return: `010C`.
    public var text: String { Hex.text(bytes).uppercased() }

    public var mode: UInt8 { bytes[0] }

    /// The parameter of a request for one; nil where there is none, or several.
    public var pid: UInt8? { answerStart.count == 2 ? answerStart[1] : nil }

    /// The beginning of an answer: the mode + 0x40, and the parameter when one was asked for.
    var answerStart: [UInt8] {
        let head = mode &+ 0x40
        return switch (mode, bytes.count) {
        case (0x01, 2), (0x02, 2...3), (0x05...0x06, 2...), (0x09, 2), (0x19, 2...), (0x21, 2): [head, bytes[1]]
        case (0x22, 3): [head, bytes[1], bytes[2]]
        default: [head]
        }
    }
}
