internal import Alerts
internal import Fleet
package import Notifications
package import Postgres

extension NoticeAlert {
    /// Decodes a row of `drover.alert_now`, with `vehicle_name` and `rule`.
    init(_ row: Row) throws {
        self.init(
            id: try row.text("alert_id")!, kind: try row.word("kind")!, vehicle: try row.text("vehicle")!,
            model: try row.text("model")!, parameter: try row.text("parameter")!, unit: try row.text("unit")!,
            severity: try row.word("severity")!, state: try row.word("state")!, test: try row.word("test")!,
            openedMs: try row.timestampMs("opened_at")!)
        vehicleName = try row.text("vehicle_name") ?? ""
        threshold = try row.double("threshold")
        openingValue = try row.double("opening_value")
        worstValue = try row.double("worst_value")
        recommended = try row.double("recommended")
        advice = try row.text("advice")
        resolvedMs = try row.timestampMs("resolved_at")
        toldMs = try row.timestampMs("told_at")
        resolvedToldMs = try row.timestampMs("resolved_told_at")
        revision = try row.int("revision") ?? 0
        acknowledgedBy = try row.text("acknowledged_by")
        rule = try row.text("rule")
        silencedBy = try row.text("silenced_by")
        silencedUntilMs = try row.timestampMs("silenced_until_at")
    }
}

extension NoticeAccount {
    init(_ row: Row) throws {
        self.init(
            id: try row.text("account")!, mail: try row.text("mail"), zone: try row.text("zone")!,
            // The columns that follow are NULL where nothing was ever said.
            setting: try row.isNull(9) ? NoticeSetting() : NoticeSetting(row))
        name = try row.text("name")!
        units = try row.word("units")!
        isEnabled = try row.bool("is_enabled")!
        pushes = try row.int("pushes")!
        let (minutes, colleagues) = (try row.intArray("steps") ?? [], try row.textArray("colleagues") ?? [])
        steps = zip(minutes, colleagues).compactMap { minutes, colleague in
            minutes.flatMap { minutes in colleague.map { (minutes, $0) } }
        }
    }
}

extension NoticeSetting {
    /// Decodes a row that has the columns of drover.notice_setting.
    package init(_ row: Row) throws {
        func way(_ severity: Episode.Severity) throws -> Way {
            Way(
                try row.word("\(severity.rawValue)_manner")!,
                Set(try row.words("\(severity.rawValue)_channels") ?? []))
        }
        self.init()
        critical = try way(.critical)
        warning = try way(.warning)
        dailyMinute = try row.int("daily_minute")!
        if let from = try row.int("quiet_from"), let until = try row.int("quiet_until") {
            quiet = Quiet(from: from, until: until)
        }
        isQuietForCritical = try row.bool("quiet_critical")!
        backlog = try row.word("backlog")!
        repeatMin = try row.int("repeat_min")!
        hasMadeMachines = try row.bool("made_machines")!
        webhookURL = try row.text("webhook_url")
        webhookKey = try row.bytes("webhook_key")
        isMailEnded = try row.timestampMs("mail_ended_at") != nil
    }
}
