internal import Alerts
package import Notifications
package import Postgres

/// A message that goes out on one channel.
package struct NewNoticeMessage: Sendable {
    package let id, account: String
    package let channel: NoticeChannel
    package let manner: NoticeManner
    /// Encrypted; nil: a mail.
    package let payload: [UInt8]?
    /// Digest of what its link acknowledges with, and until when it is good.
    package let link: [UInt8]?
    package let linkExpiresMs: Int64
    package let notices: [String]

    package init(
        id: String, account: String, channel: NoticeChannel, manner: NoticeManner, payload: [UInt8]?,
        link: [UInt8]?, linkExpiresMs: Int64, notices: [String]
    ) {
        self.id = id
        self.account = account
        self.channel = channel
        self.manner = manner
        self.payload = payload
        self.link = link
        self.linkExpiresMs = linkExpiresMs
        self.notices = notices
    }
}

/// A message for a webhook or for browsers.
package struct WaitingNoticeMessage: Sendable {
    package let id, account: String
    package let channel: NoticeChannel
    /// Encrypted.
    package let payload: [UInt8]
    package let tries: Int
    package let madeMs: Int64
}

/// A browser that takes pushes (W3C Push API).
package struct PushSubscription: Sendable {
    package let endpoint: String
    /// Its public key: a point of P-256, 65 bytes; and its secret of 16.
    package let key, auth: [UInt8]
}

