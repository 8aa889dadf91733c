import Fleet
import Observe
import Postgres
import Reports
import Settings
import Storage
import Surveys
import Wire

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
        let rows = try Store.connect(settings.text("postgres.url")).query(
            "SELECT site, survey, version, day AS date, reasons FROM drover.surveys_open($1, 1000)",
            [.text(arguments.text("--site"))])
        Out.result(render(try QueryOutput(rows)))
        return .done
    }

    private static func show(_ site: String, _ survey: String, _ settings: Settings) throws -> ExitCode {
        let versions = try Store.connect(settings.text("postgres.url")).query(
            """
            SELECT version, said_by, said_at, note, body FROM survey_version WHERE site = $1 AND survey = $2
            ORDER BY version
            """, [.text(site), .text(survey)])
        guard let newest = versions.last else { throw Failure("there is no survey \(survey) of site \(site)") }
        for row in versions {
            let note = try row.text("note").map { ": \($0)" } ?? ""
            Out.note(
                "version \(try row.int("version")!) by \(try row.text("said_by")!), "
                    + UTC.text(try row.timestampMs("said_at")!) + note)
        }
        let tree = try JSONTree(Array(try newest.text("body")!.utf8))
        Out.result(tree.value.rendered(indent: true))
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
        let connection = try Store.connect(settings.text("postgres.url"))
        let known: [Parameter] = [.text(survey.site), .text(survey.survey), .text(record.id)]
        if let row = try connection.query(
            "SELECT version FROM survey_version WHERE site = $1 AND survey = $2 AND record_id = $3", known
        ).first {
            Out.note("version \(try row.int(0)!) of survey \(survey.survey)")
            return .done
        }
        guard
            try connection.query(
                "SELECT FROM survey_waiting WHERE site = $1 AND survey = $2 AND record_id = $3", known
            ).isEmpty
        else {
            Out.note("it waits for the version that it was made from")
            return .done
        }
        throw Failure(
            "it was made from a version that another review has changed: `drover sightings show \(survey.site) "
                + "\(survey.survey)` has the newest")
    }

    /// A week is one of ISO 8601, by the surveyors' clocks; a survey without the species is a visit that found none.
    private static func curve(_ species: String, _ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let format = arguments.text("--format") ?? "table"
        guard ["table", "csv", "json"].contains(format) else {
            throw UsageError("--format \(format): must be one of csv, json, table")
        }
        let year = try arguments.integer("--year", in: 1700...2100)
        var visits: [String: [FlightCurve.Visit]] = [:]
        for row in try Store.connect(settings.text("postgres.url")).query(
            """
            SELECT s.site, to_char(s.local_date, 'IYYY') AS year, extract(week FROM s.local_date)::int AS week,
                coalesce(sum(x.individuals), 0)::bigint AS individuals
            FROM survey s
            LEFT JOIN sighting x ON x.site = s.site AND x.survey = s.survey AND x.species = $1
                AND x.seen_at BETWEEN s.started_at - interval '1 day' AND s.stopped_at + interval '1 day'
            WHERE ($2::text IS NULL OR s.site = $2) AND ($3::int IS NULL OR extract(isoyear FROM s.local_date) = $3)
            GROUP BY s.site, s.survey, s.local_date
            """,
            [.text(species), .text(arguments.text("--site")), year.map { .int4(Int32($0)) } ?? .null])
        {
            visits["\(try row.text("site")!) \(try row.text("year")!)", default: []].append(
                FlightCurve.Visit(week: try row.int("week")!, individuals: try row.int("individuals")!))
        }
        var table = Table(["site", "year", "visits", "index", "mean_week", "weeks"])
        for (key, visits) in visits.sorted(by: { $0.key < $1.key }) {
            let (words, curve) = (key.split(separator: " ").map(String.init), FlightCurve(visits))
            let weeks = curve.weeks.map { "\($0.week):\(shown($0.meanCount))" }.joined(separator: " ")
            table.rows.append([
                words[0], words[1], String(visits.count), shown(curve.index), curve.meanWeek.map(shown), weeks,
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
