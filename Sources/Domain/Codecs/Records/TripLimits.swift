internal import Basics
internal import Formats

/// The limits that trips are computed with, as a record of kind `trip_rules` has them; `TripRules` says which are possible.
public struct TripLimits: Equatable, Sendable {
    public let gapMs: Int64
    public let tripGapMs: Int64
    public let sharpMmPerS2: Int64
    public let sharpMergeMs: Int64
    public let sharpLeastMetresPerHour: Int64
    public let sharpHoldMs: Int64

    /// In the record, and as columns.
    public static let keys = [
        "gap_ms", "trip_gap_ms", "sharp_mm_per_s2", "sharp_merge_ms", "sharp_least_m_per_h", "sharp_hold_ms",
    ]

    public init(
        gapMs: Int64, tripGapMs: Int64, sharpMmPerS2: Int64, sharpMergeMs: Int64, sharpLeastMetresPerHour: Int64,
        sharpHoldMs: Int64
    ) {
        self.gapMs = gapMs
        self.tripGapMs = tripGapMs
        self.sharpMmPerS2 = sharpMmPerS2
        self.sharpMergeMs = sharpMergeMs
        self.sharpLeastMetresPerHour = sharpLeastMetresPerHour
        self.sharpHoldMs = sharpHoldMs
    }

    /// In the order of `keys`.
    public var values: [Int64] {
        [gapMs, tripGapMs, sharpMmPerS2, sharpMergeMs, sharpLeastMetresPerHour, sharpHoldMs]
    }

    /// Precondition: as many as there are `keys`.
    public init(values: [Int64]) {
        precondition(values.count == TripLimits.keys.count)
        self.init(
            gapMs: values[0], tripGapMs: values[1], sharpMmPerS2: values[2], sharpMergeMs: values[3],
            sharpLeastMetresPerHour: values[4], sharpHoldMs: values[5])
    }
}

/// From when sets of trip rules are in force that were in force before there were any: a record of this time tells what a
/// partition began with, and changes nothing.
public enum TripRulesBase {
    public static let fromMs = UTC.plausible.lowerBound
}

extension TripLimits {
    /// All six, whole numbers, and nothing else: a limit that is misspelt must not be taken for its standard.
    init(record bytes: UnsafeRawBufferPointer) throws(DecodeError) {
        guard bytes.count <= TripLimits.recordBytesMax else {
            throw .tooLarge(bytes: bytes.count, most: TripLimits.recordBytesMax)
        }
        let tree: JSONValue
        do { tree = try JSONValue(unsafe Array(bytes), valuesMax: 100) } catch { throw .notJSON(error.description) }
        guard case .object(let fields)? = tree["rules"] else { throw .keyMissing("rules") }
        for field in fields where !TripLimits.keys.contains(field.key) {
            throw .tripRules("they have a key that is none of \(TripLimits.keys.joined(separator: ", "))")
        }
        var values: [Int64] = []
        for key in TripLimits.keys {
            let found = fields.filter { $0.key == key }
            guard found.count <= 1 else { throw .tripRules("`\(key)` stands there more than once") }
            guard case .number(let text)? = found.first?.value, let value = Int64(text) else {
                throw .tripRules("`\(key)` is missing or no whole number")
            }
            values.append(value)
        }
        self.init(values: values)
    }

    private static let recordBytesMax = 4_096
}

extension RecordWriter {
    /// Trip rules, for every partition of the cars' topic: in force for trips that begin from `fromMs` on.
    public static func tripRules(fromMs: Int64, _ limits: TripLimits) -> [UInt8] {
        let rules = zip(TripLimits.keys, limits.values).map { ($0, JSONValue.integer($1)) }
        let fields: [JSONValue.Field] = [
            ("schema", .integer(1)), ("kind", .text("trip_rules")), ("ts", .integer(fromMs)), ("rules", .object(rules)),
        ]
        return Array(JSONValue.object(fields).rendered().utf8)
    }
}
