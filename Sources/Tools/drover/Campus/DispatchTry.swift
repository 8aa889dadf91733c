import App
import Backtesting
import Basics
import Codecs
import Fleet
import Formats
import Ingest
import Kafka
import Pipeline
import Presentation
import Reports
import Settings
import Telemetry

extension Command {
    static let dispatchTry = Command(
        name: "dispatch try", operands: "--campus ID --weights FILE [options]",
        summary: "A campus's day decided anew with other weights, beside what was decided. Reads only.",
        options: [
            .init("--campus", "ID", "the campus"),
            .init("--weights", "FILE", "numbers as in the campus's file, such as {\"wait\": 2, \"order\": 10}"),
            .init("--date", "D", "the day, like 2026-11-21 (default: today)"),
            .init("--zone", "Z", "time zone of the day, like America/New_York (default UTC)"),
            .init("--from", "TIME", "instead of --date: from this time on, like 2026-11-21T08:00:00Z"),
            .init("--to", "TIME", "until this time, at most a week later"),
            .init("--format", "F", "table, csv or json (default table)"),
        ] + SettingsSource.options,
        example: "drover dispatch try --campus north --weights calmer.json --date 2026-11-21 --zone America/New_York",
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("\(arguments.operands[0]) is not expected") }
            guard let campus = try arguments.text("--campus").map(campusID), let file = arguments.text("--weights")
            else { throw UsageError("--campus ID and --weights FILE are needed") }
            let format = try arguments.one("--format", of: DispatchBacktest.formats, standard: "table")
            let (changed, spanMs) = (try numbers(file), try span(arguments))
            Signals.install()
            let day = try DispatchBacktest.read(campus, spanMs, SettingsSource.load(arguments))
            guard let same = CampusBacktest.run(day), let tried = CampusBacktest.run(day, changed: changed) else {
                throw Failure("\(campus): the log has no such campus before \(UTC.text(spanMs.upperBound))")
            }
            Out.result(format(DispatchBacktest(decided: day.figures, same: same, tried: tried)))
            return .done
        })

    private static func numbers(_ file: String) throws -> [CampusSettings.Key: Int64] {
        let fields: [JSONValue.Field]
        do {
            fields = try FlatJSON.fields(try Files.read(file), bytesMax: 100_000)
        } catch let error as FlatJSON.Fault { throw Failure("\(file): \(error)") }
        var numbers: [CampusSettings.Key: Int64] = [:]
        for (name, value) in fields {
            guard let key = CampusSettings.Key(rawValue: name) else {
                let known = CampusSettings.Key.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure("\(file): `\(name)` cannot be tried; what can: \(known)")
            }
            guard case .number(let text) = value, let number = Decimal.scaled(text.utf8, decimals: 3),
                key.range.contains(number)
            else {
                let least = Decimal.text(key.range.lowerBound, decimals: 3)
                throw Failure(
                    "\(file): \(name): must be a number from \(least) to "
                        + Decimal.text(key.range.upperBound, decimals: 3))
            }
            numbers[key] = number
        }
        return numbers
    }

    private static func span(_ arguments: Arguments) throws -> Range<Int64> {
        func time(_ option: String) throws -> Int64? {
            guard let text = arguments.text(option) else { return nil }
            guard let ms = UTC.parse(text) else {
                throw UsageError("\(option) \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
            }
            return ms
        }
        let (from, to) = (try time("--from"), try time("--to"))
        guard from != nil || to != nil else {
            let zone = arguments.text("--zone") ?? "UTC"
            let date = arguments.text("--date") ?? ZonedDay.date(ofMs: Clock.nowMs(), zone: zone)
            guard let day = ZonedDay(date: date, zone: zone) else {
                throw UsageError(
                    "--date \(date) --zone \(zone): must be a day like 2026-11-21 and a zone like Europe/Berlin")
            }
            return day.fromMs..<day.toMs
        }
        guard let from, let to, from < to, to - from <= 7 * UTC.msPerDay, arguments.text("--date") == nil else {
            throw UsageError("--from and --to belong together, without --date, and are at most a week apart")
        }
        return from..<to
    }
}

