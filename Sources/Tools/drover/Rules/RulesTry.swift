import Alerts
import App
import Backtesting
import Basics
import Codecs
import Fleet
import Formats
import Presentation
import Reports
import Settings
import Storage

extension Command {
    static let rulesTry = Command(
        name: "rules try", operands: "--parameter NAME --model NAME --from D --to D [options]",
        summary: "What another threshold would have raised on the stored readings, beside what was raised. Reads only.",
        options: [
            .init("--parameter", "NAME", "as in the threshold files, like \"Coolant Temperature\""),
            .init("--model", "NAME", "as in tractors.xml, like \"8R Tractor\""),
            .init("--above", "VALUE", "alert above this (default: the rules that were in force)"),
            .init("--below", "VALUE", "alert below this"), .init("--critical", "VALUE", "critical beyond this"),
            .init("--clear", "VALUE", "resolved at this"), .init("--for", "S", "seconds that it must hold"),
            .init("--absent", "S", "seconds without information"),
            .init("--from", "D", "the first day, like 2026-09-01"), .init("--to", "D", "the last day"),
            .init("--zone", "Z", "time zone of the days, like Europe/Berlin (default UTC)"),
            .init("--format", "F", "table, csv or json (default table; times in UTC)"),
        ] + SettingsSource.options,
        example: "drover rules try --parameter \"Coolant Temperature\" --model \"8R Tractor\" --above 90 "
            + "--from 2026-09-01 --to 2026-09-30",
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("\(arguments.operands[0]) is not expected") }
            let format = try arguments.one("--format", of: TryOutput.formats, standard: "table")
            let tried = try tried(arguments)
            let zone = arguments.text("--zone") ?? "UTC"
            let (first, last) = (try day("--from", zone, arguments), try day("--to", zone, arguments))
            guard first.fromMs < last.toMs else { throw UsageError("--to must not lie before --from") }
            let settings = try SettingsSource.load(arguments)
            let connection = try SchemaConnection.connect(settings.readerConninfo)
            let trial = RuleBacktest(
                parameter: tried.parameter, spanMs: first.fromMs..<last.toMs,
                rules: { standing in
                    if let (element, why) = tried.contradiction(over: standing) {
                        throw UsageError("--\(element): \(why) (--above or --below, else that of the rule in force)")
                    }
                    return tried.timeline(standing)
                },
                clock: { try MachineStore.clockMs(partition: $0, on: connection) })
            let output = TryOutput(tried: tried, try trial.run(ofModel: tried.model, on: connection))
            guard output.machines > 0 else { throw Failure("no machine of the model `\(tried.model)` has reported") }
            Out.result(format(output))
            Out.note(output.summary)
            return .done
        })

    private static func tried(_ arguments: Arguments) throws -> RuleCandidate {
        guard let model = arguments.text("--model"), let name = arguments.text("--parameter") else {
            throw UsageError("--parameter and --model are needed")
        }
        guard case .parameter(let parameter)? = ThresholdField(name: name) else {
            let names = ThresholdField.table.compactMap { row in
                if case .parameter = row.field { row.names[0] } else { nil }
            }
            throw UsageError("--parameter \(name): must be one of \(names.joined(separator: ", "))")
        }
        func number(_ option: String, least: Int64 = -1_000_000_000_000) throws -> Int64? {
            guard let text = arguments.text(option) else { return nil }
            guard let value = Decimal.scaled(text.utf8, decimals: 3), (least...1_000_000_000_000).contains(value) else {
                throw UsageError("\(option) \(text): must be a number such as 65 or 65.5")
            }
            return value
        }
        var tried = RuleCandidate(parameter, of: model)
        let (above, below) = (try number("--above"), try number("--below"))
        guard above == nil || below == nil else { throw UsageError("--above and --below exclude each other") }
        tried.limit = above.map { (.above, $0) } ?? below.map { (.below, $0) }
        tried.critical = try number("--critical")
        tried.clear = try number("--clear")
        // Thousandths of seconds are milliseconds.
        tried.holdMs = try number("--for", least: 0)
        tried.absentMs = try number("--absent", least: 0)
        return tried
    }

    private static func day(_ option: String, _ zone: String, _ arguments: Arguments) throws -> ZonedDay {
        guard let date = arguments.text(option) else { throw UsageError("\(option) is missing") }
        guard let day = ZonedDay(date: date, zone: zone) else {
            throw UsageError(
                "\(option) \(date) --zone \(zone): must be a day like 2026-09-01 and a zone like Europe/Berlin")
        }
        return day
    }
}

private struct TryOutput: Sendable {
    let tried: RuleCandidate
    let machines, readings: Int
    let alerts: [BacktestAlert]

    init(tried: RuleCandidate, _ outcome: RuleBacktest.Outcome) {
        self.tried = tried
        machines = outcome.machines
        readings = outcome.readings
        alerts = outcome.alerts
    }

    static let formats: [String: @Sendable (TryOutput) -> String] = [
        "table": { $0.table.text() }, "csv": { $0.table.csv() }, "json": { $0.json },
    ]

    private func count(_ verdict: BacktestAlert.Verdict) -> Int { alerts.count { $0.verdict == verdict } }

    var summary: String {
        "\(machines) machines, \(readings) readings; alerts: \(count(.same)) the same, \(count(.changed)) changed, "
            + "\(count(.added)) added, \(count(.removed)) removed"
    }

    private static let columns = ["opened", "resolved", "severity", "worst"]

    private static func cells(_ episode: Episode?) -> [String?] {
        guard let episode else { return columns.map { _ in nil } }
        return [
            UTC.text(episode.openedMs), episode.resolvedMs.map(UTC.text), episode.severity.rawValue,
            episode.worstValue.map { Decimal.text($0, decimals: 3) },
        ]
    }

    private var table: Table {
        let columns = TryOutput.columns
        var table = Table(["vehicle", "verdict"] + columns.map { "was \($0)" } + columns.map { "would be \($0)" })
        for alert in alerts {
            table.rows.append(
                [(alert.was ?? alert.would)!.vehicle.text, alert.verdict.rawValue] + TryOutput.cells(alert.was)
                    + TryOutput.cells(alert.would))
        }
        return table
    }

    private static func json(_ episode: Episode?) -> JSONValue {
        guard let episode else { return .null }
        return .object(
            zip(columns, cells(episode)).map { ($0, $0 == "worst" ? .number($1) : .optional($1)) }
                + [("state", .text(episode.state.rawValue)), ("test", .text(episode.test.rawValue))])
    }

    private var json: String {
        JSONValue.object(
            [
                ("parameter", .text(tried.parameter.row.name)), ("model", .text(tried.model)),
                ("machines", .integer(Int64(machines))), ("readings", .integer(Int64(readings))),
            ] + BacktestAlert.Verdict.allCases.map { ($0.rawValue, .integer(Int64(count($0)))) } + [
                (
                    "alerts",
                    .list(
                        alerts.map { alert in
                            .object([
                                ("vehicle", .text((alert.was ?? alert.would)!.vehicle.text)),
                                ("verdict", .text(alert.verdict.rawValue)), ("was", TryOutput.json(alert.was)),
                                ("would_be", TryOutput.json(alert.would)),
                            ])
                        })
                )
            ]
        ).rendered(indent: true)
    }
}
