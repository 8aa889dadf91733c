import Alerts
import App
import Basics
import Fleet
import Foundation
import Postgres
import Presentation
import Reports
import Settings
import Storage
import Telemetry
import Trips

extension Command {
    static let report = Command(
        name: "report", operands: "\(Report.all.map(\.name).joined(separator: " | ")) | compare [options]",
        summary:
            "Reports by date in the reader's time zone and units; drives of one route before and after a change.",
        options: [
            .init("--date", "D", "the day, or one of the week or month, like 2018-02-20 (default: today)"),
            .init("--span", "S", "day, week (from Monday on) or month (default day)"),
            .init("--until", "D", "the last day, where --date is the first one of several"),
            .init("--zone", "Z", "time zone, like Europe/Berlin (default UTC)"),
            .init("--units", "U", "metric or us (default metric)"),
            .init("--vehicle", "V", "of this vehicle only; compare: whose drives"),
            .init("--fleet", "F", "of the vehicles of this fleet only"),
            .init("--campus", "ID", "dispatch-day: of this campus only"),
            .init("--site", "ID", "survey-day: of this site only"),
            .init("--tour", "ID", "tour-visits: of this tour only"),
            .init("--change", "TIME", "compare: when the car was changed (2026-11-21T08:00:00Z)"),
            .init("--trip", "TIME", "compare: a time within a drive of the route; needs positions"),
            .init("--tag", "TAG", "compare: drives with this tag, where there are no positions"),
            .init("--from", "TIME", "compare: drives from this time on (default: a year before the change)"),
            .init("--to", "TIME", "compare: drives before this time (default: a year after the change)"),
            .init(
                "--format", "F",
                "html, csv, json, xlsx, pdf or table (default: html, of trips table; compare: csv, json, table)"),
            .init("--save", "PLACE", "a file, or a folder in which it gets a name that says what it is"),
        ] + SettingsSource.options,
        example: "drover report trips --date 2018-02-20 --zone Europe/Berlin --vehicle seat-leon",
        run: { arguments in
            if arguments.operands == ["compare"] {
                if arguments.has("--save") { throw UsageError("--save is not for compare: send its output to a file") }
                return try compare(arguments)
            }
            guard arguments.operands.count == 1, let report = Report.named(arguments.operands[0]) else {
                throw UsageError("name one report: \(Report.all.map(\.name).joined(separator: ", ")) or compare")
            }
            let ask = try ask(report, arguments)
            let formats = Dictionary(uniqueKeysWithValues: ReportFormat.allCases.map { ($0.rawValue, $0) })
            let format = try arguments.one(
                "--format", of: formats, standard: report.name == "trips" ? "table" : "html")
            let settings = try SettingsSource.load(arguments)
            let connection = try Connection(conninfo: settings.readerConninfo)
            let source = Report.Source(
                rules: try settings.tripRules(), price: settings.fuelPrice, queries: try Home.reportQueries(),
                connection: connection)
            do {
                try report.requireThere(ask, source)
                try CommandAudit.noteTaken(
                    .reportRun, about: ask.of.isEmpty ? nil : ask.of,
                    [
                        ("report", report.name), ("from", ask.span.first), ("until", ask.span.last),
                        ("fleet", ask.fleet),
                    ],
                    on: connection)
                let bytes = try report.run(ask, source).file(format)
                guard let place = arguments.text("--save") else {
                    Out.result(bytes)
                    return .done
                }
                Out.result(
                    try ReportFile.write(bytes, named: ReportFile.name(report, ask, format), to: place))
            } catch let fault as Report.Fault {
                throw Failure("\(report.name): \(fault)")
            } catch let fault as ReportFile.Fault {
                throw Failure(fault.description)
            }
            return .done
        })

    private static func ask(_ report: Report, _ arguments: Arguments) throws -> ReportParameters {
        let zone = arguments.text("--zone") ?? "UTC"
        let date = arguments.text("--date") ?? ZonedDay.date(ofMs: Clock.nowMs(), zone: zone)
        let length = try arguments.one(
            "--span", of: Dictionary(uniqueKeysWithValues: ReportSpan.Length.allCases.map { ($0.rawValue, $0) }),
            standard: "day")
        let until = arguments.text("--until")
        if until != nil, arguments.has("--span") { throw UsageError("--span and --until say the same: leave one out") }
        guard
            let span = until.map({ ReportSpan(from: date, until: $0, zone: zone) })
                ?? ReportSpan(length, of: date, zone: zone)
        else {
            throw UsageError(
                "--date \(date)\(until.map { " --until \($0)" } ?? "") --zone \(zone): must be days like 2018-02-20, at most "
                    + "\(ReportSpan.daysMax), and a zone like Europe/Berlin")
        }
        var ask = ReportParameters(span: span)
        ask.units = try arguments.one("--units", of: ["metric": .metric, "us": .us], standard: "metric")
        for of in ["vehicle", "campus", "site", "tour"] {
            guard let text = arguments.text("--\(of)") else { continue }
            guard report.of.rawValue == of else {
                let others = Report.all.filter { $0.of.rawValue == of }.map { "`report \($0.name)`" }
                throw UsageError("--\(of) is for \(others.joined(separator: ", "))")
            }
            guard Report.isID(text, report.of) else { throw UsageError("--\(of) \(text): is no \(of)'s id") }
            ask.of = text
        }
        if let fleet = arguments.text("--fleet") {
            guard report.hasFleets, VehicleID(fleet) != nil else {
                throw UsageError("--fleet \(fleet): is no fleet's id, or `report \(report.name)` has no fleets")
            }
            ask.fleet = fleet
        }
        return ask
    }

    private static func compare(_ arguments: Arguments) throws -> ExitCode {
        func time(_ option: String) throws -> Int64? {
            guard let text = arguments.text(option) else { return nil }
            if let ms = UTC.parse(text) { return ms }
            throw UsageError("\(option) \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
        }
        guard let vehicle = arguments.text("--vehicle").flatMap({ VehicleID($0) }), let changedMs = try time("--change")
        else {
            throw UsageError("compare needs --vehicle V and --change TIME")
        }
        let by: RouteComparison.Matching
        switch (try time("--trip"), arguments.text("--tag")) {
        case (let ms?, nil): by = .routeOf(ms: ms)
        case (nil, let tag?) where !tag.isEmpty: by = .tag(tag)
        default: throw UsageError("say which drives: --trip TIME of one of them, or --tag TAG that they bear")
        }
        let year = 366 * UTC.msPerDay
        let fromMs = try time("--from") ?? max(UTC.plausible.lowerBound, changedMs - year)
        let toMs = try time("--to") ?? min(UTC.plausible.upperBound, changedMs + year)
        guard fromMs < toMs else { throw UsageError("--from must be before --to") }
        let render = try arguments.one(
            "--format",
            of: ["csv": { $0.csv() }, "json": { $0.json() }, "table": { $0.text() }]
                as [String: @Sendable (RouteComparison) -> String],
            standard: "table")
        let settings = try SettingsSource.load(arguments)
        Out.note("drives from \(UTC.text(fromMs)) to \(UTC.text(toMs)) are compared; --from and --to choose others")
        Out.result(
            render(
                try RouteComparison.read(
                    vehicle, by: by, changedMs: changedMs, span: fromMs..<toMs, price: settings.fuelPrice,
                    queries: Home.reportQueries(),
                    on: Connection(conninfo: settings.readerConninfo))))
        return .done
    }
}
