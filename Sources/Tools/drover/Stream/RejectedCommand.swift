import Alerts
import App
import Basics
import Codecs
import Fleet
import Formats
import Ingest
import Kafka
import Pipeline
import Postgres
import Reports
import Settings
import Storage
import Telemetry
import Trips

extension Command {
    static let rejected = Command(
        name: "rejected", operands: "list | show TOPIC PARTITION OFFSET | retry (TOPIC PARTITION OFFSET | --all)",
        summary:
            "Records that could not be decoded: which and why, the original bytes, and another try with today's decoder.",
        options: [
            .init("--topic", "T", "list, retry --all: only of this topic"),
            .init("--since", "TIME", "list: only those pushed since (2026-11-21T08:00:00Z)"),
            .init("--limit", "N", "list: at most so many rows (default 1000)"),
            .init("--all", nil, "retry: every row that was not retried yet"),
            .init("--format", "F", "list, show: table or json (default table)"),
        ] + SettingsSource.options,
        example: "drover rejected retry drover.cars 3 1207",
        run: { arguments in
            let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            switch arguments.operands.first {
            case "list" where arguments.operands.count == 1: return try list(arguments, isJSON)
            case "show":
                let place = try Place(arguments.operands)
                return try RejectedRecords(SettingsSource.load(arguments)).show(place, isJSON: isJSON)
            case "retry" where arguments.has("--all") && arguments.operands.count == 1:
                return try RejectedRecords(SettingsSource.load(arguments)).retryAll(topic: topic(arguments))
            case "retry" where !arguments.has("--all"):
                let place = try Place(arguments.operands)
                return try RejectedRecords(SettingsSource.load(arguments)).retry(place)
            default:
                throw UsageError(
                    "say `list`, `show TOPIC PARTITION OFFSET`, `retry TOPIC PARTITION OFFSET` or `retry --all`")
            }
        })

    private static func topic(_ arguments: Arguments) throws -> String? {
        guard let topic = arguments.text("--topic") else { return nil }
        return try Place.known(topic)
    }

    private static func list(_ arguments: Arguments, _ isJSON: Bool) throws -> ExitCode {
        var filter = RejectedStore.Filter()
        filter.topic = try topic(arguments)
        if let text = arguments.text("--since") {
            guard let time = UTC.parse(text) else {
                throw UsageError("--since \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
            }
            filter.sinceMs = time
        }
        let limit = try arguments.integer("--limit", in: 1...1_000_000) ?? 1_000
        let connection = try Connection(conninfo: SettingsSource.load(arguments).text("postgres.url"))
        let entries = try RejectedStore.list(filter, most: limit + 1, on: connection)
        if entries.count > limit { Out.note("there are more than \(limit) rows: see --since, --topic and --limit") }
        let shown = entries.prefix(Int(limit))
        Out.result(
            isJSON ? JSONValue.list(shown.map(\.json)).rendered(indent: true) : RejectedStore.table(shown).text())
        return .done
    }
}

/// A record's place, as it is typed.
struct Place {
    let partition: TopicPartition
    let offset: Int64

    /// `operands` are the verb and three words.
    init(_ operands: [String]) throws {
        guard operands.count == 4 else { throw UsageError("\(operands[0]) takes TOPIC PARTITION OFFSET") }
        guard let partition = Int32(operands[2]), partition >= 0 else {
            throw UsageError("PARTITION \(operands[2]): must be a whole number from 0 on")
        }
        guard let offset = Int64(operands[3]), offset >= 0 else {
            throw UsageError("OFFSET \(operands[3]): must be a whole number from 0 on")
        }
        self.partition = TopicPartition(topic: try Place.known(operands[1]), partition: partition)
        self.offset = offset
    }

    static func known(_ topic: String) throws -> String {
        guard Topics.readings.contains(topic) else {
            throw UsageError(
                "\(topic): is not a topic of readings; these are \(Topics.readings.joined(separator: ", "))")
        }
        return topic
    }
}

extension RejectedStore.Entry {
    var json: JSONValue {
        .object([
            ("topic", .text(partition.topic)), ("partition", .integer(Int64(partition.partition))),
            ("offset", .integer(row.offset)), ("last_offset", .integer(row.lastOffset)),
            ("records", .integer(row.records)), ("reason", .text(row.reason)),
            ("pushed_at", .optional(row.pushedMs.map(UTC.text))), ("retried_at", .optional(retriedMs.map(UTC.text))),
        ])
    }
}

extension RejectedStore {
    static func table(_ entries: some Sequence<Entry>) -> Table {
        var table = Table([
            "topic", "partition", "offset", "last_offset", "records", "pushed_at", "retried_at", "reason",
        ])
        for entry in entries {
            table.rows.append([
                entry.partition.topic, String(entry.partition.partition), String(entry.row.offset),
                String(entry.row.lastOffset), String(entry.row.records), entry.row.pushedMs.map(UTC.text),
                entry.retriedMs.map(UTC.text), entry.row.reason,
            ])
        }
        return table
    }
}

/// Rejected records and their originals, which stay on their topics.
struct RejectedRecords {
    private let connection: Connection
    private let reader: RecordReader
    private let kafka: KafkaSettings

