internal import Fleet

/// The time that a record tells its partition.
public struct Tick: Equatable, Sendable {
    /// Epoch milliseconds.
    public let ts: Int64
    /// The sender, by role and instance; nil: written by a version that did not say.
    public let by: String?
    /// The clock was moved wrongly, and a person sets it back to `ts`.
    public let isSetBack: Bool

    public init(_ ts: Int64, by: String? = nil, isSetBack: Bool = false) {
        self.ts = ts
        self.by = by
        self.isSetBack = isSetBack
    }

    static let kind = "tick"
    static let setBackKind = "clock_set"

    /// An import's closing tick is made from the readings before it, not from a clock.
    public var isOfImport: Bool { by?.hasPrefix(Tick.importer) ?? false }
    private static let importer = "import."

    /// A sender's name: its role and instance. Characters that an id cannot hold become `-`.
    public static func sender(role: String, instance: String) -> String {
        let name = "\(role).\(instance)".utf8.prefix(64).map { VehicleID.isValid([$0]) ? $0 : UInt8(ascii: "-") }
        return String(decoding: name, as: UTF8.self)
    }

    /// By kind and fields of a record; nil: it says something else.
    static func decoded(
        kind: String, ts: Int64, by: () throws(DecodeError) -> String?
    ) throws(DecodeError) -> Tick? {
        guard kind == Tick.kind || kind == setBackKind else { return nil }
        // A person's name may hold anything: only senders of ticks are told apart.
        guard kind == Tick.kind else { return Tick(ts, isSetBack: true) }
        return Tick(ts, by: try checked(try by()))
    }

    static func checked(_ by: String?) throws(DecodeError) -> String? {
        guard let by, !VehicleID.isValid(by.utf8) else { return by }
        throw .keyMissing("by")
    }
}
