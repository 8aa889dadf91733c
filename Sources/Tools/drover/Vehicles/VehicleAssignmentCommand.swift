import App
import Basics
import Fleet
import Postgres
import Reports
import Settings
import Telemetry

/// `drover vehicle assign`: who drives a car, where no phone that uploads says it.
extension Command {
    static func assign(_ arguments: Arguments) throws -> ExitCode {
        let vehicle = try vehicleID(arguments)
        let driver = arguments.text("--driver")
        guard (driver == nil) == arguments.has("--nobody") else {
            throw UsageError("assign: say who drives it, --driver ACCOUNT or --nobody")
        }
        if let driver, !VehicleID.isValid(driver.utf8) {
            throw UsageError("--driver \(driver): must be 1 to 64 letters, digits, -, _ or .")
        }
        if arguments.has("--at") { throw UsageError("assign: say --from TIME, --at is for services and alerts") }
        let reader = try vehicleReader(arguments)
        let found = try reader.query(Home.reportQueries()["vehicle_kinds"], [.text(vehicle.text)])
        guard try found.contains(where: { try $0.word("kind") == VehicleKind.car }) else {
            throw Failure("\(vehicle): there is no such car; see `drover vehicle list --kind car`")
        }
        if let driver { try require(driver, of: "--driver", on: reader) }
        let (id, _, by) = try ActionPush.head(arguments)
        let note = arguments.text("--note").flatMap { $0.isEmpty ? nil : $0 }
        let action = Action(
            id: id, vehicle: vehicle, ts: try from(arguments), by: by, note: note, kind: .assignment(driver: driver))
        let push = ActionPush(settings: try SettingsSource.load(arguments), topic: Topic.cars)
        push.say(
            try push.push([action]),
            done: "\(vehicle): \(driver ?? "nobody") drives it from \(UTC.text(action.ts)) on")
        return .done
    }

    private static func from(_ arguments: Arguments) throws -> Int64 {
        guard let text = arguments.text("--from") else { return Clock.nowMs() }
        guard let time = UTC.parse(text), UTC.plausible.contains(time) else {
            throw UsageError("--from \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
        }
        return time
    }
}
