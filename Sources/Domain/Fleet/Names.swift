/// An id on the wire and in URLs: 1 to 64 letters, digits, `-`, `_` and `.`.
public struct VehicleID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    /// Nil when the text is not an id.
    public init?(_ text: String) {
        guard VehicleID.isValid(text.utf8) else { return nil }
        self.text = text
    }

    public static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
        guard (1...64).contains(bytes.count) else { return false }
        return bytes.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// An id made from a file's name: what is not allowed becomes `-`.
    public init?(sanitizing name: String) {
        let bytes = name.utf8.prefix(64).map { VehicleID.isAllowed($0) ? $0 : 0x2D }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    public var description: String { text }
    public static func < (a: VehicleID, b: VehicleID) -> Bool { a.text < b.text }
}

/// The topics, named once.
public enum Topic {
    public static let cars = "drover.cars"
    public static let machines = "drover.machines"
    public static let dispatch = "drover.dispatch"
    public static let sightings = "drover.sightings"
    public static let tours = "drover.tours"
    /// Output topics, written through the outbox.
    public static let alerts = "drover.alerts"
    public static let assignments = "drover.assignments"
    public static let rejected = "drover.rejected"
}
