package import Fleet
package import Notifications
package import Postgres

/// People's settings of their notices, and their notices. As drover_page: row-level security holds everybody to their own.
package enum NoticeSettingStore {
    package static func setting(of account: String, on connection: Connection) throws -> NoticeSetting {
        try connection.query("SELECT * FROM drover.notice_setting WHERE account = $1", [.text(account)]).first
            .map { try NoticeSetting($0) } ?? NoticeSetting()
    }

    /// All but the webhook, which has a form of its own.
    package static func save(_ setting: NoticeSetting, of account: String, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.notice_setting (account, critical_manner, critical_channels, warning_manner,
                warning_channels, daily_minute, quiet_from, quiet_until, quiet_critical, backlog, repeat_min,
                made_machines, mail_ended_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, CASE WHEN $13 THEN now() END)
            ON CONFLICT (account) DO UPDATE SET critical_manner = EXCLUDED.critical_manner,
                critical_channels = EXCLUDED.critical_channels, warning_manner = EXCLUDED.warning_manner,
                warning_channels = EXCLUDED.warning_channels, daily_minute = EXCLUDED.daily_minute,
                quiet_from = EXCLUDED.quiet_from, quiet_until = EXCLUDED.quiet_until,
                quiet_critical = EXCLUDED.quiet_critical, backlog = EXCLUDED.backlog,
                repeat_min = EXCLUDED.repeat_min, made_machines = EXCLUDED.made_machines,
                mail_ended_at = EXCLUDED.mail_ended_at
            """,
            [
                .text(account), .text(setting.critical.manner.rawValue), channels(setting.critical),
                .text(setting.warning.manner.rawValue), channels(setting.warning),
                .int4(Int32(setting.dailyMinute)), setting.quiet.map { .int4(Int32($0.from)) } ?? .null,
                setting.quiet.map { .int4(Int32($0.until)) } ?? .null, .bool(setting.isQuietForCritical),
                .text(setting.backlog.rawValue), .int4(Int32(setting.repeatMin)), .bool(setting.hasMadeMachines),
                .bool(setting.isMailEnded),
            ])
    }

    private static func channels(_ way: NoticeSetting.Way) -> Parameter {
        .textArray(way.channels.map(\.rawValue).sorted())
    }

    /// - Parameter webhook: nil: none any more. The key is encrypted.
    package static func save(
        webhook: (url: String, key: [UInt8])?, of account: String, on connection: Connection
    ) throws {
        try connection.query(
            """
            INSERT INTO drover.notice_setting (account, webhook_url, webhook_key) VALUES ($1, $2, $3)
            ON CONFLICT (account) DO UPDATE SET webhook_url = EXCLUDED.webhook_url, webhook_key = EXCLUDED.webhook_key
            """,
            [.text(account), webhook.map { .text($0.url) } ?? .null, webhook.map { .bytes($0.key) } ?? .null])
    }

    // MARK: Colleagues

    package struct Step: Sendable, Equatable {
        package let afterMin: Int
        package let colleague: String
        package init(afterMin: Int, colleague: String) { (self.afterMin, self.colleague) = (afterMin, colleague) }
    }

    package static func steps(of account: String, on connection: Connection) throws -> [Step] {
        try connection.query(
            "SELECT after_min, colleague FROM drover.notice_step WHERE account = $1 ORDER BY step", [.text(account)]
        ).map { Step(afterMin: try $0.int(0)!, colleague: try $0.text(1)!) }
    }

    /// In the place of those that are there. Precondition: at most three.
    package static func save(_ steps: [Step], of account: String, on connection: Connection) throws {
        try connection.query("DELETE FROM drover.notice_step WHERE account = $1", [.text(account)])
        for (index, step) in steps.enumerated() {
            try connection.query(
                "INSERT INTO drover.notice_step (account, step, after_min, colleague) VALUES ($1, $2, $3, $4)",
                [.text(account), .int4(Int32(index + 1)), .int4(Int32(step.afterMin)), .text(step.colleague)])
        }
    }

    /// People of one's own fleets.
    package static func colleagues(on connection: Connection) throws -> [(account: String, name: String)] {
        try connection.query("SELECT account, name FROM drover.colleagues()").map {
            (try $0.text(0)!, try $0.text(1)!)
        }
    }

    // MARK: Browsers

    package static func subscribe(
        endpoint: String, key: [UInt8], auth: [UInt8], agent: String, on connection: Connection
    ) throws {
        try connection.query(
            "SELECT drover.subscribe_push($1, $2, $3, $4)",
            [.text(endpoint), .bytes(key), .bytes(auth), .text(agent)])
    }

    package static func browsers(of account: String, on connection: Connection) throws -> [(
        endpoint: String, agent: String, madeMs: Int64
    )] {
        try connection.query(
            """
            SELECT endpoint, agent, made_at FROM drover.push_subscription WHERE account = $1 ORDER BY made_at DESC
            """, [.text(account)]
        ).map { (try $0.text(0)!, try $0.text(1)!, try $0.timestampMs(2)!) }
    }

    package static func unsubscribe(endpoint: String, of account: String, on connection: Connection) throws {
        try connection.query(
            "DELETE FROM drover.push_subscription WHERE endpoint = $1 AND account = $2",
            [.text(endpoint), .text(account)])
    }

    // MARK: What was told

    package struct Told: Sendable {
        package let account, alert, vehicle, parameter: String
        package let occasion: NoticeOccasion
        package let relation: NoticeRelation
        package let state: NoticeState
        package let reason: String
        package let decidedMs, dueMs: Int64
        /// `mail: sent`, with what the other side answered.
        package let messages: [String]
    }

    /// The latest first: one's own, or all where somebody runs the installation.
    package static func told(rowsMax: Int64, on connection: Connection) throws -> [Told] {
        try connection.query(
            """
            SELECT n.account, n.alert_id, n.vehicle, coalesce(a.parameter, '') AS parameter, n.occasion, n.relation,
                n.state, n.reason, n.decided_at, n.due_at, ARRAY(
                    SELECT m.channel || ': ' || m.state || coalesce(' (' || m.answer || ')', '')
                    FROM drover.notice_told t JOIN drover.notice_message m USING (message_id)
                    WHERE t.notice_id = n.notice_id ORDER BY m.made_at, m.channel) AS messages
            FROM (SELECT * FROM drover.notice ORDER BY decided_at DESC, notice_id LIMIT $1) AS n
            LEFT JOIN drover.alert a ON a.alert_id = n.alert_id
            ORDER BY n.decided_at DESC, n.notice_id
            """, [.int8(rowsMax)]
        ).map { row in
            Told(
                account: try row.text("account")!, alert: try row.text("alert_id")!, vehicle: try row.text("vehicle")!,
                parameter: try row.text("parameter")!, occasion: try row.word("occasion")!,
                relation: try row.word("relation")!, state: try row.word("state")!, reason: try row.text("reason")!,
                decidedMs: try row.timestampMs("decided_at")!, dueMs: try row.timestampMs("due_at")!,
                messages: (try row.textArray("messages") ?? []).compactMap(\.self))
        }
    }

    /// A message that does not go out as it should.
    package struct Trouble: Sendable {
        /// Messages that wait for more than ten minutes, since when, and those refused within a day.
        package let late: Int
        package let oldestMs: Int64?
        package let refused: Int
        /// Alerts that nobody has decided about for more than a minute.
        package let undecided: Int
    }

    /// For who runs the installation.
    package static func trouble(on connection: Connection) throws -> Trouble {
        let row = try connection.query(
            """
            SELECT count(*) FILTER (WHERE state = 'waiting' AND made_at < now() - interval '10 minutes') AS late,
                min(made_at) FILTER (WHERE state = 'waiting') AS oldest,
                count(*) FILTER (WHERE state = 'refused' AND settled_at > now() - interval '1 day') AS refused,
                drover.notices_undecided() AS undecided
            FROM drover.notice_message WHERE state = 'waiting' OR settled_at > now() - interval '1 day'
            """)[0]
        return Trouble(
            late: try row.int("late")!, oldestMs: try row.timestampMs("oldest"), refused: try row.int("refused")!,
            undecided: try row.int("undecided")!)
    }

    // MARK: Links

    package struct Linked: Sendable {
        package let account: String
        package let roles: Set<Role>
        package let kind: VehicleKind
        package let alert, vehicle, parameter: String
    }

    /// Alerts that a mailed link would acknowledge, as far as the vehicle is the account's to speak of: empty where the link is unknown, used,
    /// too late or all is over.
    package static func look(at link: [UInt8], on connection: Connection) throws -> [Linked] {
        try connection.query(
            "SELECT account, roles, kind, alert_id, vehicle, parameter FROM drover.notice_link_alerts($1)",
            [.bytes(link)]
        ).map {
            Linked(
                account: try $0.text(0)!, roles: Set(try $0.words("roles") ?? []), kind: try $0.word("kind")!,
                alert: try $0.text(3)!, vehicle: try $0.text(4)!, parameter: try $0.text(5)!)
        }
    }

    package static func use(link: [UInt8], on connection: Connection) throws {
        try connection.query("SELECT drover.use_notice_link($1)", [.bytes(link)])
    }

    package static func endMail(of account: String, on connection: Connection) throws {
        try connection.query("SELECT drover.end_notice_mail($1)", [.text(account)])
    }
}
