public import Fleet

/// Records of tours on `drover.tours`, and what phones hand in: lists of the same without the record's own fields.
public enum TourRecords {
    public typealias Decoded = TickOr<TourEvent>

    public static let bytesMax = 2_000

    /// `key` must be the record's tour.
    public static func decode(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
    ) throws(DecodeError) -> Decoded {
        let tree: JSONTree
        do throws(JSONTree.Fault) { tree = try JSONTree(unsafe Array(value), bytesMax: bytesMax, valuesMax: 100) } catch
        {
            throw .notJSON(error.description)
        }
        guard case .object(let fields) = tree else { throw .notJSON("not an object") }
        guard Set(fields.map(\.key)).count == fields.count else { throw .notJSON("a key stands there more than once") }
        let schema = try integer("schema", tree)
        guard schema == 1 else { throw .schemaUnknown(schema) }
        let kind = tree["kind"]?.text ?? ""
        if kind == Tick.kind || kind == Tick.setBackKind,
            let tick = try Tick.decoded(
                kind: kind, ts: try time(tree), by: { () throws(DecodeError) in tree["by"]?.text })
        {
            return .tick(tick)
        }
        let event = try event(tree)
        guard unsafe event.tour.utf8.elementsEqual(key) else { throw .keyDiffers }
        return .record(event)
    }

    /// The fields of an event, wherever it stands.
    public static func event(_ tree: JSONTree) throws(DecodeError) -> TourEvent {
        let kind: TourEvent.Kind
        switch tree["kind"]?.text {
        case "download": kind = .download
        case "visit": kind = .visit(waypoint: try id("waypoint", tree))
        default: throw .kindUnknown
        }
        let (version, offset) = (try integer("version", tree), try integer("utc_offset_min", tree))
        guard (1...Int64(TourEvent.versionMax)).contains(version) else { throw .keyMissing("version") }
        guard TourEvent.offsets.contains(Int(clamping: offset)) else { throw .keyMissing("utc_offset_min") }
        return TourEvent(
            id: try id("id", tree), tour: try id("tour", tree), version: Int(version), ts: try time(tree),
            offsetMin: Int(offset), kind: kind)
    }

    public static func encode(_ event: TourEvent) -> [UInt8] {
        let own: (String, [(String, JSONValue)]) =
            switch event.kind {
            case .download: ("download", [])
            case .visit(let waypoint): ("visit", [("waypoint", .text(waypoint))])
            }
        let fields: [(String, JSONValue)] = [
            ("schema", .integer(1)), ("kind", .text(own.0)), ("id", .text(event.id)), ("tour", .text(event.tour)),
            ("version", .integer(Int64(event.version))), ("ts", .integer(event.ts)),
            ("utc_offset_min", .integer(Int64(event.offsetMin))),
        ]
        return Array(JSONValue.object(fields + own.1).rendered().utf8)
    }

    private static func time(_ tree: JSONTree) throws(DecodeError) -> Int64 {
        let ts = try integer("ts", tree)
        guard UTC.plausible.contains(ts) else { throw .timeImpossible(ts) }
        return ts
    }

    private static func integer(_ key: String, _ tree: JSONTree) throws(DecodeError) -> Int64 {
        guard case .number(let text)? = tree[key], let number = Int64(text) else { throw .keyMissing(key) }
        return number
    }

    private static func id(_ key: String, _ tree: JSONTree) throws(DecodeError) -> String {
        guard let text = tree[key]?.text, VehicleID.isValid(text.utf8) else { throw .keyMissing(key) }
        return text
    }
}
