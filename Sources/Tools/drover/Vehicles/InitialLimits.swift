import Alerts
import App
import Fleet
import Settings
import Storage

/// An installation that begins judges cars that nobody answers for by the standard limits: who only looks at it would take silence for health.
/// One that has run without goes on without, until an operator says otherwise (`drover limits`).
enum InitialLimits {
    static func areMissing(_ settings: Settings) throws -> Bool {
        try InstallationLimitsStore.isNew(SchemaConnection.connect(settings.readerConninfo))
    }

    static func set(_ settings: Settings) throws {
        let arguments = try Arguments(["--by", "drover up"], for: .limits)
        let action = try ActionPush.action(arguments, vehicle: nil, kind: .limits(.standard))
        // It counts from its time on, whenever the worker takes it.
        _ = try ActionPush(settings: settings, topic: Topic.cars).push([action])
    }
}
