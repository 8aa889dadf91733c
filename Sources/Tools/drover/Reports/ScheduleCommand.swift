import Alerts
import App
import Basics
import Fleet
import Postgres
import Presentation
import Reports
import Settings
import Storage
import Telemetry

extension Command {
    static let schedule = Command(
        name: "schedule",
        operands: "list | runs ID | add REPORT | change ID | run ID | on ID | off ID | remove ID | next CRON",
        summary: "Reports at times of their own, of whichever account; `drover notify` makes them.",
        options: [
            .init("--account", "A", "add: whose rights it has"),
            .init("--cron", "C", "add, change: minute, hour, day of the month, month, day of the week: '0 6 * * mon'"),
            .init("--zone", "Z", "add, change, next: by whose clock (default UTC; change: as it was)"),
            .init("--span", "S", "add: day, week or month, the last one that is over (default day)"),
            .init("--of", "ID", "add: one vehicle, campus, site or tour"),
            .init("--fleet", "F", "add: of the vehicles of this fleet only"),
            .init("--units", "U", "add: metric or us (default metric)"),
            .init("--as", "F", "add: the report's format: html, csv, json, xlsx, pdf or table (default html)"),
            .init("--mail", "A", "add: mail it to this account; may be given several times"),
            .init("--file", nil, "add: write it into reports.folder, too"),
            .init("--since", "TIME", "add: catch up what fell due from then on; next: times after that (default: now)"),
            .init("--count", "N", "next: so many (default 5)"),
            .init("--format", "F", "list, runs: table, csv or json (default table)"),
        ] + SettingsSource.options,
        example:
            "drover schedule add fleet-day --account manager --cron '0 6 * * *' --zone Europe/Berlin --mail manager",
        run: { arguments in
            let words = arguments.operands
            guard let first = words.first else {
                throw UsageError("say list, runs, add, change, run, on, off, remove or next")
            }
            if words == ["list"] || (first == "runs" && words.count == 2) { return try show(arguments) }
            guard words.count == 2 else { throw UsageError("`schedule \(first)` needs one more word; see --help") }
            switch first {
            case "next": return try nextTimes(words[1], arguments)
            case "add": return try addSchedule(words[1], arguments)
            default: return try changeSchedule(first, try scheduleID(words[1]), arguments)
            }
        })

    private static func scheduleID(_ word: String) throws -> Int64 {
        guard let id = Int64(word), id > 0 else {
            throw UsageError("\(word): is no schedule's number; `list` says them")
        }
        return id
    }

    private static func connect(_ arguments: Arguments) throws -> Connection {
        let connection = try SchemaConnection.connect(try SettingsSource.load(arguments).relayConninfo)
        try AuditLog.sign(Terminal.login, on: connection)
        return connection
    }

    private static func show(_ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let words = arguments.operands
        let rows =
            words.count == 1
            ? try OperatorScheduleStore.list(on: connect(arguments))
            : try OperatorScheduleStore.runs(of: scheduleID(words[1]), on: connect(arguments))
        Out.result(render(try QueryOutput(rows)))
        return .done
    }

    private static func time(_ option: String, _ arguments: Arguments) throws -> Int64? {
        guard let text = arguments.text(option) else { return nil }
        if let ms = UTC.parse(text) { return ms }
        throw UsageError("\(option) \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
    }

    private static func nextTimes(_ cron: String, _ arguments: Arguments) throws -> ExitCode {
        let zone = arguments.text("--zone") ?? "UTC"
        guard ZonedDay(date: "2026-01-01", zone: zone) != nil else { throw UsageError("--zone \(zone): no such zone") }
        let times: CronTimes
        do { times = try CronTimes(cron) } catch { throw UsageError("\(error)") }
        var ms = try time("--since", arguments) ?? Clock.nowMs()
        for _ in 0..<(try arguments.integer("--count", in: 1...100_000) ?? 5) {
            guard let next = times.next(afterMs: ms, zone: zone) else {
                throw Failure("`\(cron)` never falls due after that")
            }
            Out.result(UTC.text(next))
            ms = next
        }
        return .done
    }

    private static func addSchedule(_ name: String, _ arguments: Arguments) throws -> ExitCode {
        guard let report = Report.named(name) else {
            throw UsageError("name one report: \(Report.all.map(\.name).joined(separator: ", "))")
        }
        guard let account = arguments.text("--account"), let cron = arguments.text("--cron") else {
            throw UsageError("--account and --cron are needed")
        }
        let formats = Dictionary(uniqueKeysWithValues: ReportFormat.allCases.map { ($0.rawValue, $0) })
        let lengths = Dictionary(uniqueKeysWithValues: ReportSpan.Length.allCases.map { ($0.rawValue, $0) })
        let length = try arguments.one("--span", of: lengths, standard: "day")
        let format = try arguments.one("--as", of: formats, standard: "html")
        let units = try arguments.one(
            "--units", of: ["metric": DriverSettings.Units.metric, "us": .us], standard: "metric")
        let new: NewSchedule
        do {
            new = try NewSchedule(
                report: report, length: length, of: arguments.text("--of") ?? "",
                fleet: arguments.text("--fleet") ?? "",
                format: format, units: units, cron: cron, zone: arguments.text("--zone") ?? "UTC", nowMs: Clock.nowMs())
        } catch {
            throw UsageError("\(error)")
        }
        let (connection, mailTo) = (try connect(arguments), arguments.texts("--mail"))
        if let unknown = try OperatorScheduleStore.unknown([account] + mailTo, on: connection).first {
            throw Failure("\(unknown): there is no such account, or it is disabled: see `drover account list`")
        }
        if arguments.has("--file"), try SettingsSource.load(arguments).text("reports.folder").isEmpty {
            Out.note("reports.folder is not set here: where `drover notify` has none either, its runs are given up")
        }
        let id = try OperatorScheduleStore.add(
            new.fields, account: account, mailTo: mailTo, isFiled: arguments.has("--file"),
            sinceMs: try time("--since", arguments), on: connection)
        Out.result(String(id))
        return .done
    }

    private static func changeSchedule(_ what: String, _ id: Int64, _ arguments: Arguments) throws -> ExitCode {
        let connection = try connect(arguments)
        let isDone: Bool
        switch what {
        case "run": isDone = try OperatorScheduleStore.ask(id, on: connection)
        case "change":
            guard let cron = arguments.text("--cron") else { throw UsageError("change: --cron is needed") }
            let zone = arguments.text("--zone")
            do {
                try NewSchedule.check(cron, zone: zone ?? "UTC", nowMs: Clock.nowMs())
            } catch {
                throw UsageError("\(error)")
            }
            isDone = try OperatorScheduleStore.changed(id, cron: cron, zone: zone, on: connection)
        case "on": isDone = try OperatorScheduleStore.switched(id, on: true, on: connection)
        case "off": isDone = try OperatorScheduleStore.switched(id, on: false, on: connection)
        case "remove": isDone = try OperatorScheduleStore.remove(id, on: connection)
        default: throw UsageError("`schedule \(what)`: say list, runs, add, change, run, on, off, remove or next")
        }
        guard isDone else {
            throw Failure(
                "\(id): there is no such schedule, it belongs to nobody or comes with Drover, or it was run in this minute"
            )
        }
        return .done
    }
}