    init(_ settings: Settings) throws {
        connection = try Connection(conninfo: settings.text("postgres.url"))
        kafka = try settings.kafka(clientID: "drover-rejected")
        reader = try RecordReader(kafka)
    }

    private func entry(_ place: Place) throws -> RejectedStore.Entry? {
        var filter = RejectedStore.Filter()
        filter.topic = place.partition.topic
        filter.partition = place.partition.partition
        filter.offset = place.offset
        return try RejectedStore.list(filter, most: 1, on: connection).first
    }

    private func original(_ place: Place) throws -> PushedRecord {
        guard let count = try reader.partitions(of: place.partition.topic) else {
            throw Failure("the topic \(place.partition.topic) is not there")
        }
        guard place.partition.partition < count else {
            throw Failure("\(place.partition.topic) has partitions 0 to \(count - 1)")
        }
        var found: PushedRecord?
        try reader.read(place.partition, place.offset...place.offset) { found = $0 }
        guard let found else {
            throw Failure("\(place.partition) offset \(place.offset): there is no record on the topic (any more)")
        }
        return found
    }

    // MARK: show

    func show(_ place: Place, isJSON: Bool) throws -> ExitCode {
        let record = try original(place)
        let entry = try entry(place)
        let reason = entry.map {
            $0.row.records == 1
                ? $0.row.reason
                : "one of \($0.row.records) counted from offset \($0.row.offset) on; the last: \($0.row.reason)"
        }
        let fields: [JSONValue.Field] = [
            ("topic", .text(place.partition.topic)), ("partition", .integer(Int64(place.partition.partition))),
            ("offset", .integer(place.offset)),
            ("pushed_at", .optional(UTC.plausible.contains(record.pushedMs) ? UTC.text(record.pushedMs) : nil)),
            ("reason", .optional(reason)), ("retried_at", .optional(entry?.retriedMs.map(UTC.text))),
            ("today", .text(fault(record, place.partition)?.description ?? "can be decoded")),
            ("key", .optional(Readable.text(record.key))), ("key_hex", .text(Hex.text(record.key))),
            ("bytes", .integer(Int64(record.value?.count ?? 0))),
            ("value", .optional(record.value.flatMap(Readable.text))),
            ("value_hex", .optional(record.value.map(Hex.text))),
        ]
        if entry == nil { Out.note("\(place.partition) offset \(place.offset) is not among the rejected records") }
        Out.result(isJSON ? JSONValue.object(fields).rendered(indent: true) : Readable.lines(fields))
        return .done
    }

    // MARK: retry

    /// Why today's decoder does not take the record; nil when it does. The worker's own check of the clock included.
    private func fault(_ record: PushedRecord, _ partition: TopicPartition) -> DecodeError? {
        guard let value = record.value else { return .tombstone }
        guard let stage = RecordStage(topic: partition.topic) else { return .kindUnknown }
        switch stage {
        case .cars: return readingFault(value, record.key, isMachine: false)
        case .machines: return readingFault(value, record.key, isMachine: true)
        case .campuses: return unsafe fault(value, record.key, RideRecords.decode, ts: \.ts)
        // What was refused for what was known of the survey then is judged anew by the worker.
        case .surveys: return unsafe fault(value, record.key, SurveyRecords.decode, ts: \.ts)
        case .tours: return unsafe fault(value, record.key, TourRecords.decode, ts: \.ts)
        }
    }

    private func readingFault(_ value: [UInt8], _ key: [UInt8], isMachine: Bool) -> DecodeError? {
        unsafe value.withUnsafeBytes { value in
            unsafe key.withUnsafeBytes { key in
                do throws(DecodeError) {
                    let ts: Int64
                    switch try unsafe RecordDecoder().decode(value, key: key, isMachine: isMachine) {
                    case .tick: return nil
                    case .rules(let fromMs, let version, let text):
                        _ = try RuleTimeline.Entry(fromMs: fromMs, version: version, text: text)
                        return nil
                    case .tripRules(_, let limits):
                        _ = try TripRules(limits)
                        return nil
                    case .car(_, let reading, _): ts = reading.ts
                    case .machine(let reading, _): ts = reading.ts
                    case .action(let action): ts = action.ts
                    }
                    return ahead(ts)
                } catch {
                    return error
                }
            }
        }
    }

    private func fault<Record>(
        _ value: [UInt8], _ key: [UInt8], _ decode: TickOrRecord<Record>.Decode, ts: (Record) -> Int64
    ) -> DecodeError? {
        do throws(DecodeError) {
            guard case .record(let record) = try unsafe TickOrRecord(value, key: key, decode) else { return nil }
            return ahead(ts(record))
        } catch {
            return error
        }
    }

