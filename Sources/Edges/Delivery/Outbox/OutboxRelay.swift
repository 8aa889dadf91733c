package import Kafka
internal import Postgres
internal import Synchronization
package import Telemetry
internal import Threads

package struct OutboxRelaySettings: Sendable {
    package var kafka: KafkaSettings
    package var conninfo: String
    /// Rows of `drover.rejected` that a partition keeps.
    package var rejectedRowsMax: Int64
    /// Makes the topics that are missing; throws while the broker is away.
    package var prepareTopics: @Sendable () throws -> Void

    package init(
        kafka: KafkaSettings, conninfo: String, rejectedRowsMax: Int64,
        prepareTopics: @escaping @Sendable () throws -> Void
    ) {
        self.kafka = kafka
        self.conninfo = conninfo
        self.rejectedRowsMax = rejectedRowsMax
        self.prepareTopics = prepareTopics
    }
}

/// Publishes the outbox to the topics: at least once, each key in order. Of many relays on one database one is active; the others wait for
/// its end. It never gives up: a refusal by the broker or the database is logged once and retried.
package final class OutboxRelay {
    private static let backOffMs: ClosedRange<Int64> = 250...5_000
    /// The interval at which a waiting relay asks whether it is its turn.
    private static let turnMs: Int64 = 250
    /// Notifications may get lost with a session; the table does not.
    private static let pollMs: Int64 = 1_000
    /// The time until the relay notices that it is to stop.
    private static let sliceMs: Int32 = 200
    private static let restMs: Int64 = 5
    private static let pruneMs: Int64 = 60_000

    private let settings: OutboxRelaySettings
    private let log: Log
    private let metrics: OutboxRelayMetrics
    private let retry: RetryLoop
    package let readiness = OutboxRelayReadiness()
    private var nextPruneMs: Int64 = 0

    package init(_ settings: OutboxRelaySettings, metrics: Metrics, log: Log) {
        self.settings = settings
        self.log = log
        self.metrics = OutboxRelayMetrics(metrics)
        retry = RetryLoop(
            OutboxRelay.backOffMs, cannot: "relay cannot work; what waits in the outbox is kept and tried again",
            again: "relay works again", log: log)
    }

    /// Returns when `shouldStop` says so. What is not acknowledged then stays in the outbox.
    package func run(shouldStop: () -> Bool) {
        retry.run(shouldStop: shouldStop, kind: kind) { try serve(shouldStop) }
        log.info("relay stopped", ["relayed": "\(metrics.relayed.value)"])
    }

    /// One session with the database and one producer, until either fails.
    private func serve(_ shouldStop: () -> Bool) throws {
        // However it ends, the turn ends with it.
        defer { readiness.set(.ill("has lost its turn, or could not ask for it")) }
        let session = try OutboxRelaySession(settings, metrics: metrics, log: log)
        guard try waitForTurn(session, shouldStop) else { return }
        try settings.prepareTopics()
        try session.listen()
        log.info("relay active")
        readiness.set(.well("active"))
        while !shouldStop() {
            let pass = try session.pass(shouldStop)
            if pass.sent > 0 || pass.isEmpty { retry.isWell() }
            try prune(session)
            if pass.isEmpty { try wait(session, shouldStop) }
        }
    }

    private func waitForTurn(_ session: OutboxRelaySession, _ shouldStop: () -> Bool) throws -> Bool {
        var hasSaid = false
        while !shouldStop() {
            if try session.acquireTurn() { return true }
            retry.isOver()
            let isBehindRelay = try session.isBehindRelay()
            readiness.set(
                isBehindRelay
                    ? .well("another relay is active; this one waits")
                    : .ill("the relays' turn is held by somebody who relays nothing; pg_locks has the session"))
            if !hasSaid { log.info("another relay is active; this one waits for its end") }
            hasSaid = true
            BackOff.pause(OutboxRelay.turnMs, shouldStop)
        }
        return false
    }

    private func wait(_ session: OutboxRelaySession, _ shouldStop: () -> Bool) throws {
        // However many tell: every login of the database may `NOTIFY`.
        BackOff.pause(OutboxRelay.restMs, shouldStop)
        let deadline = Clock.steadyMs() + OutboxRelay.pollMs
        while !shouldStop(), Clock.steadyMs() < deadline {
            if try session.wasTold(timeoutMs: OutboxRelay.sliceMs) { return }
        }
    }

    private func prune(_ session: OutboxRelaySession) throws {
        guard Clock.steadyMs() >= nextPruneMs else { return }
        let (pruned, isAll) = try session.prune(rowsMax: settings.rejectedRowsMax)
        metrics.pruned.add(pruned)
        // A little at a time: what waits in the outbox comes first.
        nextPruneMs = Clock.steadyMs() + (isAll ? OutboxRelay.pruneMs : 0)
        if pruned > 0 { log.info("oldest rows of rejected records pruned", ["rows": "\(pruned)"]) }
        guard isAll else { return }
        let ended = try session.endLongLogins()
        if ended > 0 {
            log.warning(
                "database connections of people's logins took too long and were ended", ["connections": "\(ended)"])
        }
    }

    private func kind(_ error: any Error) -> String {
        metrics.failures.add()
        return error is PostgresError ? "database" : "broker"
    }
}

/// Whether a relay relays, or could at once take over from one that does.
package final class OutboxRelayReadiness: Sendable {
    private let found = Mutex(Health.Finding.ill("has not had its turn yet"))

    package var finding: Health.Finding { found.withLock { $0 } }

    func set(_ finding: Health.Finding) { found.withLock { $0 = finding } }
}

/// The relay's figures, by the names that Prometheus reads.
struct OutboxRelayMetrics {
    let relayed: Counter
    let refused: Counter
    let pruned: Counter
    let failures: Counter

    init(_ metrics: Metrics) {
        relayed = metrics.counter("drover_outbox_relayed_total", "Records brought from the outbox to the topics.")
        refused = metrics.counter("drover_outbox_refused_total", "Records that the broker will never take.")
        pruned = metrics.counter("drover_rejected_pruned_total", "Oldest rows of rejected records deleted.")
        failures = metrics.counter("drover_relay_failures_total", "Times the relay started again.")
    }
}
