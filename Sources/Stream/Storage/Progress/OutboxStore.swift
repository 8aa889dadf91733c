package import Alerts
internal import Codecs
internal import Fleet
package import Formats
package import Notifications
package import Pipeline
package import Postgres

/// A record that leaves the database for a topic. At least once: `recordID` tells repeats, as the Kafka header `id` and
/// as the JSON's `id`. Records of one key keep their order.
package struct OutboxRecord: Sendable {
    package let topic: String
    package let key: String
    package let recordID: String
    let json: String
    /// The account whose open page it reaches, too; nil: nobody's.
    var account: String?
    /// The event that people may have to be told of; nil: none.
    package private(set) var notice: NoticeEvent?

    /// `fields` follow `schema`, `kind` and `id`.
    package init(
        _ publication: Publication, key: String, recordID: String, kind: String, fields: [JSONValue.Field]
    ) {
        topic = publication.topic
        self.key = key
        self.recordID = recordID
        let head: [JSONValue.Field] = [("schema", .integer(1)), ("kind", .text(kind)), ("id", .text(recordID))]
        json = JSONValue.object(head + fields).rendered()
    }
}

extension OutboxRecord {
    package init(_ transition: AlertTransition) {
        topic = Publication.alerts.topic
        key = transition.key
        recordID = transition.id
        json = String(decoding: RecordWriter.alert(transition), as: UTF8.self)
        let episode = transition.alert.episode
        if episode.parameter.isOfCars { account = episode.model }
        notice = NoticeEvent(
            alert: transition.alert.id, transition: transition.kind, toldMs: transition.pushedMs)
    }
}

/// A row of the outbox as the relay reads it.
package struct OutboxRow: Sendable {
    package let outboxID: Int64
    package let topic: String
    package let key: String
    package let recordID: String
    package let record: String

    package init(outboxID: Int64, topic: String, key: String, recordID: String, record: String) {
        self.outboxID = outboxID
        self.topic = topic
        self.key = key
        self.recordID = recordID
        self.record = record
    }
}

/// The table between the worker's transaction and the relay.
package enum OutboxStore {
    package static let channel = "drover_outbox"

    /// Within the transaction that decided what the records say. The order given is the order kept.
    package static func write(_ records: [OutboxRecord], on connection: Connection) throws {
        guard !records.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO drover.outbox (topic, key, record_id, record)
            SELECT topic, key, record_id, record
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
                WITH ORDINALITY AS row(topic, key, record_id, record, place) ORDER BY place
            """, parameters(records))
    }

    /// Keeps records that a replay would tell, in its own schema, where no relay looks. The same again changes nothing.
    package static func keep(_ records: [OutboxRecord], on connection: Connection) throws {
        guard !records.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO outbox (topic, key, record_id, record)
            SELECT topic, key, record_id, record
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
                WITH ORDINALITY AS row(topic, key, record_id, record, place) ORDER BY place
            ON CONFLICT (record_id, topic) DO NOTHING
            """, parameters(records))
    }

    private static func parameters(_ records: [OutboxRecord]) -> [Parameter] {
        [
            .textArray(records.map(\.topic)), .textArray(records.map(\.key)), .textArray(records.map(\.recordID)),
            .textArray(records.map(\.json)),
        ]
    }

    /// Writes events that are told to accounts, beside their records in the outbox. Under a lock of each account until the end of the
    /// transaction, so that of two events of one account the later one becomes visible later: to be called last.
    package static func writeEvents(_ records: [OutboxRecord], on connection: Connection) throws {
        // Nobody comes for those of the installation, and all partitions would wait for its lock.
        let events = records.filter { $0.account != nil && $0.account != InstallationLimits.account }
        guard !events.isEmpty else { return }
        let accounts = Parameter.textArray(events.map { $0.account! })
        try NamedLocks.acquire(.accountEvents, ofEach: events.map { $0.account! }, on: connection)
        try connection.query(
            """
            INSERT INTO drover.alert_event (account, record_id, record)
            SELECT account, record_id, record
            FROM unnest($1::text[], $2::text[], $3::text[])
                WITH ORDINALITY AS row(account, record_id, record, place) ORDER BY place
            """, [accounts, .textArray(events.map(\.recordID)), .textArray(events.map(\.json))])
        try connection.execute(
            """
            DELETE FROM drover.alert_event WHERE event_id IN (
                SELECT event_id FROM drover.alert_event WHERE made_at < now() - interval '7 days'
                ORDER BY made_at LIMIT 1000 FOR UPDATE SKIP LOCKED)
            """)
    }

    /// The relays' turn, until the end of the transaction. Throws when somebody has it.
    package static func acquireTurn(on connection: Connection) throws {
        try connection.execute("LOCK TABLE drover.relay_turn IN SHARE ROW EXCLUSIVE MODE NOWAIT")
    }

    /// Whether a session of that name, of a login that may relay, has the turn.
    package static func hasRelay(named name: String, on connection: Connection) throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (
                SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
                WHERE l.relation = 'drover.relay_turn'::regclass AND a.datname = current_database() AND l.granted
                    AND l.mode = 'ShareRowExclusiveLock' AND a.application_name = $1
                    AND pg_has_role(a.usesysid, 'drover_relay', 'MEMBER'))
            """, [.text(name)])[0].bool(0)!
    }

    /// The oldest rows that are there, whatever was read before: transactions become visible in another order than
    /// that of their ids. At most `bytesMax` of records, but always one row.
    package static func read(rowsMax: Int, bytesMax: Int, on connection: Connection) throws -> [OutboxRow] {
        try connection.query(
            """
            SELECT outbox_id, topic, key, record_id, record
            FROM (
                SELECT *, sum(octet_length(record)) OVER (ORDER BY outbox_id) - octet_length(record) AS bytes_before
                FROM (SELECT * FROM drover.outbox WHERE refused IS NULL ORDER BY outbox_id LIMIT $1) AS oldest
            ) AS measured
            WHERE bytes_before < $2 ORDER BY outbox_id
            """, [.int8(Int64(rowsMax)), .int8(Int64(bytesMax))]
        ).map { row in
            OutboxRow(
                outboxID: Int64(try row.int(0)!), topic: try row.text(1)!, key: try row.text(2)!,
                recordID: try row.text(3)!, record: try row.text(4)!)
        }
    }

    package static func delete(_ ids: [Int64], on connection: Connection) throws {
        guard !ids.isEmpty else { return }
        try connection.query("DELETE FROM drover.outbox WHERE outbox_id = ANY($1)", [.int8Array(ids)])
    }

    /// Sets rows aside that the broker will never take, so that the others go on.
    package static func refuse(_ rows: [(id: Int64, reason: String)], on connection: Connection) throws {
        guard !rows.isEmpty else { return }
        try connection.query(
            """
            UPDATE drover.outbox SET refused = row.reason
            FROM unnest($1::bigint[], $2::text[]) AS row(id, reason) WHERE outbox_id = row.id
            """, [.int8Array(rows.map(\.id)), .textArray(rows.map(\.reason))])
    }
}
