internal import Fleet
internal import Alerts
internal import Basics
internal import Clients
internal import Codecs
internal import Formats
internal import Postgres
internal import Notifications
internal import Presentation
internal import Storage
package import Telemetry
internal import Threads

/// The settings of a relay to a Prometheus Alertmanager.
package struct AlertmanagerSettings: Sendable {
    /// Without a slash at the end.
    package var url: String
    package var isPlainAllowed: Bool
    /// PEM file with the roots that are believed; nil: the system's.
    package var caFile: String?
    package var intervalMs: Int64
    /// The public address of the pages; empty: not known.
    package var site: String
    package var conninfo: String

    package init(
        url: String, isPlainAllowed: Bool, caFile: String?, intervalMs: Int64, site: String, conninfo: String
    ) {
        self.url = url
        self.isPlainAllowed = isPlainAllowed
        self.caFile = caFile
        self.intervalMs = intervalMs
        self.site = site
        self.conninfo = conninfo
    }
}

/// Reports all open alerts to a Prometheus Alertmanager, repeatedly, and those that ended lately (its API v2). It keeps no state: each
/// report is complete, so any number may run, and a crash leaves nothing out. An alert that is not repeated ends there by itself.
package final class AlertmanagerRelay {
    private static let batch = 1_000
    /// Alertmanager ends an alert after this many intervals without a repeat.
    private static let intervalsKept: Int64 = 4

    private let settings: AlertmanagerSettings
    private let said, failures: Counter
    private var trouble: FailureLog

    package init(_ settings: AlertmanagerSettings, metrics: Metrics, log: Log) {
        self.settings = settings
        trouble = FailureLog(
            cannot: "Alertmanager does not get the alerts; it is asked again",
            again: "Alertmanager gets the alerts again",
            log: log)
        said = metrics.counter("drover_alertmanager_said_total", "Alerts that Alertmanager has taken, each time.")
        failures = metrics.counter("drover_alertmanager_failures_total", "Rounds that Alertmanager did not take.")
    }

    /// Returns when `shouldStop` says so.
    package func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            let beganMs = Clock.steadyMs()
            do {
                try round(shouldStop)
                trouble.isOver()
            } catch {
                failures.add()
                trouble.failed("\(error)")
            }
            BackOff.pause(beganMs + settings.intervalMs - Clock.steadyMs(), shouldStop)
        }
    }

    private struct Refused: Error, CustomStringConvertible { let description: String }

    private func round(_ shouldStop: () -> Bool) throws {
        let connection = try Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-alertmanager")
        let client = try HTTPSClient(caFile: settings.caFile, isPlainAllowed: settings.isPlainAllowed)
        let alerts = try NoticeStore.standing(
            sinceMs: Clock.nowMs() - 4 * settings.intervalMs - 600_000, on: connection)
        let nowMs = Clock.nowMs()
        for start in stride(from: 0, to: alerts.count, by: AlertmanagerRelay.batch) where !shouldStop() {
            let batch = alerts[start..<min(start + AlertmanagerRelay.batch, alerts.count)]
            let body = JSONValue.list(batch.map { json($0.alert, dealers: $0.dealers, nowMs: nowMs) }).rendered()
            let reply = try client.ask(
                settings.url + "/api/v2/alerts", headers: [("Content-Type", "application/json")], body: Array(body.utf8)
            )
            guard reply.status == 200 else {
                throw Refused(
                    description: "status \(reply.status): \(String(decoding: reply.body.prefix(200), as: UTF8.self))")
            }
            said.add(batch.count)
        }
    }

    /// Labels say which alert it is, so they never change while it is open, except that it may become critical.
    private func json(_ alert: NoticeAlert, dealers: String, nowMs: Int64) -> JSONValue {
        // It is nobody's account: metric, as everywhere without one.
        func number(_ value: Double?) -> String? {
            guard let value else { return nil }
            guard alert.isOfFlag else { return ShownValue(value, unit: alert.unit, in: .metric).text }
            guard case .parameter(let parameter)? = ThresholdField(anyName: alert.parameter) else { return nil }
            return parameter.word(value != 0)
        }
        func texts(_ fields: [(String, String?)]) -> JSONValue {
            .object(fields.compactMap { key, value in value.flatMap { $0.isEmpty ? nil : (key, .text($0)) } })
        }
        let endsMs =
            alert.isOpen ? nowMs + AlertmanagerRelay.intervalsKept * settings.intervalMs : alert.resolvedMs ?? nowMs
        return .object([
            (
                "labels",
                texts([
                    ("alertname", alert.parameter), ("vehicle", alert.vehicle), ("kind", alert.kind.rawValue),
                    ("model", alert.model), ("severity", alert.severity.rawValue), ("dealer", dealers),
                    ("service", "drover"),
                ])
            ),
            (
                "annotations",
                texts([
                    ("alert", alert.id), ("vehicle_name", alert.vehicleName), ("worst", number(alert.worstValue)),
                    ("rule", alert.isOfFlag ? nil : number(alert.threshold).map { "\(alert.test.rawValue) \($0)" }),
                    ("advice", alert.advice),
                    ("acknowledged_by", alert.acknowledgedBy),
                ])
            ),
            ("startsAt", .text(UTC.text(alert.openedMs))), ("endsAt", .text(UTC.text(max(endsMs, alert.openedMs)))),
            (
                "generatorURL",
                .text(settings.site.isEmpty ? "" : "\(settings.site)/alerts/\(PercentEncoding.text(alert.id))")
            ),
        ])
    }
}
