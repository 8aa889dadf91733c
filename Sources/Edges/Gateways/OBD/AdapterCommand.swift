package import Codecs

/// A command to an adapter: set-up, or a request for the car behind it.
package enum AdapterCommand: Equatable {
    case reset, describe, identify, findProtocol
    case obd(OBDRequest)

    /// In the order of a session's beginning.
    static let setUp: [AdapterCommand] = [.reset, .describe, .identify, .findProtocol]

    package var text: String {
        switch self {
        case .reset: "ATZ"
        case .describe: "AT@1"
        case .identify: "AT@2"
        case .findProtocol: "ATSP00"
        case .obd(let request): request.text
        }
    }

    /// Services that only read. Clearing codes (04) and driving actuators (08) are never asked for.
    private static let readingModes: Set<UInt8> = [0x01, 0x02, 0x03, 0x07, 0x09, 0x0A]

    package var isHarmless: Bool {
        if case .obd(let request) = self { AdapterCommand.readingModes.contains(request.mode) } else { true }
    }

    /// The one place where a command becomes bytes.
    /// Precondition: it changes nothing in the car.
    package var line: [UInt8] {
        precondition(isHarmless, "a request that changes something in a car")
        return Array(text.utf8) + [0x0D]
    }
}
