internal import Fleet
internal import Kafka
package import Postgres

/// Compares the tables of a replay with the live ones, as `ReplayTables` says. The server adds up; what comes here are
/// sums, and of what differs some rows.
package struct ReplayComparison {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// The first rows that differ in a table.
    package struct Difference: Equatable, Sendable {
        /// `column=value`, in the order of the key.
        package let key: [(column: String, value: String?)]
        /// Nil: one side lacks the row.
        package let column: String?
        package let live: String?
        package let replayed: String?

        package static func == (a: Difference, b: Difference) -> Bool { a.text == b.text }

        package var text: String {
            let row = key.map { "\($0.column)=\($0.value ?? "NULL")" }.joined(separator: " ")
            guard let column else {
                return "\(row): \(live == nil ? "only the replay has the row" : "the replay has no such row")"
            }
            return "\(row): \(column) is \(live ?? "NULL"), replayed \(replayed ?? "NULL")"
        }
    }

    package struct TableResult: Sendable {
        package let table: ReplayTables.Compared
        /// The rows of the live table.
        package let rows: Int
        /// Empty: equal.
        package let differences: [Difference]
    }

    private let schema: String
    private let live: Connection
    private let replayed: Connection
    /// So many rows of a part that differs are read; a part of more is parted again.
    private let rowsAtOnce: Int
    /// From when on live tables are whole.
    private let keptFrom: [String: String]
    /// Vehicles that are set apart: their rows are those up to where they were.
    package let quarantined: [QuarantineStore.Held]

    /// So many differences of a table are told.
    static let toldMax = 3

    /// - Parameters:
    ///   - live: a session that keeps to one moment of the live tables (`begin`).
    ///   - replayed: the same of the replay's.
    package init(_ schema: String, live: Connection, replayed: Connection, rowsAtOnce: Int = 1_000) throws {
        self.schema = schema
        self.live = live
        self.replayed = replayed
        self.rowsAtOnce = rowsAtOnce
        keptFrom = try Dictionary(
            live.query("SELECT relation, from_at::text FROM drover.retained").map {
                (try $0.text(0)!, try $0.text(1)!)
            }
        ) { first, _ in first }
        quarantined = try QuarantineStore.list(on: live)
    }

    /// The rows of the table that are compared: a condition of `r` in a schema.
    private func condition(_ table: ReplayTables.Compared, _ schema: String) -> String {
        var condition = table.condition
        if !quarantined.isEmpty, let isOfVehicles = table.isOfVehicles {
            // Vehicles' names need no quotes within quotes.
            let vehicles = "'{\(quarantined.map(\.vehicle.text).joined(separator: ","))}'::text[]"
            condition = "(\(condition)) AND NOT (\(isOfVehicles.replacing("%v", with: vehicles)))"
        }
        return condition.replacing("%@", with: schema)
    }

    // MARK: One moment

    /// Begins a transaction that sees one moment. What `drover retention` would take away as a whole stays until its
    /// end: no moment brings a dropped partition back.
    package static func beginLive(on live: Connection) throws {
        let parted = ReplayTables.compared.filter { $0.keptBy != nil }.map { "drover.\($0.name)" }
        try live.execute(
            """
            BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
            LOCK TABLE ONLY \(parted.joined(separator: ", ")) IN ACCESS SHARE MODE
            """)
    }

    package static func begin(on replayed: Connection) throws {
        try replayed.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    /// Whether both moments are the same place of the log; false: of dispatch the live tables hold decisions that are
    /// not on the log yet, and no replay can have them.
    ///
    /// - Throws: `Fault` when the replay stands elsewhere.
    package func isAtOnePlace() throws -> Bool {
        let (ours, theirs) = (try places(SchemaConnection.liveSchema, on: live), try places(schema, on: replayed))
        let elsewhere = Set(ours.keys).union(theirs.keys).filter { ours[$0]?.next != theirs[$0]?.next }
        if let first = elsewhere.min(by: { ($0.topic, $0.partition) < ($1.topic, $1.partition) }) {
            func text(_ place: Place?) -> String { place.map { "at offset \($0.next)" } ?? "nowhere" }
            throw Fault(
                description: """
                    \(first): the live tables stand \(text(ours[first])), the replay \(text(theirs[first])). Is \
                    another replay or verify of \(schema) running? If not, offsets were reset since: drop the schema \
                    and replay again
                    """)
        }
        return ours.allSatisfy { $0.key.topic != Topic.dispatch || theirs[$0.key]!.replay == $0.value.replay }
    }

    private typealias Place = (next: Int64, replay: Int64)

    private func places(_ schema: String, on connection: Connection) throws -> [TopicPartition: Place] {
        var places: [TopicPartition: Place] = [:]
        for row in try connection.query(
            "SELECT topic, partition, next_offset, replay_offset FROM \(schema).partition_progress")
        {
            let partition = TopicPartition(topic: try row.text(0)!, partition: Int32(try row.int(1)!))
            places[partition] = (Int64(try row.int(2)!), Int64(try row.int(3)!))
        }
        return places
    }

    // MARK: Tables

    package func compare(_ table: ReplayTables.Compared) throws -> TableResult {
        switch table.name {
        case ReplayTables.outbox.name: try remaining(table, by: "outbox_id", index: "record_id")
        case ReplayTables.noticeEvent.name: try remaining(table, by: "event_id", index: "alert_id")
        default: try whole(table)
        }
    }

    /// Some rows of a table: those whose key's hash begins with these bits.
    private struct Part {
        /// So many bits are known.
        var bits: Int32 = 0
        var hash: Int64 = 0

        /// Bits that are looked at next.
        static let step: Int32 = 8
        var canBeParted: Bool { bits + Part.step <= 64 }
    }

    /// Rows and the sum of their hashes: their order is no part of it.
    private struct Digest: Equatable {
        var rows = 0
        var sum = "0"
    }

    /// A table in parts; of the first part that differs its parts, until it is small enough to be read.
    private func whole(_ table: ReplayTables.Compared) throws -> TableResult {
        var (part, rows): (Part, Int?) = (Part(), nil)
        while true {
            let ours = try digests(table, part, SchemaConnection.liveSchema, on: live)
            let theirs = try digests(table, part, schema, on: replayed)
            if rows == nil { rows = ours.values.reduce(0) { $0 + $1.rows } }
            guard let hash = Set(ours.keys).union(theirs.keys).sorted().first(where: { ours[$0] != theirs[$0] })
            else { return TableResult(table: table, rows: rows!, differences: []) }
            part = Part(bits: part.bits + Part.step, hash: hash)
            let most = max(ours[hash]?.rows ?? 0, theirs[hash]?.rows ?? 0)
            guard most <= rowsAtOnce || !part.canBeParted else { continue }
            let differences = try ReplayComparison.differences(
                table, live: read(table, part, SchemaConnection.liveSchema, on: live),
                replayed: read(table, part, schema, on: replayed))
            return TableResult(table: table, rows: rows!, differences: differences)
        }
    }

    /// The rows that are compared, as `hash` of the key, and what `columns` says of them.
    private func rows(
        _ table: ReplayTables.Compared, _ part: Part, _ schema: String, _ columns: String
    ) -> (sql: String, parameters: [Parameter]) {
        var parameters: [Parameter] = []
        var condition = condition(table, schema)
        if let time = table.keptBy {
            parameters.append(.text(keptFrom[table.name] ?? "-infinity"))
            condition += " AND r.\(time) >= $1::timestamptz"
        }
        let keys = table.key.map { "r.\($0)" }.joined(separator: ", ")
        var sql = """
            SELECT hashtextextended(ROW(\(keys))::text, 0) AS hash, \(columns) FROM \(schema).\(table.name) r
            WHERE \(condition)
            """
        sql = sql.replacing("%@", with: schema)
        if part.bits > 0 {
            parameters += [.int4(64 - part.bits), .int8(part.hash)]
            sql = "SELECT * FROM (\(sql)) AS all_rows WHERE hash >> $\(parameters.count - 1) = $\(parameters.count)"
        }
        return (sql, parameters)
    }

    private func digests(
        _ table: ReplayTables.Compared, _ part: Part, _ schema: String, on connection: Connection
    ) throws -> [Int64: Digest] {
        let (rows, parameters) = rows(
            table, part, schema, "hashtextextended(ROW(\(table.expressions.joined(separator: ", ")))::text, 1) AS sum")
        var digests: [Int64: Digest] = [:]
        for row in try connection.query(
            """
            SELECT hash >> \(64 - part.bits - Part.step), count(*), sum(sum)::text FROM (\(rows)) AS rows GROUP BY 1
            """, parameters)
        {
            digests[Int64(try row.int(0)!)] = Digest(rows: try row.int(1)!, sum: try row.text(2)!)
        }
        return digests
    }

    /// A row as text: its key, and then what is compared.
    typealias TextRow = (key: [String?], values: [String?])

    private func read(
        _ table: ReplayTables.Compared, _ part: Part, _ schema: String, on connection: Connection
    ) throws -> [TextRow] {
        let columns = "\(texts(table.key.map { "r.\($0)" })) AS key, \(texts(table.expressions)) AS \"values\""
        let (rows, parameters) = rows(table, part, schema, columns)
        // Never more than were counted on either side, but for a hash that many keys share.
        return try connection.query(
            "SELECT key, \"values\" FROM (\(rows)) AS rows ORDER BY key, \"values\" LIMIT \(10 * rowsAtOnce)",
            parameters
        ).map(ReplayComparison.textRow)
    }

    // MARK: What differs

    static func differences(
        _ table: ReplayTables.Compared, live: [TextRow], replayed: [TextRow]
    ) -> [Difference] {
        let (ours, theirs) = (byKey(live), byKey(replayed))
        var differences: [Difference] = []
        for key in keys(live, replayed) {
            guard differences.count < toldMax else { break }
            // A key that is no unique one may stand more than once.
            let (a, b) = (ours[key] ?? [], theirs[key] ?? [])
            let named = Array(zip(table.key, key))
            if a.count != b.count {
                differences.append(
                    Difference(
                        key: named, column: nil, live: a.count > b.count ? "" : nil,
                        replayed: b.count > a.count ? "" : nil))
                continue
            }
            for (a, b) in zip(a, b) {
                for (index, column) in table.columns.enumerated()
                where a[index] != b[index] && differences.count < toldMax {
                    let (live, replayed) = short(a[index], b[index])
                    differences.append(Difference(key: named, column: column, live: live, replayed: replayed))
                }
            }
        }
        return differences
    }

    private static func byKey(_ rows: [TextRow]) -> [[String?]: [[String?]]] {
        rows.reduce(into: [:]) { $0[$1.key, default: []].append($1.values) }
    }

    private static func keys(_ a: [TextRow], _ b: [TextRow]) -> [[String?]] {
        var (seen, keys): (Set<[String?]>, [[String?]]) = ([], [])
        for row in a + b where seen.insert(row.key).inserted { keys.append(row.key) }
        return keys
    }

    /// Long values from a little before where they differ.
    static func short(_ a: String?, _ b: String?) -> (String?, String?) {
        let common = zip((a ?? "").utf8, (b ?? "").utf8).prefix { $0 == $1 }.count
        func short(_ text: String?) -> String? {
            guard let text, text.utf8.count > 160 else { return text }
            let from = max(0, min(common, text.utf8.count) - 40)
            let shown = String(decoding: Array(text.utf8).dropFirst(from).prefix(120), as: UTF8.self)
            let isWhole = from + 120 >= text.utf8.count
            return "\(from > 0 ? "…" : "")\(shown)\(isWhole ? "" : "…")"
        }
        return (short(a), short(b))
    }

    // MARK: What is left

    /// Rows of a live table that a relay empties: each that is there must be in the replay, too. `id` says their order,
    /// `index` by what the replay's are found.
    private func remaining(_ table: ReplayTables.Compared, by id: String, index: String) throws -> TableResult {
        let columns = "\(texts(table.key.map { "r.\($0)" })) AS key, \(texts(table.expressions)) AS \"values\""
        let condition = condition(table, SchemaConnection.liveSchema)
        var (lastID, rows, differences): (Int64, Int, [Difference]) = (.min, 0, [])
        while true {
            let page = try live.query(
                """
                SELECT \(columns), r.\(id) AS id, r.\(index) AS found FROM drover.\(table.name) r
                WHERE r.\(id) > $1 AND (\(condition)) ORDER BY r.\(id) LIMIT \(rowsAtOnce)
                """, [.int8(lastID)])
            guard let last = page.last else { break }
            lastID = Int64(try last.int("id")!)
            rows += page.count
            let known = try replayed.query(
                "SELECT \(columns) FROM \(schema).\(table.name) r WHERE r.\(index) = ANY ($1)",
                [.textArray(Set(page.map { try $0.text("found")! }).sorted())])
            differences += ReplayComparison.missing(
                table, live: try page.map(ReplayComparison.textRow), replayed: try known.map(ReplayComparison.textRow))
        }
        return TableResult(table: table, rows: rows, differences: Array(differences.prefix(ReplayComparison.toldMax)))
    }

    static func missing(_ table: ReplayTables.Compared, live: [TextRow], replayed: [TextRow]) -> [Difference] {
        let (ours, theirs) = (byKey(live), byKey(replayed))
        return keys(live, []).flatMap { key in
            var left = theirs[key] ?? []
            let wanted = ours[key]!.filter { values in
                guard let index = left.firstIndex(of: values) else { return true }
                left.remove(at: index)
                return false
            }
            return differences(
                table, live: wanted.map { (key, $0) }, replayed: left.prefix(wanted.count).map { (key, $0) })
        }
    }

    private func texts(_ expressions: [String]) -> String {
        "ARRAY[\(expressions.map { "(\($0))::text" }.joined(separator: ", "))]::text[]"
    }

    private static func textRow(_ row: Row) throws -> TextRow {
        (try row.textArray("key")!, try row.textArray("values")!)
    }
}
