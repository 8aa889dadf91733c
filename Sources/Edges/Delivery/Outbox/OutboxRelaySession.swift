package import Kafka
internal import Postgres
package import Storage
internal import Telemetry

/// The active relay's connection and producer. Both are dropped when either fails: the next one reads the remaining rows.
final class OutboxRelaySession {
    private static let name = "drover-notify"
    static let rowsMax = 1_000
    static let bytesMax = 16 << 20
    private static let pruneMost = 10_000
    /// A broker that acknowledges nothing for so long is spoken of.
    private static let patienceMs: Int64 = 3_000
    private static let stopPatienceMs: Int64 = 1_000

    private let connection: Connection
    /// Holds the relays' turn, in a transaction that does nothing else: it has no snapshot and no number, and so holds back no vacuum but
    /// that of the turn's own table.
    private let turn: Connection
    private var turnTakenMs = Clock.steadyMs()
    /// Short enough to let vacuum run: otherwise the database would run out of transaction ids.
    private static let turnPeriodMs: Int64 = 86_400_000
    private let producer: Producer
    private let metrics: OutboxRelayMetrics
    private let log: Log

    init(_ settings: OutboxRelaySettings, metrics: OutboxRelayMetrics, log: Log) throws {
        self.metrics = metrics
        self.log = log
        connection = try Connection.ofService(conninfo: settings.conninfo, applicationName: OutboxRelaySession.name)
        turn = try Connection.ofService(conninfo: settings.conninfo, applicationName: OutboxRelaySession.name)
        // A relay whose machine vanished must not hold the turn for long. The index is forced for the oldest rows, whatever statistics say
        // of a table that is empty most of the time. A deletion lost in a crash of the server only sends its rows again, so none is waited
        // for.
        try connection.execute(OutboxRelaySession.keepalives + "SET enable_seqscan = off; SET synchronous_commit = off")
        try turn.execute(OutboxRelaySession.keepalives + "SET idle_in_transaction_session_timeout = 0")
        // No time-out: a record that is given up while later ones of its key are sent would break the order.
        producer = try Producer(settings.kafka, Producer.Tuning(lingerMs: 0, timeoutMs: 0))
    }

    private static let keepalives =
        "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "

    /// True: this is the active relay as long as the session lives.
    func acquireTurn() throws -> Bool {
        try turn.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        do {
            try OutboxStore.acquireTurn(on: turn)
            turnTakenMs = Clock.steadyMs()
            return true
        } catch let error as PostgresError where error.sqlState == PostgresError.lockNotAvailable {
            try turn.execute("ROLLBACK")
            return false
        }
    }

    /// Whether the turn is held by a relay's session, and not by one that relays nothing.
    func isBehindRelay() throws -> Bool { try OutboxStore.hasRelay(named: OutboxRelaySession.name, on: connection) }

    private struct TurnLost: Error, CustomStringConvertible {
        let description = "another session took the relays' turn when it was given up for a moment"
    }

    /// Precondition: nothing is under way.
    private func renewTurn() throws {
        guard Clock.steadyMs() - turnTakenMs >= OutboxRelaySession.turnPeriodMs else { return }
        try turn.execute("COMMIT")
        guard try acquireTurn() else { throw TurnLost() }
    }

    /// Throws when the turn is gone: another relay may be sending the same rows by now.
    private func checkTurn() throws {
        _ = try turn.notifications(timeoutMs: 0)
        _ = try connection.notifications(timeoutMs: 0)
    }

    func listen() throws { try connection.listen(to: OutboxStore.channel) }

    func wasTold(timeoutMs: Int32) throws -> Bool {
        // Nothing is under way. It takes up renewed certificates, so that it need not wait for a record to do so.
        _ = producer.deliveries(timeoutMs: 0)
        return try !connection.notifications(timeoutMs: timeoutMs).isEmpty
    }

    func endLongLogins() throws -> Int { try DatabaseLogin.endLong(on: connection) }

    func prune(rowsMax: Int64) throws -> (pruned: Int, isAll: Bool) {
        let pruned = try RejectedStore.prune(rowsMax: rowsMax, most: OutboxRelaySession.pruneMost, on: connection)
        return (pruned, pruned < OutboxRelaySession.pruneMost)
    }

