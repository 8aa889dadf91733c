import App
import Clients
import Settings
import Telemetry

extension Command {
    static let health = Command(
        name: "health", operands: "[options]",
        summary:
            "Asks the process on this machine whose metrics.port is set whether it lives, or is ready; for containers.",
        options: [.init("--ready", nil, "whether it can do its work now, and not only whether its loops turn")]
            + SettingsSource.options,
        example: "drover health --ready --set metrics.port=9501",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let port = settings.integer("metrics.port")
            guard port > 0 else { throw Failure("metrics.port is 0: the process says nothing of itself. Set it") }
            var limits = HTTPSClient.Limits()
            (limits.connectMs, limits.totalMs, limits.bodyBytesMax) = (2_000, 5_000, 100_000)
            let path = arguments.has("--ready") ? "readyz" : "livez"
            let reply = try HTTPSClient(limits: limits, isPlainAllowed: true)
                .ask("http://\(host(settings.text("metrics.host"))):\(port)/\(path)")
            Out.result(String(decoding: reply.body, as: UTF8.self))
            return reply.status == 200 ? .done : .failed
        })

    /// The host to ask: a server that listens on all addresses is asked on the loopback.
    private static func host(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }
}