/// The tables of notices: what to tell, to whom, and what became of it.
package enum NoticeStore {
    package static let channel = "drover_notice"

    // MARK: Events

    /// Within the transaction that decided them.
    ///
    /// - Parameter schema: `drover`, or that of a replay, where no relay looks.
    package static func write(
        _ events: [NoticeEvent], schema: String = SchemaConnection.liveSchema, on connection: Connection
    ) throws {
        guard !events.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO \(schema).notice_event (alert_id, transition, told_at)
            SELECT alert_id, transition, told_at FROM unnest($1::text[], $2::text[], $3::timestamptz[])
                WITH ORDINALITY AS row(alert_id, transition, told_at, place) ORDER BY place
            """,
            [
                .textArray(events.map(\.alert)), .textArray(events.map(\.transition.rawValue)),
                .timestampArray(events.map(\.toldMs)),
            ])
    }

    /// The oldest events, taken away within this transaction: they are there again when it fails.
    package static func dequeueEvents(rowsMax: Int64, on connection: Connection) throws -> [NoticeEvent] {
        try connection.query(
            """
            WITH gone AS (
                DELETE FROM drover.notice_event WHERE event_id IN (
                    SELECT event_id FROM drover.notice_event ORDER BY event_id LIMIT $1 FOR UPDATE SKIP LOCKED)
                RETURNING *)
            SELECT alert_id, transition, told_at FROM gone ORDER BY event_id
            """, [.int8(rowsMax)]
        ).map { row in
            NoticeEvent(
                alert: try row.text(0)!, transition: try row.word(1)!, toldMs: try row.timestampMs(2)!)
        }
    }

    /// One relay at a time decides; the others get false. Until the end of the transaction.
    package static func acquireTurn(on connection: Connection) throws -> Bool {
        try NamedLocks.tryAcquire(.notices, on: connection)
    }

    // MARK: Facts

    package static func people(near alerts: [String], on connection: Connection) throws -> [NoticePerson] {
        try connection.query("SELECT alert_id, account, relation FROM drover.notice_people($1)", [.textArray(alerts)])
            .map { NoticePerson(alert: try $0.text(0)!, account: try $0.text(1)!, relation: try $0.word(2)!) }
    }

    /// By whose rule it was judged.
    private static let rule =
        "CASE a.kind WHEN 'machine' THEN drover.rule_whose(drover.rule_text(a.rules_version), a.vehicle, a.model, a.parameter) END"

    package static func alerts(_ ids: [String], on connection: Connection) throws -> [String: NoticeAlert] {
        let rows = try connection.query(
            """
            SELECT a.*, r.name AS vehicle_name, \(rule) AS rule FROM drover.alert_now a
            LEFT JOIN drover.registration r ON r.kind = a.kind AND r.vehicle = a.vehicle
            WHERE a.alert_id = ANY ($1)
            """, [.textArray(ids)])
        return try rows.reduce(into: [:]) { alerts, row in
            let alert = try NoticeAlert(row)
            alerts[alert.id] = alert
        }
    }

    /// Open alerts, and those that ended or were taken back since then and did not open again, with the accounts of their
    /// dealers.
    package static func standing(
        sinceMs: Int64, on connection: Connection
    ) throws -> [(alert: NoticeAlert, dealers: String)] {
        try connection.query(
            """
            SELECT a.*, r.name AS vehicle_name, \(rule) AS rule, (
                SELECT string_agg(d.dealer, ',' ORDER BY d.dealer) FROM drover.dealership d
                WHERE a.kind = 'machine' AND d.vehicle = a.vehicle AND d.confirmed_at <= a.opened_at AND d.ended_at IS NULL
                ) AS dealers
            FROM drover.alert_now a LEFT JOIN drover.registration r ON r.kind = a.kind AND r.vehicle = a.vehicle
            WHERE a.state IN ('open', 'due_soon') OR (greatest(a.resolved_told_at, a.revised_at) >= $1
                AND NOT EXISTS (SELECT FROM drover.alert o WHERE o.vehicle = a.vehicle AND o.kind = a.kind
                    AND o.parameter = a.parameter AND o.state IN ('open', 'due_soon')))
            ORDER BY a.opened_at, a.alert_id LIMIT 50000
            """, [.timestampMs(sinceMs)]
        ).map { (try NoticeAlert($0), try $0.text("dealers") ?? "") }
    }

    package static func accounts(_ ids: [String], on connection: Connection) throws -> [String: NoticeAccount] {
        let rows = try connection.query(
            """
            SELECT account, mail, name, units, zone, is_enabled, pushes, steps, colleagues, (setting).*
            FROM drover.notice_accounts($1)
            """, [.textArray(ids)])
        return try rows.reduce(into: [:]) { accounts, row in
            let account = try NoticeAccount(row)
            accounts[account.id] = account
        }
    }

    // MARK: Notices

    package static func notices(of alerts: [String], on connection: Connection) throws -> [Notice] {
        try connection.query(
            "SELECT \(columns) FROM drover.notice WHERE alert_id = ANY ($1)", [.textArray(alerts)]
        ).map(Notice.init)
    }

    /// Accounts that something is due for.
    package static func due(on connection: Connection) throws -> [String] {
        try connection.query(
            """
            SELECT account FROM drover.notice WHERE state = 'waiting' AND due_at <= now()
            GROUP BY account ORDER BY min(due_at) LIMIT 200
            """
        ).map { try $0.text(0)! }
    }

    /// Notices that are due for an account, held until the end of the transaction.
    package static func due(for account: String, rowsMax: Int64, on connection: Connection) throws -> [Notice] {
        try connection.query(
            """
            SELECT \(columns) FROM drover.notice WHERE account = $1 AND state = 'waiting' AND due_at <= now()
            ORDER BY due_at, notice_id LIMIT $2 FOR UPDATE SKIP LOCKED
            """, [.text(account), .int8(rowsMax)]
        ).map(Notice.init)
    }

    /// New ones. Of those that are there already, one that waits longer is due as soon as the new one.
    package static func add(_ notices: [Notice], on connection: Connection) throws {
        guard !notices.isEmpty else { return }
        try connection.query(
            """
            INSERT INTO drover.notice (notice_id, alert_id, account, occasion, round, vehicle, relation, manner, state,
                reason, decided_at, due_at, settled_at)
            SELECT *, CASE WHEN state = 'not_told' THEN decided_at END
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::text[],
                $9::text[], $10::text[], $11::timestamptz[], $12::timestamptz[])
                AS row(notice_id, alert_id, account, occasion, round, vehicle, relation, manner, state, reason,
                    decided_at, due_at)
            ON CONFLICT (notice_id) DO UPDATE SET due_at = least(drover.notice.due_at, EXCLUDED.due_at)
                WHERE drover.notice.state = 'waiting' AND EXCLUDED.state = 'waiting'
            """,
            [
                .textArray(notices.map(\.id)), .textArray(notices.map(\.alert)), .textArray(notices.map(\.account)),
                .textArray(notices.map(\.occasion.rawValue)), .int4Array(notices.map { Int32($0.round) }),
                .textArray(notices.map(\.vehicle)), .textArray(notices.map(\.relation.rawValue)),
                .textArray(notices.map(\.manner.rawValue)), .textArray(notices.map(\.state.rawValue)),
                .textArray(notices.map(\.reason)), .timestampArray(notices.map(\.decidedMs)),
                .timestampArray(notices.map(\.dueMs)),
            ])
    }

    /// Writes the state of notices that are there, its reason and when they are due.
    package static func change(_ notices: [Notice], on connection: Connection) throws {
        guard !notices.isEmpty else { return }
        try connection.query(
            """
            UPDATE drover.notice n SET state = row.state, reason = row.reason, due_at = row.due_at,
                settled_at = CASE WHEN row.state <> 'waiting' THEN now() END
            FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS row(notice_id, state, reason, due_at)
            WHERE n.notice_id = row.notice_id
            """,
            [
                .textArray(notices.map(\.id)), .textArray(notices.map(\.state.rawValue)),
                .textArray(notices.map(\.reason)),
                .timestampArray(notices.map(\.dueMs)),
            ])
    }

    /// When an account's last messages of alerts at once were made, the latest first.
    package static func lastMessages(
        of account: String, sinceMs: Int64, on connection: Connection
    ) throws -> [Int64] {
        try connection.query(
            """
            SELECT DISTINCT made_at FROM drover.notice_message
            WHERE account = $1 AND manner = 'at_once' AND made_at >= $2 ORDER BY made_at DESC
            """, [.text(account), .timestampMs(sinceMs)]
        ).map { try $0.timestampMs(0)! }
    }

    /// Mails that told an account of these alerts, the oldest first.
    package static func mails(about alerts: [String], to account: String, on connection: Connection) throws -> [String]
    {
        try connection.query(
            """
            SELECT message_id FROM (
                SELECT DISTINCT m.message_id, m.made_at FROM drover.notice n
                JOIN drover.notice_told t USING (notice_id) JOIN drover.notice_message m USING (message_id)
                WHERE n.alert_id = ANY ($1) AND n.account = $2 AND m.channel = 'mail'
                ORDER BY m.made_at LIMIT 20) AS told ORDER BY made_at, message_id
            """, [.textArray(alerts), .text(account)]
        ).map { try $0.text(0)! }
    }

    package static func add(_ message: NewNoticeMessage, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.notice_message
                (message_id, account, channel, manner, payload, link, link_expires_at, has_answered)
            SELECT $1, $2, $3, $4, $5, $6, $7, (
                SELECT m.has_answered FROM drover.notice_message m
                WHERE m.account = $2 AND m.channel = $3 AND m.has_answered IS NOT NULL ORDER BY m.made_at DESC LIMIT 1)
            """,
            [
                .text(message.id), .text(message.account), .text(message.channel.rawValue),
                .text(message.manner.rawValue),
                message.payload.map { .bytes($0) } ?? .null, message.link.map { .bytes($0) } ?? .null,
                message.link == nil ? .null : .timestampMs(message.linkExpiresMs),
            ])
        try connection.query(
            "INSERT INTO drover.notice_told (message_id, notice_id) SELECT $1, unnest($2::text[])",
            [.text(message.id), .textArray(message.notices)])
    }

    /// The message for a webhook or for browsers that waits longest of those whose time has come, held until the end of the
    /// transaction. Those whose receivers were silent at the last try come last: each try takes as long as we wait.
    /// - Parameters:
    ///   - answered: only those whose receivers have answered.
    ///   - without: accounts that another message is under way for.
    package static func nextMessage(
        answered: Bool, without: [String], on connection: Connection
    ) throws -> WaitingNoticeMessage? {
        try connection.query(
            """
            SELECT message_id, account, channel, payload, tries, made_at FROM drover.notice_message
            WHERE state = 'waiting' AND channel <> 'mail' AND try_at <= now() AND account <> ALL ($1)
                AND \(answered ? "has_answered" : "true")
            ORDER BY (has_answered IS FALSE), try_at LIMIT 1 FOR UPDATE SKIP LOCKED
            """, [.textArray(without)]
        ).first.map { row in
            WaitingNoticeMessage(
                id: try row.text(0)!, account: try row.text(1)!, channel: try row.word(2)!,
                payload: try row.bytes(3) ?? [], tries: try row.int(4)!, madeMs: try row.timestampMs(5)!)
        }
    }

    /// Notes on all messages that wait for the same receiver whether it has answered, but for those that another relay holds.
    package static func note(
        _ message: WaitingNoticeMessage, hasAnswered: Bool, on connection: Connection
    ) throws {
        try connection.query(
            """
            UPDATE drover.notice_message SET has_answered = $4 WHERE message_id IN (
                SELECT message_id FROM drover.notice_message WHERE message_id = $1
                    OR account = $2 AND channel = $3 AND state = 'waiting' AND has_answered IS DISTINCT FROM $4
                FOR UPDATE SKIP LOCKED)
            """, [.text(message.id), .text(message.account), .text(message.channel.rawValue), .bool(hasAnswered)])
    }

    package static func subscriptions(of account: String, on connection: Connection) throws -> [PushSubscription] {
        try connection.query(
            """
            SELECT endpoint, p256dh, auth FROM drover.push_subscription WHERE account = $1 ORDER BY made_at DESC LIMIT 20
            """, [.text(account)]
        ).map { row in
            PushSubscription(endpoint: try row.text(0)!, key: try row.bytes(1)!, auth: try row.bytes(2)!)
        }
    }

    package static func drop(subscription: String, on connection: Connection) throws {
        try connection.query("DELETE FROM drover.push_subscription WHERE endpoint = $1", [.text(subscription)])
    }

    /// The next message that was refused and not told by mail yet, with its notices; held until the end of the transaction.
    package static func nextRefused(on connection: Connection) throws -> (
        message: String, account: String, manner: NoticeManner, notices: [Notice]
    )? {
        let refused = try connection.query(
            """
            SELECT message_id, account, manner FROM drover.notice_message
            WHERE state = 'refused' AND channel <> 'mail' AND mailed_at IS NULL
            ORDER BY settled_at LIMIT 1 FOR UPDATE SKIP LOCKED
            """
        ).first
        guard let refused else { return nil }
        let id = try refused.text(0)!
        let notices = try connection.query(
            """
            SELECT \(columns) FROM drover.notice n WHERE notice_id IN (
                SELECT notice_id FROM drover.notice_told WHERE message_id = $1)
            AND NOT EXISTS (SELECT FROM drover.notice_told t JOIN drover.notice_message m USING (message_id)
                WHERE t.notice_id = n.notice_id AND m.channel = 'mail')
            """, [.text(id)]
        ).map(Notice.init)
        try connection.query(
            "UPDATE drover.notice_message SET mailed_at = now() WHERE message_id = $1", [.text(id)])
        return (id, try refused.text(1)!, try refused.word(2)!, notices)
    }

    /// Writes the outcome of a message's last try. `waiting`: it will be tried again, after `waitMs`.
    package static func settle(
        _ message: String, as state: NoticeMessageState, answer: String, waitMs: Int64 = 0, on connection: Connection
    ) throws {
        try connection.query(
            """
            UPDATE drover.notice_message SET state = $2, answer = left($3, 120), tries = tries + 1,
                try_at = now() + $4::bigint * interval '1 ms',
                settled_at = CASE WHEN $2 <> 'waiting' THEN now() END,
                payload = CASE WHEN $2 = 'waiting' THEN payload END
            WHERE message_id = $1 AND state = 'waiting'
            """, [.text(message), .text(state.rawValue), .text(answer), .int8(waitMs)])
    }

    private static let columns = """
        notice_id, alert_id, account, occasion, round, vehicle, relation, manner, state, reason, decided_at, due_at
        """
}

extension Notice {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row.text("notice_id")!, alert: try row.text("alert_id")!, account: try row.text("account")!,
            occasion: try row.word("occasion")!, round: try row.int("round")!, vehicle: try row.text("vehicle")!,
            relation: try row.word("relation")!, manner: try row.word("manner")!, state: try row.word("state")!,
            reason: try row.text("reason")!, decidedMs: try row.timestampMs("decided_at")!,
            dueMs: try row.timestampMs("due_at")!)
    }
}
