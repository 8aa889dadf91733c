import App
import Basics
import Codecs
import Fleet
import Formats
import Foundation
import Kafka
import Postgres
import Reports
import Settings
import Storage
import Telemetry
import Worker

/// `drover replay`, `drover verify`: the results again from the topics alone, and whether they are the live ones.
extension Command {
    static let replay = Command(
        name: "replay", operands: "--into SCHEMA [options]",
        summary: "Builds the results again from the topics, in a schema of their own, beside the running workers.",
        options: [
            .init("--into", "SCHEMA", "made when it is not there; an unfinished replay goes on"),
            .init("--from", "TIME", "begin with what was pushed then; what it continues from before is missing"),
        ] + SettingsSource.options,
        example: "drover replay --into replay_1",
        run: { arguments in
            guard let schema = arguments.text("--into") else { throw UsageError("--into is missing") }
            let fromMs = try arguments.text("--from").map { text in
                guard let ms = UTC.parse(text) else { throw UsageError("--from \(text): write 2026-11-21T08:00:00Z") }
                return ms
            }
            Signals.install()
            let job = try ReplayJob(SettingsSource.load(arguments), schema: schema)
            try job.prepare(fromMs: fromMs)
            guard try job.run(to: job.liveOffsets(job.connection)) else {
                Out.note("stopped; the same command goes on from here")
                return .failed
            }
            Out.note("schema \(schema) is where the live tables were at the start. Compare: drover verify \(schema)")
            return .done
        })

    static let verify = Command(
        name: "verify", operands: "SCHEMA [options]",
        summary: "Compares a replay with the live tables at one moment, and says what it does not compare, and why.",
        options: [.init("--format", "F", "table or json (default table)")] + SettingsSource.options,
        example: "drover verify replay_1",
        run: { arguments in
            guard arguments.operands.count == 1 else { throw UsageError("name one schema") }
            let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            Signals.install()
            let job = try ReplayJob(SettingsSource.load(arguments), schema: arguments.operands[0])
            guard try ReplaySchema.isThere(job.schema, on: job.connection) else {
                throw Failure("there is no replay in schema \(job.schema). First: drover replay --into \(job.schema)")
            }
            guard let (results, held) = try job.compare() else { return .failed }
            if isJSON { Out.result(json(results, held).rendered(indent: true)) } else { show(results, held) }
            return results.allSatisfy(\.differences.isEmpty) ? .done : .failed
        })

    private static func show(_ results: [ReplayComparison.TableResult], _ held: [QuarantineStore.Held]) {
        var table = Table(["table", "rows", "result"])
        table.rows = results.map { [$0.table.label, String($0.rows), $0.differences.isEmpty ? "equal" : "differs"] }
        Out.result(table.text())
        Out.result("\nNot compared of these:")
        for table in results.map(\.table) {
            for each in table.leftOut { Out.result("  \(table.label): \(each.what): \(each.why)") }
        }
        Out.result("\nNot compared:")
        for each in ReplayTables.notCompared {
            Out.result("  \(each.tables.joined(separator: ", ")): \(each.why)")
        }
        for each in held { Out.result("  vehicle \(each.vehicle) of \(each.partition): \(inQuarantine)") }
        for result in results where !result.differences.isEmpty {
            Out.note("\(result.table.label) differs. The first differences found:")
            for difference in result.differences { Out.note("  \(difference.text)") }
        }
    }

    private static let inQuarantine = "it is in quarantine (drover quarantine list)"

    private static func json(
        _ results: [ReplayComparison.TableResult], _ held: [QuarantineStore.Held]
    ) -> JSONValue {
        let compared = results.map { result -> JSONValue in
            let differences = result.differences.map { difference in
                JSONValue.object([
                    ("key", .object(difference.key.map { ($0.column, .optional($0.value)) })),
                    ("column", .optional(difference.column)), ("live", .optional(difference.live)),
                    ("replayed", .optional(difference.replayed)), ("text", .text(difference.text)),
                ])
            }
            return .object([
                ("table", .text(result.table.label)), ("rows", .integer(Int64(result.rows))),
                ("equal", .bool(result.differences.isEmpty)), ("differences", .list(differences)),
                (
                    "not_compared",
                    .list(result.table.leftOut.map { .object([("what", .text($0.what)), ("why", .text($0.why))]) })
                ),
            ])
        }
        let others = ReplayTables.notCompared.map { each in
            JSONValue.object([("tables", .list(each.tables.map { .text($0) })), ("why", .text(each.why))])
        }
        let vehicles = held.map { each in
            JSONValue.object([
                ("vehicle", .text(each.vehicle.text)), ("topic", .text(each.partition.topic)),
                ("why", .text(inQuarantine)),
            ])
        }
        return .object([
            ("compared", .list(compared)), ("not_compared", .list(others)), ("in_quarantine", .list(vehicles)),
        ])
    }
}

/// One replay into one schema.
struct ReplayJob {
    let settings: Settings
    let schema: String
    /// To the live tables.
    let connection: Connection