/// A day as it was and as it would have been.
private struct DispatchBacktest: Sendable {
    let decided: CampusFigures
    let same: CampusFigures
    let tried: CampusFigures

    static let formats: [String: @Sendable (DispatchBacktest) -> String] = [
        "table": { $0.table.text() }, "csv": { $0.table.csv() }, "json": { $0.json },
    ]

    static func read(_ campus: String, _ spanMs: Range<Int64>, _ settings: Settings) throws -> CampusDay {
        let reader = try RecordReader(try settings.kafka(clientID: "drover-dispatch-try"))
        guard let count = try reader.partitions(of: Topic.dispatch) else {
            throw Failure("the topic \(Topic.dispatch) is not there")
        }
        let key = Array(campus.utf8)
        let number = unsafe key.withUnsafeBytes { unsafe KeyPartitioner.partition(of: $0, count: count) }
        let partition = TopicPartition(topic: Topic.dispatch, partition: number)
        let end = try reader.end(of: partition)
        var day = CampusDay(campus: campus, spanMs: spanMs, decidesFrom: end)
        guard end > 0 else { return day }
        var clock = PartitionClock()
        // Decisions on the last records of the span stand behind it: a log without any later tick just ends.
        try reader.read(partition, 0...end - 1) { pushed in
            guard !StopFlag.isSet, let value = pushed.value else { return }
            switch try? unsafe TickOrRecord(value, key: pushed.key, RideRecords.decode) {
            case .tick(let tick):
                switch clock.accept(tick, pushedMs: pushed.pushedMs) {
                case .counts(let ms): day.tick(ms, offset: pushed.offset)
                case .setBack(let ms): day.setBack(ms, offset: pushed.offset)
                case .waits, .dropped: break
                }
            case .record(let record):
                day.accept(record, offset: pushed.offset, atMs: pushed.pushedMs >= 0 ? pushed.pushedMs : record.ts)
            case nil: break
            }
        }
        guard !StopFlag.isSet else { throw Failure("stopped before the log was read") }
        return day
    }

    /// A figure by row: its name, and its value in each column.
    private static let figures: [(name: String, value: @Sendable (CampusFigures) -> Double?)] = [
        ("requests", { Double($0.requests) }), ("served", { Double($0.served) }),
        ("cancelled", { Double($0.cancelled) }), ("expired", { Double($0.expired) }),
        ("refused", { Double($0.refused) }), ("waiting_mean_s", { mean($0.waitingS) }),
        ("waiting_p90_s", { CampusFigures.quantile(0.9, of: $0.waitingS) }), ("riding_mean_s", { mean($0.ridingS) }),
        ("detour", { $0.detour }), ("vehicles_driving_s", { $0.driveS }),
        ("told_other_vehicle", { Double($0.otherVehicles) }), ("told_arrivals_moved_s", { $0.movedArrivalS }),
        ("overrides", { Double($0.overrides) }),
    ]

    private static func mean(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }

    private static func text(_ value: Double?) -> String? {
        value.flatMap { Decimal.scaled($0, decimals: 3) }.map { Decimal.text($0, decimals: 3) }
    }

    private var table: Table {
        var table = Table(["figure", "as decided", "same weights", "other weights"])
        table.rows = DispatchBacktest.figures.map { name, value in
            [name] + [decided, same, tried].map { DispatchBacktest.text(value($0)) }
        }
        return table
    }

    private var json: String {
        JSONValue.object(
            [("as_decided", decided), ("same_weights", same), ("other_weights", tried)].map { name, figures in
                (
                    name,
                    .object(
                        DispatchBacktest.figures.map { ($0.name, .number(DispatchBacktest.text($0.value(figures)))) })
                )
            }
        ).rendered(indent: true)
    }
}
