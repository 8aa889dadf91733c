import App
import Gateways
import Settings
import Telemetry

extension Command {
    static let pullISO = Command(
        name: "gateway pull-iso", operands: "[options]",
        summary: "Pulls a mixed fleet from a maker's ISO 15143-3 (AEMP 2.0) service, every hour. Stops on SIGTERM.",
        options: [.init("--once", nil, "pull once and say what came")] + SettingsSource.options,
        example: "drover gateway pull-iso --once --set iso.endpoint=https://maker.example/Fleet/1",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            SettingFiles.warn(settings, of: .iso, log: ServiceRoles.log)
            Signals.install()
            let puller = try ISOFleetPuller(
                isoSettings(settings),
                kafka: try ServiceRoles.kafka(settings, clientID: "drover-iso", log: ServiceRoles.log),
                shape: settings.topicShape, metrics: MetricsRole.of("iso"), log: ServiceRoles.log)
            guard arguments.has("--once") else {
                puller.run { StopFlag.isSet }
                return .done
            }
            let counts = puller.pull { StopFlag.isSet }
            Out.note("\(counts.readings) readings from \(counts.pages) pages; \(counts.failed) pages were given up")
            return counts.failed == 0 && !StopFlag.isSet ? .done : .failed
        })

    static func isoSettings(_ settings: Settings) throws -> ISOFleetSettings {
        guard !settings.text("iso.endpoint").isEmpty else {
            throw Failure("iso.endpoint is not set: the maker's documentation names the address of the fleet snapshot")
        }
        var secret = settings.text("iso.client_secret")
        let file = settings.text("iso.client_secret_file")
        if !file.isEmpty {
            guard secret.isEmpty else { throw Failure("set iso.client_secret or iso.client_secret_file, not both") }
            secret = String(decoding: try Files.firstLine(file), as: UTF8.self)
        }
        let caFile = settings.text("iso.ca_file")
        return ISOFleetSettings(
            endpoint: settings.text("iso.endpoint"), tokenURL: settings.text("iso.token_url"),
            clientID: settings.text("iso.client_id"), clientSecret: secret, caFile: caFile.isEmpty ? nil : caFile,
            intervalMs: settings.integer("iso.interval_min") * 60_000,
            requestsPerHourMax: Int(settings.integer("iso.requests_per_hour_max")),
            seriesHours: settings.integer("iso.series_h"))
    }
}
