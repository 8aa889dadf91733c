import App
import Basics
import Codecs
import Fleet
import Formats
import Reports
import Settings
import Storage
import Surveys

extension Command {
    static let sightings = Command(
        name: "sightings",
        operands: "open | show SITE SURVEY | review FILE | curve SPECIES | forwards | forwards retry",
        summary:
            "Surveys that a reviewer should see, a survey as it stands, a reviewer's version of it, flight periods, and what a "
            + "collector was sent.",
        options: [
            .init("--based-on", "N", "review: the version that it was made from, as `show` says"),
            .init("--note", "TEXT", "review: why"),
            .init("--by", "NAME", "review: who (default: the login's name, or operator)"),
            .init("--account", "ID", "review: on whose behalf (default review)"),
            .init("--site", "SITE", "open, curve, forwards: only of this one"),
            .init("--year", "Y", "curve: only of this one"),
            .init("--survey", "SURVEY", "forwards: only this one of the site"),
            .init("--state", "S", "forwards: only waiting, sent, refused or stopped"),
            .init("--format", "F", "open, curve, forwards: table, csv or json (default table)"),
        ] + SettingsSource.options,
        example: "drover sightings review corrected.json --based-on 0 --note 'was a moth'",
        run: { arguments in
            let (operands, settings) = (arguments.operands, try SettingsSource.load(arguments))
            switch operands.first {
            case "open" where operands.count == 1: return try listOpen(arguments, settings)
            case "show" where operands.count == 3: return try show(operands[1], operands[2], settings)
            case "review" where operands.count == 2: return try review(operands[1], arguments, settings)
            case "curve" where operands.count == 2: return try curve(operands[1], arguments, settings)
            case "forwards" where operands.count == 1: return try listForwards(arguments, settings)
            case "forwards" where operands == ["forwards", "retry"]: return try retryForwards(arguments, settings)
            default:
                throw UsageError(
                    "say `open`, `show SITE SURVEY`, `review FILE`, `curve SPECIES`, `forwards` or `forwards retry`")
            }
        })

    private static func listOpen(_ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let rows = try SurveyVersionQueries.open(
            site: arguments.text("--site"), on: SchemaConnection.connect(settings.text("postgres.url")))
        Out.result(render(try QueryOutput(rows)))
        return .done
    }

    private static func show(_ site: String, _ survey: String, _ settings: Settings) throws -> ExitCode {
        let versions = try SurveyVersionQueries.versions(
            of: survey, site: site, on: SchemaConnection.connect(settings.text("postgres.url")))
        guard let newest = versions.last else { throw Failure("there is no survey \(survey) of site \(site)") }
        for version in versions {
            Out.note(
                "version \(version.version) by \(version.saidBy), " + UTC.text(version.saidMs)
                    + (version.note.map { ": \($0)" } ?? ""))
        }
        let tree = try JSONValue(Array(newest.body.utf8))
        Out.result(tree.rendered(indent: true))
        return .done
    }

    private static func review(_ file: String, _ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        guard let basedOn = try arguments.integer("--based-on", in: 0...1_000_000) else {
            throw UsageError("say which version it was made from: --based-on N")
        }
        let account = arguments.text("--account") ?? "review"
        guard VehicleID.isValid(account.utf8) else {
            throw UsageError("--account \(account): must be 1 to 64 letters, digits, -, _ or .")
        }
        let bytes = try Files.read(file)
        let survey: Survey
        do throws(SurveyText.Faults) { survey = try SurveyText.decode(bytes) } catch {
            throw Failure("\(file): \(error)")
        }
        let said = try ActionPush.head(arguments)
        let record = SurveyRecord(
            id: said.id, site: survey.site, ts: said.ts, account: account, by: said.by,
            kind: .reviewed(survey, basedOn: Int(basedOn), note: arguments.text("--note")))
        guard try ActionPush(settings: settings, topic: Topic.sightings).push(record) else {
            Out.note("it is on the log; no worker has taken it within 10 s. Is one up? See `drover offsets show`")
            return .done
        }
        return try sayTaken(record, survey, settings)
    }

    private static func sayTaken(_ record: SurveyRecord, _ survey: Survey, _ settings: Settings) throws -> ExitCode {
        let connection = try SchemaConnection.connect(settings.text("postgres.url"))
        switch try SurveyVersionQueries.review(record.id, of: survey.survey, site: survey.site, on: connection) {
        case .version(let number): Out.note("version \(number) of survey \(survey.survey)")
        case .waits: Out.note("it waits for the version that it was made from")
        case .overtaken:
            throw Failure(
                "it was made from a version that another review has changed: `drover sightings show \(survey.site) "
                    + "\(survey.survey)` has the newest")
        }
        return .done
    }

    /// A week is one of ISO 8601, by the surveyors' clocks; a survey without the species is a visit that found none.
    private static func curve(_ species: String, _ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let format = arguments.text("--format") ?? "table"
        guard ["table", "csv", "json"].contains(format) else {
            throw UsageError("--format \(format): must be one of csv, json, table")
        }
        let year = try arguments.integer("--year", in: 1700...2100)
        let visits = try SurveyVersionQueries.visits(
            of: species, site: arguments.text("--site"), year: year.map { Int32($0) },
            on: SchemaConnection.connect(settings.text("postgres.url")))
        var table = Table(["site", "year", "visits", "index", "mean_week", "weeks"])
        for one in visits {
            let curve = FlightCurve(one.visits)
            let weeks = curve.weeks.map { "\($0.week):\(shown($0.meanCount))" }.joined(separator: " ")
            table.rows.append([
                one.site, one.year, String(one.visits.count), shown(curve.index), curve.meanWeek.map(shown), weeks,
            ])
        }
        switch format {
        case "csv": Out.result(table.csv())
        case "json":
            let rows = table.rows.map { row in
                JSONValue.object(zip(table.headers, row).map { ($0, JSONValue.optional($1)) })
            }
            Out.result(JSONValue.list(rows).rendered(indent: true))
        default: Out.result(table.text())
        }
        return .done
    }

    private static func shown(_ value: Double) -> String {
        Decimal.scaled(value, decimals: 3).map { Decimal.text($0, decimals: 3) } ?? "\(value)"
    }
}
