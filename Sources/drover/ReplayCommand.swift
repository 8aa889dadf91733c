import Fleet
import Foundation
import Gateways
import Kafka
import Observe
import Postgres
import Reports
import Settings
import Storage
import Wire
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
        summary: "Compares a replay with the live tables at one moment, table by table.",
        options: [.init("--format", "F", "table or json (default table)")] + SettingsSource.options,
        example: "drover verify replay_1",
        run: { arguments in
            guard arguments.operands.count == 1 else { throw UsageError("name one schema") }
            let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            Signals.install()
            let job = try ReplayJob(SettingsSource.load(arguments), schema: arguments.operands[0])
            let live = job.connection
            guard try ReplaySchema.isThere(job.schema, on: live) else {
                throw Failure("there is no replay in schema \(job.schema). First: drover replay --into \(job.schema)")
            }
            // One moment of the live tables, while the workers go on; the replay is brought to the same offsets.
            try live.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            guard try job.run(to: job.liveOffsets(live)) else { return .failed }
            let replayed = try Connection(conninfo: job.settings.text("postgres.url"))
            let results = try ReplaySchema.compare(job.schema, live: live, replayed: replayed)
            try live.execute("COMMIT")
            if isJSON {
                Out.result(JSONValue.list(results.map(json)).rendered(indent: true))
            } else {
                var table = Table(["table", "rows", "result"])
                table.rows = results.map {
                    [$0.table, String($0.rows), $0.firstDifference == nil ? "equal" : "differs"]
                }
                Out.result(table.text())
                for result in results {
                    if let difference = result.firstDifference {
                        Out.note("\(result.table): the first difference:\n  \(difference)")
                    }
                }
            }
            return results.allSatisfy { $0.firstDifference == nil } ? .done : .failed
        })

    private static func json(_ result: ReplaySchema.TableResult) -> JSONValue {
        .object(
            [
                ("table", .text(result.table)), ("rows", .integer(Int64(result.rows))),
                ("equal", .bool(result.firstDifference == nil)),
            ] + (result.firstDifference.map { [("first_difference", .text($0))] } ?? []))
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
        (self.settings, self.schema) = (settings, schema)
        connection = try Connection(conninfo: settings.text("postgres.url"))
    }

    /// What the live tables hold the results of.
    func liveOffsets(_ connection: Connection) throws -> [TopicPartition: Int64] {
        let offsets = try ReplaySchema.offsets(Store.liveSchema, on: connection)
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
        let store = try Store.connect(settings.text("postgres.url"), schema: schema)
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
        let replay = try Replay(
            Roles.workerSettings(settings, kafka: try settings.kafka(clientID: "drover-replay"), instanceID: nil),
            schema: schema, targets: targets, metrics: Metrics(), log: Roles.log)
        let line = ReplayProgress()
        let isDone = try replay.run(progress: line.show, shouldStop: { StopFlag.isSet })
        if isDone { line.end() }
        return isDone
    }
}

/// Records done, how fast, and how long it will take: once a second on a terminal, else every ten.
private final class ReplayProgress {
    private let startMs = Clock.steadyMs()
    private var lastMs = Clock.steadyMs()
    private var (done, total): (Int64, Int64) = (0, 0)
    private let isTerminal = isatty(2) != 0

    func show(_ done: Int64, _ total: Int64) {
        (self.done, self.total) = (done, total)
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
