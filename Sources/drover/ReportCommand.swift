import Fleet
import Foundation
import Observe
import Postgres
import Reports
import Settings
import Trips

extension Command {
    static let report = Command(
        name: "report", operands: "fleet-day --date D [options]",
        summary: "A report of a day: trips, totals and alerts in the reader's time zone.",
        options: [
            .init("--date", "D", "the day, like 2018-02-20"),
            .init("--zone", "Z", "time zone, like Europe/Berlin (default UTC)"),
            .init("--format", "F", "html, csv or json (default html)"),
        ] + SettingsSource.options,
        example: "drover report fleet-day --date 2018-02-20 --zone Europe/Berlin --format html > day.html",
        run: { arguments in
            guard arguments.operands == ["fleet-day"] else { throw UsageError("name one report: fleet-day") }
            guard let date = arguments.text("--date") else { throw UsageError("--date is missing") }
            let zone = arguments.text("--zone") ?? "UTC"
            guard let day = ZonedDay(date: date, zone: zone) else {
                throw UsageError(
                    "--date \(date) --zone \(zone): must be a day like 2018-02-20 and a zone like Europe/Berlin")
            }
            let render = try arguments.one("--format", of: formats, standard: "html")
            let settings = try SettingsSource.load(arguments)
            Out.result(render(try fleetDay(day, settings)))
            return .done
        })

    private static let formats: [String: @Sendable (FleetDay) -> String] = [
        "html": { $0.html() }, "csv": { $0.csv() }, "json": { $0.json() },
    ]

    static func fleetDay(_ day: ZonedDay, _ settings: Settings) throws -> FleetDay {
        let connection = try Connection(conninfo: settings.text("postgres.reader_url", or: "postgres.url"))
        return try FleetDay.read(
            day, rules: settings.tripRules(), price: settings.fuelPrice, queries: Home.reportQueries(), on: connection)
    }
}
