internal import Clients
internal import Postgres
internal import Storage
package import Surveys
package import Telemetry
internal import Threads

/// The settings of a relay to a collector.
package struct ForwardSettings: Sendable {
    package var url: String
    /// The collector's name, as surveys say it.
    package var collector: String
    /// The operator's own key there; nil: none is needed.
    package var key: String?
    /// PEM file with the roots that are believed; nil: the system's.
    package var caFile: String?
    /// On this machine only.
    package var isPlainAllowed: Bool
    package var userAgent: String
    package var fields: ForwardFields
    package var conninfo: String

    package init(
        url: String, collector: String, key: String?, caFile: String?, isPlainAllowed: Bool, userAgent: String,
        fields: ForwardFields, conninfo: String
    ) {
        self.url = url
        self.collector = collector
        self.key = key
        self.caFile = caFile
        self.isPlainAllowed = isPlainAllowed
        self.userAgent = userAgent
        self.fields = fields
        self.conninfo = conninfo
    }
}

/// Brings versions of surveys to the collector: at least once, with the same id at each try. Any number of relays may run;
/// each version is held by one of them while it is under way.
package final class ForwardRelay {
    private static let backOffMs: ClosedRange<Int64> = 1_000...60_000
    /// A version that was put off.
    private static let putOffMs: ClosedRange<Int64> = 2_000...300_000
    private static let pollMs: Int64 = 1_000
    private static let totalMs = 30_000

    /// `aside`: one was ended, the collector was not asked.
    private enum Step { case nothing, aside, done, failed(String) }

    private let settings: ForwardSettings
    private let log: Log
    private let metrics: ForwardMetrics
    private let retry: RetryLoop

    package init(_ settings: ForwardSettings, metrics: Metrics, log: Log) {
        self.settings = settings
        self.log = log
        self.metrics = ForwardMetrics(metrics)
        retry = RetryLoop(
            ForwardRelay.backOffMs, cannot: "surveys cannot be passed on; what waits is kept and tried again",
            again: "surveys are passed on again", log: log)
    }

    /// Returns when `shouldStop` says so; a version that is under way then is finished first.
    package func run(shouldStop: () -> Bool) {
        retry.run(shouldStop: shouldStop, kind: { _ in "database" }) { try serve(shouldStop) }
    }

    /// One session with the database, until it fails.
    private func serve(_ shouldStop: () -> Bool) throws {
        let connection = try Connection.ofService(conninfo: settings.conninfo, applicationName: "drover-forward")
        var limits = HTTPSClient.Limits()
        limits.totalMs = ForwardRelay.totalMs
        limits.bodyBytesMax = 1 << 20
        let client = try HTTPSClient(
            caFile: settings.caFile, limits: limits, isPlainAllowed: settings.isPlainAllowed)
        while !shouldStop() {
            let step = try connection.transaction { try one(client, connection) }
            switch step {
            case .nothing: BackOff.pause(ForwardRelay.pollMs, shouldStop)
            case .aside: break
            case .done: retry.isWell()
            // A collector that is not well is left alone for a while, whatever waits.
            case .failed(let reason): retry.failed("collector", reason, shouldStop)
            }
        }
    }

    /// The next version, within the transaction that holds it.
    private func one(_ client: HTTPSClient, _ connection: Connection) throws -> Step {
        guard let forward = try ForwardStore.next(on: connection) else { return .nothing }
        guard let content = forward.content else {
            try end(forward, .refused, nil, "its stored version cannot be read", connection)
            return .aside
        }
        if let reason = reasonToStop(forward) {
            try end(forward, .stopped, nil, reason, connection)
            return .aside
        }
        let reply: Reply
        do throws(RequestError) {
            reply = try client.ask(settings.url, headers: headers(forward.id), body: content.csv(settings.fields))
        } catch {
            return try later(forward, waitMs: nil, nil, error.reason, connection)
        }
        let words = ForwardAnswer.words(reply, without: settings.key)
        switch ForwardAnswer(reply, nowMs: Clock.nowMs()) {
        case .taken: try end(forward, .sent, reply.status, words, connection)
        case .refused: try end(forward, .refused, reply.status, words, connection)
        case .later(let waitMs):
            return try later(forward, waitMs: waitMs, reply.status, "status \(reply.status): \(words)", connection)
        }
        return .done
    }

    private func reasonToStop(_ forward: WaitingForward) -> String? {
        if !forward.isWanted { return "its account no longer passes surveys on" }
        if let named = forward.collector, named != settings.collector {
            return "its surveyors pass it on to another collector: \(named)"
        }
        return nil
    }

    private func headers(_ id: String) -> [(name: String, value: String)] {
        let key = settings.key.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
        return key + [
            ("Content-Type", "text/csv; charset=utf-8; header=present"), ("Idempotency-Key", id),
            ("User-Agent", settings.userAgent),
        ]
    }

    private func end(
        _ forward: WaitingForward, _ end: ForwardStore.End, _ status: Int?, _ answer: String, _ connection: Connection
    ) throws {
        try ForwardStore.settle(forward, as: end, status: status, answer: answer, on: connection)
        switch end {
        case .sent: metrics.sent.add()
        case .stopped: metrics.stopped.add()
        case .refused:
            metrics.refused.add()
            log.warning(
                "the collector refused a survey; `drover sightings forwards` says why",
                ["id": "\(forward.id)", "status": "\(status ?? 0)"])
        }
    }

    private func later(
        _ forward: WaitingForward, waitMs: Int64?, _ status: Int?, _ reason: String, _ connection: Connection
    ) throws -> Step {
        let ms = BackOff.ms(afterTries: forward.tries, within: ForwardRelay.putOffMs)
        try ForwardStore.putOff(forward, byMs: max(ms, waitMs ?? 0), status: status, answer: reason, on: connection)
        if let waitMs { try ForwardStore.pause(ms: waitMs, on: connection) }
        metrics.putOff.add()
        // A collector's words are for the list of forwards; they are not ours to log.
        return .failed(status.map { "status \($0)" } ?? reason)
    }
}

/// The relay's figures, by the names that Prometheus reads.
private struct ForwardMetrics {
    let sent, refused, stopped, putOff: Counter

    init(_ metrics: Metrics) {
        sent = metrics.counter("drover_forward_sent_total", "Versions of surveys that the collector has taken.")
        refused = metrics.counter("drover_forward_refused_total", "Versions that the collector has refused.")
        stopped = metrics.counter("drover_forward_stopped_total", "Versions that nobody wants passed on any more.")
        putOff = metrics.counter("drover_forward_put_off_total", "Times a version was put off.")
    }
}
