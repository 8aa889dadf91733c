package import Delivery
internal import ExternalServices
internal import Fleet
package import Settings
internal import Surveys
package import Telemetry

/// The forwarding of surveys to a collector, wired from settings.
package enum ForwardRole {
    /// Nil: no collector is set.
    package static func relay(_ settings: Settings, log: Log) throws -> ForwardRelay? {
        try made(settings).map { ForwardRelay($0, metrics: MetricsRole.of("forward"), log: log) }
    }

    package static func check(_ settings: Settings) throws -> String {
        guard let made = try made(settings) else { return "none: surveys are not passed on" }
        return "\(made.collector) at \(made.url), \(made.fields.columns.count) columns"
    }

    private static func made(_ settings: Settings) throws -> ForwardSettings? {
        let url = settings.text("forward.url")
        guard !url.isEmpty else { return nil }
        let address = try ServiceAddress(url, setting: "forward.url")
        let name = settings.text("forward.name")
        guard VehicleID.isValid(name.utf8) else {
            throw Failure("forward.name: must be 1 to 64 letters, digits, -, _ or .")
        }
        let roots = settings.text("forward.ca_file")
        if !roots.isEmpty { _ = try Files.read(roots) }
        return ForwardSettings(
            url: address.base, collector: name, key: try key(settings.text("forward.token_file")),
            caFile: roots.isEmpty ? nil : roots, isPlainAllowed: address.isPlain,
            userAgent: try settings.userAgent(), fields: try fields(settings),
            conninfo: settings.relayConninfo)
    }

    private static func fields(_ settings: Settings) throws -> ForwardFields {
        let file = try Home.path(settings.text("forward.fields"))
        do {
            return try ForwardFields(Files.read(file))
        } catch let fault as ForwardFields.Fault {
            throw Failure("forward.fields: \(file), \(fault)")
        }
    }

    /// Nil: none is set. It goes into a header, so a line end in it would be another header.
    private static func key(_ file: String) throws -> String? {
        guard !file.isEmpty else { return nil }
        let line = try Files.firstLine(file)
        guard (1...4_096).contains(line.count), line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(
                "forward.token_file: \(file): its first line must be the key: 1 to 4096 printable characters without blanks"
            )
        }
        return String(decoding: line, as: UTF8.self)
    }
}
