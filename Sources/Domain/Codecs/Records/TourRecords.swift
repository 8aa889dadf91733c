public import Fleet
public import Formats

/// Records of tours on `drover.tours`, and what phones hand in: lists of the same without the record's own fields.
public enum TourRecords {
    public typealias Decoded = TickOrRecord<TourEvent>

    public static let bytesMax = 2_000

    /// `key` must be the record's tour.
    public static func decode(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws(DecodeError) -> Decoded {
        let tree = try unsafe JSONValue(record: Array(value), bytesMax: bytesMax, valuesMax: 100)
        let kind = tree["kind"]?.text ?? ""
        if kind == Tick.kind || kind == Tick.setBackKind,
            let tick = try Tick.decoded(
                kind: kind, ts: try tree.recordTime(), by: { () throws(DecodeError) in tree["by"]?.text })
        {
            return .tick(tick)
        }
        let event = try event(tree)
        guard unsafe event.tour.utf8.elementsEqual(key) else { throw .keyDiffers }
        return .record(event)
    }

    /// The fields of an event, wherever it stands.
    public static func event(_ tree: JSONValue) throws(DecodeError) -> TourEvent {
        let kind: TourEvent.Kind
        switch tree["kind"]?.text {
        case "download": kind = .download
        case "visit": kind = .visit(waypoint: try tree.recordID("waypoint"))
        default: throw .kindUnknown
        }
        let (version, offset) = (try tree.recordInteger("version"), try tree.recordInteger("utc_offset_min"))
        guard (1...Int64(TourEvent.versionMax)).contains(version) else { throw .keyMissing("version") }
        guard TourEvent.offsets.contains(Int(clamping: offset)) else { throw .keyMissing("utc_offset_min") }
        return TourEvent(
            id: try tree.recordID("id"), tour: try tree.recordID("tour"), version: Int(version),
            ts: try tree.recordTime(),
            offsetMin: Int(offset), kind: kind)
    }

    public static func encode(_ event: TourEvent) -> [UInt8] {
        let own: (String, [JSONValue.Field]) =
            switch event.kind {
            case .download: ("download", [])
            case .visit(let waypoint): ("visit", [("waypoint", .text(waypoint))])
            }
        let fields: [JSONValue.Field] = [
            ("schema", .integer(1)), ("kind", .text(own.0)), ("id", .text(event.id)), ("tour", .text(event.tour)),
            ("version", .integer(Int64(event.version))), ("ts", .integer(event.ts)),
            ("utc_offset_min", .integer(Int64(event.offsetMin))),
        ]
        return Array(JSONValue.object(fields + own.1).rendered().utf8)
    }
}
