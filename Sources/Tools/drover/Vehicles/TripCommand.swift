import App
import Basics
import Fleet
import Reports

extension Command {
    static let trip = Command(
        name: "trip", operands: "export VEHICLE | start VEHICLE | stop VEHICLE | discard VEHICLE | tag VEHICLE [TAG]",
        summary:
            "One stored trip, from the database: its readings for other programs, its driver's marks. From files: `drover trips`.",
        options: [
            .init("--trip", "TIME", "export, discard, tag: a time within the trip (2026-11-21T08:00:00Z)"),
            .init("--format", "F", "export: gpx, csv or json (default gpx)"),
        ] + ActionPush.options + SettingsSource.options,
        example: "drover trip export seat-leon --trip 2018-02-20T19:30:00Z --format gpx > trip.gpx",
        run: { arguments in
            let operands = arguments.operands
            guard operands.count >= 2 else {
                throw UsageError("say what of which vehicle: export, start, stop, discard or tag")
            }
            switch (operands[0], operands.count) {
            case ("export", 2): return try export(arguments)
            case ("start", 2): return try say(.tripStart, arguments)
            case ("stop", 2): return try say(.tripStop, arguments)
            case ("discard", 2): return try say(.tripDiscard(atMs: tripTime(arguments)), arguments)
            case ("tag", 2): return try say(.tripTag(atMs: tripTime(arguments), tag: nil), arguments)
            case ("tag", 3):
                guard (1...64).contains(operands[2].utf8.count) else {
                    throw UsageError("a tag has 1 to 64 bytes; without one the trip's tag is taken away")
                }
                return try say(.tripTag(atMs: tripTime(arguments), tag: operands[2]), arguments)
            default: throw UsageError("say export, start, stop, discard or tag, and one vehicle")
            }
        })

    private static func say(_ kind: Action.Kind, _ arguments: Arguments) throws -> ExitCode {
        let action = try ActionPush.action(arguments, vehicle: vehicleID(arguments), kind: kind)
        try ActionPush(settings: SettingsSource.load(arguments), topic: Topic.cars).push(action)
        return .done
    }

    private static func tripTime(_ arguments: Arguments) throws -> Int64 {
        guard let text = arguments.text("--trip") else { throw UsageError("which trip? --trip TIME, a time within it") }
        guard let time = UTC.parse(text) else {
            throw UsageError("--trip \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
        }
        return time
    }

    private static func export(_ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: TripExport.formats, standard: "gpx")
        let (vehicle, atMs) = (try vehicleID(arguments), try tripTime(arguments))
        let settings = try SettingsSource.load(arguments)
        guard
            let trip = try TripExport.read(
                vehicle, atMs: atMs, rules: settings.tripRules(), queries: Home.reportQueries(),
                on: vehicleReader(arguments))
        else {
            throw Failure(
                "\(vehicle) has no trip at \(UTC.text(atMs)). `drover report trips --vehicle \(vehicle)` lists a day's")
        }
        Out.result(try render(trip))
        return .done
    }
}
