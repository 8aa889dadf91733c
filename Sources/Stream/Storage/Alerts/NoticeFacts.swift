package import Postgres

/// An alert as it stands now, for who is to be told of it.
package struct NoticeAlert: Sendable {
    package var id, kind, vehicle, vehicleName, model, parameter, unit, severity, state, test: String
    package var threshold, openingValue, worstValue, recommended: Double?
    package var advice: String?
    package var openedMs: Int64
    package var resolvedMs: Int64?
    /// When the records that told of its opening and its end were pushed; nil: not known.
    package var toldMs, resolvedToldMs: Int64?
    package var revision: Int
    package var acknowledgedBy, silencedBy: String?
    package var silencedUntilMs: Int64?
    /// `of this machine` or `of model 8R Tractor`; nil: of a car, or not known any more.
    package var rule: String?

    package var isOpen: Bool { state == "open" || state == "due_soon" }
    package var isCritical: Bool { severity == "critical" }

    init(_ row: Row) throws {
        (id, kind, vehicle) = (try row.text("alert_id")!, try row.text("kind")!, try row.text("vehicle")!)
        vehicleName = try row.text("vehicle_name") ?? ""
        (model, parameter, unit) = (try row.text("model")!, try row.text("parameter")!, try row.text("unit")!)
        (severity, state, test) = (try row.text("severity")!, try row.text("state")!, try row.text("test")!)
        threshold = try row.double("threshold")
        (openingValue, worstValue) = (try row.double("opening_value"), try row.double("worst_value"))
        (recommended, advice) = (try row.double("recommended"), try row.text("advice"))
        (openedMs, resolvedMs) = (try row.timestampMs("opened_at")!, try row.timestampMs("resolved_at"))
        (toldMs, resolvedToldMs) = (try row.timestampMs("told_at"), try row.timestampMs("resolved_told_at"))
        revision = try row.int("revision") ?? 0
        acknowledgedBy = try row.text("acknowledged_by")
        rule = try row.text("rule")
        (silencedBy, silencedUntilMs) = (try row.text("silenced_by"), try row.timestampMs("silenced_until_at"))
    }

    /// For tests of the rules.
    package init(id: String, severity: String, openedMs: Int64, toldMs: Int64) {
        (self.id, kind, vehicle, vehicleName) = (id, "machine", "8R-1", "")
        (model, parameter, unit, self.severity) = ("8R Tractor", "Engine coolant temperature", "°C", severity)
        (state, test, threshold, openingValue) = ("open", "above", 105, 108)
        (worstValue, recommended, advice) = (108, nil, nil)
        (self.openedMs, self.toldMs, revision, rule) = (openedMs, toldMs, 0, nil)
    }
}

/// What is known of an account that matters for telling it something.
package struct NoticeAccount: Sendable {
    package let id: String
    /// Nil: erased.
    package let mail: String?
    /// First and last name; may be empty.
    package let name: String
    /// `metric` or `us`.
    package let units: String
    package let zone: String
    /// Confirmed and not disabled.
    package let isEnabled: Bool
    /// Browsers that it may be pushed to.
    package let pushes: Int
    /// Whom to tell when it does not acknowledge, and after how many minutes.
    package let steps: [(afterMin: Int, colleague: String)]
    package let setting: NoticeSetting

    init(_ row: Row) throws {
        (id, mail, name) = (try row.text(0)!, try row.text(1), try row.text(2)!)
        (units, zone, isEnabled) = (try row.text(3)!, try row.text(4)!, try row.bool(5)!)
        pushes = try row.int(6)!
        let (minutes, colleagues) = (try row.intArray(7) ?? [], try row.textArray(8) ?? [])
        steps = zip(minutes, colleagues).compactMap { minutes, colleague in
            minutes.flatMap { minutes in colleague.map { (minutes, $0) } }
        }
        setting = row.isNull(9) ? NoticeSetting() : try NoticeSetting(row)
    }

    /// For tests of the rules.
    package init(id: String, zone: String = "UTC", setting: NoticeSetting = NoticeSetting()) {
        (self.id, mail, name, units, self.zone) = (id, "\(id)@example.org", "", "metric", zone)
        (isEnabled, pushes, steps, self.setting) = (true, 0, [], setting)
    }
}

/// What an account wants to be told, how and when. What stands here are the standards, as in `drover.notice_setting`.
package struct NoticeSetting: Sendable, Equatable {
    /// How alerts of one severity are told.
    package struct Way: Sendable, Equatable {
        /// at_once, daily or never.
        package var manner: String
        /// Of mail, push and webhook.
        package var channels: Set<String>
        package init(_ manner: String, _ channels: Set<String>) { (self.manner, self.channels) = (manner, channels) }
    }

    package var critical = Way("at_once", ["mail", "push", "webhook"])
    package var warning = Way("daily", ["mail", "webhook"])
    /// Minute of the local day at which what waits for the day's message is told.
    package var dailyMinute = 420
    /// Minutes of the local day between which nothing is told; nil: no such hours.
    package var quiet: (from: Int, until: Int)?
    /// Quiet hours hold critical ones back, too.
    package var isQuietForCritical = false
    /// Of what is over or hours old when it gets here: as_usual, daily or never.
    package var backlog = "daily"
    /// Until an open alert that nobody has acknowledged is told again; 0: never.
    package var repeatMin = 240
    /// Also of machines that are seen as their maker.
    package var hasMadeMachines = false
    package var webhookURL: String?
    /// Encrypted.
    package var webhookKey: [UInt8]?
    /// No more mail, by one click in one.
    package var isMailEnded = false

    package init() {}

    /// Of a row that has the columns of drover.notice_setting.
    package init(_ row: Row) throws {
        func way(_ severity: String) throws -> Way {
            Way(
                try row.text("\(severity)_manner")!,
                Set(try (row.textArray("\(severity)_channels") ?? []).compactMap(\.self)))
        }
        (critical, warning) = (try way("critical"), try way("warning"))
        dailyMinute = try row.int("daily_minute")!
        if let from = try row.int("quiet_from"), let until = try row.int("quiet_until") { quiet = (from, until) }
        isQuietForCritical = try row.bool("quiet_critical")!
        (backlog, repeatMin) = (try row.text("backlog")!, try row.int("repeat_min")!)
        hasMadeMachines = try row.bool("made_machines")!
        (webhookURL, webhookKey) = (try row.text("webhook_url"), try row.bytes("webhook_key"))
        isMailEnded = try row.timestampMs("mail_ended_at") != nil
    }

    package static func == (a: NoticeSetting, b: NoticeSetting) -> Bool {
        a.critical == b.critical && a.warning == b.warning && a.dailyMinute == b.dailyMinute
            && a.quiet?.from == b.quiet?.from && a.quiet?.until == b.quiet?.until
            && a.isQuietForCritical == b.isQuietForCritical && a.backlog == b.backlog && a.repeatMin == b.repeatMin
            && a.hasMadeMachines == b.hasMadeMachines && a.webhookURL == b.webhookURL && a.webhookKey == b.webhookKey
            && a.isMailEnded == b.isMailEnded
    }
}
