import Fleet
import Foundation
import Observe
import Postgres
import Reports
import Settings
import Trips

extension Command {
    static let report = Command(
        name: "report", operands: "fleet-day | trips [options]",
        summary: "A report of a day in the reader's time zone: trips and what they add up to, and alerts.",
        options: [
            .init("--date", "D", "the day, like 2018-02-20 (default: today)"),
            .init("--zone", "Z", "time zone, like Europe/Berlin (default UTC)"),
            .init("--vehicle", "V", "trips: of this vehicle only"),
            .init("--format", "F", "html, csv, json or table (default: fleet-day html, trips table)"),
        ] + SettingsSource.options,
        example: "drover report trips --date 2018-02-20 --zone Europe/Berlin --vehicle seat-leon",
        run: { arguments in
            let contents: [[String]: FleetDay.Content] = [["fleet-day"]: .tripsAndAlerts, ["trips"]: .trips]
            guard let content = contents[arguments.operands] else {
                throw UsageError("name one report: fleet-day or trips")
            }
            let zone = arguments.text("--zone") ?? "UTC"
            let date = arguments.text("--date") ?? ZonedDay.date(ofMs: Clock.nowMs(), zone: zone)
            guard let day = ZonedDay(date: date, zone: zone) else {
                throw UsageError(
                    "--date \(date) --zone \(zone): must be a day like 2018-02-20 and a zone like Europe/Berlin")
            }
            var vehicle: VehicleID?
            if let text = arguments.text("--vehicle") {
                guard content == .trips else { throw UsageError("--vehicle is for `report trips`") }
                vehicle = VehicleID(text)
                if vehicle == nil { throw UsageError("--vehicle \(text): is no vehicle's id") }
            }
            let render = try arguments.one("--format", of: formats, standard: content == .trips ? "table" : "html")
            let settings = try SettingsSource.load(arguments)
            Out.result(render(try fleetDay(day, content, vehicle, settings)))
            return .done
        })

    private static let formats: [String: @Sendable (FleetDay) -> String] = [
        "html": { $0.html() }, "csv": { $0.csv() }, "json": { $0.json() }, "table": { $0.text() },
    ]

    static func fleetDay(
        _ day: ZonedDay, _ content: FleetDay.Content = .tripsAndAlerts, _ vehicle: VehicleID? = nil,
        _ settings: Settings
    ) throws -> FleetDay {
        let connection = try Connection(conninfo: settings.text("postgres.reader_url", or: "postgres.url"))
        return try FleetDay.read(
            day, content, vehicle: vehicle, rules: settings.tripRules(), price: settings.fuelPrice,
            queries: Home.reportQueries(), on: connection)
    }
}