    init(_ settings: Settings, schema: String) throws {
        try ReplaySchema.check(schema)
        self.settings = settings
        self.schema = schema
        connection = try Connection(conninfo: settings.text("postgres.url"))
    }

    /// The offsets up to which the live tables hold results.
    func liveOffsets(_ connection: Connection) throws -> [TopicPartition: Int64] {
        let offsets = try ReplaySchema.offsets(SchemaConnection.liveSchema, on: connection)
        guard !offsets.isEmpty else {
            throw Failure("no worker has written anything yet: there is nothing to build again")
        }
        return offsets
    }

    /// Makes the schema, and notes where each partition begins.
    func prepare(fromMs: Int64?) throws {
        let owner = try Connection(conninfo: settings.ownerConninfo)
        let isNew = try ReplaySchema.prepare(schema, owner: owner)
        guard let fromMs else { return }
        guard isNew else { throw Failure("schema \(schema) is begun already: --from is for a new one") }
        let consumer = try self.consumer()
        let live = try liveOffsets(connection)
        let firsts = try consumer.offsets(of: Array(live.keys), fromMs: fromMs, timeoutMs: 15_000)
        if let silent = live.keys.first(where: { firsts[$0] == nil }) {
            throw Failure("\(silent): its broker does not say where that time is; try again")
        }
        let store = try SchemaConnection.connect(settings.text("postgres.url"), schema: schema)
        // Nothing that late: the partition begins where the live tables end.
        _ = try ProgressStore.load(
            Dictionary(uniqueKeysWithValues: live.map { ($0.key, min(firsts[$0.key]! ?? $0.value, $0.value)) }),
            on: store)
    }

    private func consumer() throws -> Consumer {
        try Consumer(
            try settings.kafka(clientID: "drover-replay"), group: "drover-replay", instanceID: nil, batchMax: 1)
    }

    /// Brings the schema to these offsets. False: it was stopped before.
    func run(to targets: [TopicPartition: Int64]) throws -> Bool {
        if let lacking = try ReplaySchema.lacking(schema, on: connection) {
            throw Failure(
                """
                schema \(schema) lacks \(lacking): an earlier version of drover began it. Drop it, DROP SCHEMA \
                \(schema) CASCADE, and replay again: drover replay --into \(schema)
                """)
        }
        let replay = try Replay(
            ServiceRoles.workerSettings(
                settings, kafka: try settings.kafka(clientID: "drover-replay"), instanceID: nil),
            schema: schema, targets: targets, metrics: Metrics(), log: ServiceRoles.log)
        let line = ReplayProgress()
        let isDone = try replay.run(progress: line.show, shouldStop: { StopFlag.isSet })
        if isDone { line.end() }
        return isDone
    }
}

extension ReplayJob {
    /// So many moments are tried, a second apart, for one without decisions of dispatch on their way.
    private static let momentsMax = 10

    /// Brings the replay to where the live tables are at one moment, and compares. Nil: it was stopped before.
    func compare() throws -> (results: [ReplayComparison.TableResult], held: [QuarantineStore.Held])? {
        for moment in 1...ReplayJob.momentsMax {
            // The workers go on: what they write from here on is not seen.
            try ReplayComparison.beginLive(on: connection)
            // A session that was lost has no transaction any more.
            defer { _ = try? connection.execute("ROLLBACK") }
            guard try run(to: liveOffsets(connection)) else { return nil }
            let replayed = try Connection(conninfo: settings.text("postgres.url"))
            try ReplayComparison.begin(on: replayed)
            let comparison = try ReplayComparison(schema, live: connection, replayed: replayed)
            if try comparison.isAtOnePlace() {
                return (try ReplayTables.compared.map(comparison.compare), comparison.quarantined)
            }
            if moment < ReplayJob.momentsMax, StopFlag.wait(timeoutMs: 1_000) { return nil }
        }
        throw Failure(
            """
            the live tables hold decisions of dispatch that are not on the log: no replay can have them. The relay \
            brings them there: is drover notify running? On a campus that decides all the time, try again
            """)
    }
}

/// Records done, how fast, and how long it will take: once a second on a terminal, else every ten.
private final class ReplayProgress {
    private let startMs = Clock.steadyMs()
    private var lastMs = Clock.steadyMs()
    private var (done, total): (Int64, Int64) = (0, 0)
    private let isTerminal = isatty(2) != 0

    func show(_ done: Int64, _ total: Int64) {
        self.done = done
        self.total = total
        let nowMs = Clock.steadyMs()
        guard nowMs - lastMs >= (isTerminal ? 1_000 : 10_000) else { return }
        lastMs = nowMs
        let perSecond = max(1, done * 1_000 / max(1, nowMs - startMs))
        let share = total == 0 ? 100 : done * 100 / total
        Out.note(
            "\(done) of \(total) records (\(share) %), \(perSecond) a second, \((total - done) / perSecond) s left")
    }

    func end() {
        let elapsedMs = max(1, Clock.steadyMs() - startMs)
        Out.note(
            "\(total) records in \(Decimal.text(elapsedMs / 100, decimals: 1)) s, \(total * 1_000 / elapsedMs) a second"
        )
    }
}