    private func ahead(_ ts: Int64) -> DecodeError? {
        let ms = ts - Clock.nowMs()
        return ms > DecodeError.aheadMsMax ? .timeAhead(ms: ms) : nil
    }

    /// Same key, same bytes; without a key the same partition.
    private func push(_ record: PushedRecord, _ partition: TopicPartition, _ producer: Producer) throws {
        try producer.produce(
            topic: partition.topic, partition: record.key.isEmpty ? partition.partition : nil, key: record.key,
            value: record.value!, timestampMs: nil)
    }

    func retry(_ place: Place) throws -> ExitCode {
        let record = try original(place)
        if let fault = fault(record, place.partition) {
            throw Failure("\(place.partition) offset \(place.offset): still cannot be decoded: \(fault)")
        }
        let producer = try Producer(kafka)
        try push(record, place.partition, producer)
        try producer.flush(timeoutMs: 30_000)
        Out.note("\(place.partition) offset \(place.offset): pushed again, acknowledged")
        switch try entry(place) {
        case nil: Out.note("it was not among the rejected records; a repeat changes nothing")
        case let entry? where entry.row.records == 1:
            try RejectedStore.markRetried([(place.partition, place.offset)], on: connection)
        case let entry?: Out.note("it is one of \(entry.row.records) that are counted in one row, which stays as it is")
        }
        return .done
    }

    /// Block by block: what is good by now is pushed again, and rows of which nothing is bad any more are marked.
    func retryAll(topic: String?) throws -> ExitCode {
        let producer = try Producer(kafka)
        var (pushed, bad, gone) = (0, 0, 0)
        var filter = RejectedStore.Filter()
        filter.topic = topic
        filter.isOpenOnly = true
        let entries = try RejectedStore.list(filter, most: .max, on: connection)
        let blocks = Dictionary(grouping: entries) { BlockKey($0) }.sorted { $0.value[0].isBefore($1.value[0]) }
        for (key, entries) in blocks {
            var open = Dictionary(uniqueKeysWithValues: entries.map { ($0.row.offset, $0.row.records) })
            let own = Set(entries.filter { $0.row.records == 1 }.map(\.row.offset))
            let counted = entries.first { $0.row.records > 1 }?.row
            let last = entries.map(\.row.lastOffset).max()!
            try reader.read(key.partition, entries[0].row.offset...last) { record in
                let row: Int64
                if own.contains(record.offset) {
                    row = record.offset
                } else if let counted, (counted.offset...counted.lastOffset).contains(record.offset) {
                    row = counted.offset
                } else {
                    return
                }
                if let fault = fault(record, key.partition) {
                    bad += 1
                    open[row] = nil
                    if bad <= 5 {
                        Out.note("\(key.partition) offset \(record.offset): still cannot be decoded: \(fault)")
                    }
                } else {
                    try push(record, key.partition, producer)
                    pushed += 1
                    if own.contains(row) { open[row] = 0 } else { open[row]? -= 1 }
                }
            }
            try producer.flush(timeoutMs: 30_000)
            let done = open.filter { $0.value <= 0 }.map { (key.partition, $0.key) }
            gone += open.count - done.count
            if !done.isEmpty { try RejectedStore.markRetried(done, on: connection) }
        }
        Out.note(
            "\(pushed) records pushed again, acknowledged; \(bad) still cannot be decoded"
                + (gone > 0 ? "; of \(gone) rows the records are not on the topic any more" : ""))
        return bad + gone == 0 ? .done : .failed
    }

    private struct BlockKey: Hashable {
        let partition: TopicPartition
        let block: Int64
        init(_ entry: RejectedStore.Entry) {
            partition = entry.partition
            block = entry.row.offset / RejectedLog.blockOffsets
        }
    }
}

extension RejectedStore.Entry {
    fileprivate func isBefore(_ other: RejectedStore.Entry) -> Bool {
        (partition.topic, partition.partition, row.offset)
            < (other.partition.topic, other.partition.partition, other.row.offset)
    }
}

/// Bytes from outside, for people.
enum Readable {
    /// Nil when it is not text that a terminal can show.
    static func text(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
                scalar == "\n" || scalar == "\t"
            default: true
            }
        }
        return isPlain ? text : nil
    }

    /// A field a line; bytes in hexadecimal only where there is no text.
    static func lines(_ fields: [JSONValue.Field]) -> String {
        let values = Dictionary(uniqueKeysWithValues: fields)
        return fields.compactMap { name, value in
            if name.hasSuffix("_hex"), case .text = values[String(name.dropLast(4))] { return nil }
            switch value {
            case .text(let text), .number(let text): return "\(name): \(text)"
            case .null, .bool, .list, .object: return nil
            }
        }.joined(separator: "\n")
    }
}