    /// Sends the oldest rows and deletes what the broker has acknowledged. Throws when it is the broker's fault that
    /// some were not; those stay.
    func pass(_ shouldStop: () -> Bool) throws -> (sent: Int, isEmpty: Bool) {
        try renewTurn()
        try checkTurn()
        let rows = try OutboxStore.read(
            rowsMax: OutboxRelaySession.rowsMax, bytesMax: OutboxRelaySession.bytesMax, on: connection)
        guard !rows.isEmpty else { return (0, true) }
        var settled = Settled(rows)
        for (index, row) in rows.enumerated() {
            do {
                try producer.produce(
                    topic: row.topic, partition: nil, key: Array(row.key.utf8), value: Array(row.record.utf8),
                    timestampMs: nil, header: (name: "id", value: row.recordID), tag: index)
            } catch let error as KafkaError where error.isAboutRecord {
                settled.record(index, failure: error)
            }
        }
        try awaitAcknowledgements(&settled, shouldStop)
        try OutboxStore.delete(settled.deletable(), on: connection)
        try OutboxStore.refuse(settled.refused, on: connection)
        metrics.relayed.add(settled.acknowledged)
        metrics.refused.add(settled.refused.count)
        for refused in settled.refused {
            log.error(
                "the broker will not take a record; it is set aside in drover.outbox",
                ["outbox_id": "\(refused.id)", "error": "\(refused.reason)"])
        }
        if let failure = settled.failure { throw failure }
        return (settled.acknowledged, false)
    }

    private func awaitAcknowledgements(_ settled: inout Settled, _ shouldStop: () -> Bool) throws {
        var (movedMs, hasSaid, stopMs): (Int64, Bool, Int64?) = (Clock.steadyMs(), false, nil)
        while settled.openRows > 0 {
            let deliveries = producer.deliveries(timeoutMs: 100)
            for delivery in deliveries { settled.record(delivery.tag, failure: delivery.failure) }
            let now = Clock.steadyMs()
            if !deliveries.isEmpty {
                if hasSaid { log.info("the broker acknowledges again") }
                movedMs = now
                hasSaid = false
                continue
            }
            try checkTurn()
            if shouldStop() {
                stopMs = stopMs ?? now
                if now - stopMs! >= OutboxRelaySession.stopPatienceMs { return }
            }
            if now - movedMs >= OutboxRelaySession.patienceMs, !hasSaid {
                hasSaid = true
                log.warning(
                    "the broker does not acknowledge; what waits in the outbox is kept",
                    ["under_way": "\(settled.openRows)"])
            }
        }
    }
}

/// The results of one batch of the outbox. Pure bookkeeping.
package struct Settled {
    private enum Fate { case open, acknowledged, refused(String), failed }

    private let rows: [OutboxRow]
    private var fates: [Fate]
    package private(set) var openRows: Int
    package private(set) var acknowledged = 0
    /// The error of records that the broker may accept another time.
    package private(set) var failure: KafkaError?

    package init(_ rows: [OutboxRow]) {
        self.rows = rows
        fates = Array(repeating: .open, count: rows.count)
        openRows = rows.count
    }

    package mutating func record(_ row: Int, failure: KafkaError?) {
        guard case .open = fates[row] else { return }
        openRows -= 1
        guard let failure else {
            fates[row] = .acknowledged
            acknowledged += 1
            return
        }
        if failure.isAboutRecord {
            fates[row] = .refused(failure.description)
        } else {
            fates[row] = .failed
            self.failure = self.failure ?? failure
        }
    }

    /// Acknowledged, and not behind a row of the same key that has to be sent again: that one would overtake it.
    package func deletable() -> [Int64] {
        var blocked: Set<String> = []
        var ids: [Int64] = []
        for (row, fate) in zip(rows, fates) {
            switch fate {
            case .acknowledged: if !blocked.contains(row.topic + "\n" + row.key) { ids.append(row.outboxID) }
            case .refused: break
            case .open, .failed: blocked.insert(row.topic + "\n" + row.key)
            }
        }
        return ids
    }

    var refused: [(id: Int64, reason: String)] {
        zip(rows, fates).compactMap { row, fate in
            guard case .refused(let reason) = fate else { return nil }
            return (row.outboxID, reason)
        }
    }
}
