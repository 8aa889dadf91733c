internal import Fleet
internal import Formats
internal import Presentation
internal import Storage

/// Entries of the audit log as sentences.
struct AuditWords {
    private let line: AuditPageQueries.Line
    private let detail: JSONValue
    /// Of people, by account.
    private let names: [String: String]
    private let fleets: [String: String]

    init(_ line: AuditPageQueries.Line, names: [String: String], fleets: [String: String] = [:]) {
        (self.line, self.names, self.fleets) = (line, names, fleets)
        detail = (try? JSONValue(Array(line.detail.utf8))) ?? .null
    }

    private func told(_ key: String) -> String? { detail[key].flatMap { $0.text ?? $0.integer.map { String($0) } } }

    private func list(_ key: String) -> String? {
        detail[key]?.items?.compactMap(\.text).joined(separator: ", ") ?? told(key)
    }

    private func name(_ account: String) -> String { names[account] ?? account }

    /// Who did it. Nobody's name: erased, a command without one, or somebody who is not logged in.
    private var who: String {
        if let actor = line.actor { return name(actor) }
        return told("login").map { t("The database login \($0)") } ?? t("Somebody")
    }

    /// To whom.
    private var whom: String { line.subject.map(name) ?? t("somebody") }
    private var isOwn: Bool { line.subject == nil || line.subject == line.actor }
    private var fleet: String { told("fleet").map { fleets[$0] ?? $0 } ?? "–" }
    private var alert: HTML {
        told("alert").map { "<a href=\"/alerts/\(encoded: $0)\">an alert</a>" } ?? .t("an alert")
    }

    /// `Mia Virtanen added Jari Virta to the fleet North.`
    var sentence: HTML {
        let times = told("times").flatMap { Int($0) } ?? 1
        let more: HTML =
            times > 1 ? " <span class=\"soft\">\(t(times, one: "once", many: "\(times) times"))</span>" : ""
        return (AuditAction(rawValue: line.action).map(sentence) ?? "<b>\(who)</b>: \(line.action)") + more
    }

    // One case an action, so that a new one cannot be without words.
    private func sentence(_ action: AuditAction) -> HTML {
        switch action {
        case .logIn: logIn
        case .logInFailed: logInFailed
        case .logOut: "<b>\(who)</b> logged out."
        case .sessionEnded: "<b>\(who)</b> logged out another device."
        case .linkGiven: "<b>\(who)</b> made a link for a new password of <b>\(whom)</b>."
        case .databaseLoginGiven: "<b>\(who)</b> gave <b>\(whom)</b> a database login."
        case .databaseLoginEnded: "<b>\(who)</b> ended the database login of <b>\(whom)</b>."
        case .tokenAdded:
            isOwn
                ? "<b>\(who)</b> made an app password for \(list("scopes") ?? "–")."
                : "<b>\(who)</b> made a token of <b>\(whom)</b> for \(list("scopes") ?? "–")."
        case .tokenRevoked:
            isOwn ? "<b>\(who)</b> revoked an app password." : "<b>\(who)</b> revoked a token of <b>\(whom)</b>."
        case .campusTokenAdded: "<b>\(whom)</b> logged in to the campus on a device."
        case .campusTokenRevoked: "A campus device of <b>\(whom)</b> was logged out."
        case .accountAdded: "<b>\(who)</b> added the account of <b>\(whom)</b>. Roles: \(roles("roles"))."
        case .accountConfirmed: "<b>\(whom)</b> confirmed the email of the account."
        case .accountDisabled: "<b>\(who)</b> stopped the log-in of <b>\(whom)</b>."
        case .accountEnabled: "<b>\(who)</b> let <b>\(whom)</b> log in."
        case .accountErased: "<b>\(who)</b> erased a person’s data."
        case .passwordChanged:
            isOwn || line.actor == nil
                ? "<b>\(whom)</b> has a new password." : "<b>\(who)</b> changed the password of <b>\(whom)</b>."
        case .secondFactorChanged: secondFactor
        case .rolesChanged: "<b>\(who)</b> changed the roles of <b>\(whom)</b> from \(roles("from")) to \(roles("to"))."
        case .fleetJoined: "<b>\(who)</b> added <b>\(whom)</b> to the fleet <b>\(fleet)</b>."
        case .fleetLeft: "<b>\(who)</b> removed <b>\(whom)</b> from the fleet <b>\(fleet)</b>."
        case .fleetChanged: fleetChanged
        case .dealershipChanged: dealership
        case .rulesPublished: "<b>\(who)</b> put new rules in force."
        case .rulesEdited:
            "<b>\(who)</b> changed rules of <b>\(told("vehicle") ?? told("model") ?? "–")</b>: \(list("changes") ?? "–")"
        case .alertSilenced: "<b>\(who)</b> muted \(alert) of <b>\(vehicle)</b>."
        case .alertAcknowledged: "<b>\(who)</b> acknowledged \(alert) of <b>\(vehicle)</b>."
        case .alertReopened: "<b>\(who)</b> reopened \(alert) of <b>\(vehicle)</b>."
        case .alertAssigned:
            line.subject == nil
                ? "<b>\(who)</b> took \(alert) of <b>\(vehicle)</b> off everybody."
                : "<b>\(who)</b> assigned \(alert) of <b>\(vehicle)</b> to <b>\(whom)</b>."
        case .alertCommented: "<b>\(who)</b> commented on \(alert) of <b>\(vehicle)</b>."
        case .exportTaken:
            isOwn
                ? "<b>\(who)</b> exported \(told("export") ?? told("rows") ?? t("data"))."
                : "<b>\(who)</b> exported \(told("export") ?? told("rows") ?? t("data")) about <b>\(whom)</b>."
        case .reportRun:
            isOwn
                ? "<b>\(who)</b> opened the report \(told("report") ?? told("schedule") ?? "–")."
                : "<b>\(who)</b> opened the report \(told("report") ?? told("schedule") ?? "–") about <b>\(whom)</b>."
        case .reportMailed: "The report \(told("report") ?? "–") of <b>\(who)</b> was mailed to <b>\(whom)</b>."
        case .queryRun: "<b>\(who)</b> ran the query \(told("query") ?? "–")."
        case .scheduleChanged: "<b>\(who)</b> changed the scheduled report \(told("report") ?? "–")."
        case .dataSeen: dataSeen
        case .personSeen: "<b>\(who)</b> looked at the page of <b>\(whom)</b>."
        case .clockSetBack: "<b>\(who)</b> set a clock of the log back."
        case .offsetsReset: "<b>\(who)</b> reset offsets of the log."
        case .quarantineRetried: "<b>\(who)</b> had rejected records tried again."
        case .logShortened: .t("Old entries of this log were removed.")
        }
    }

    private var logIn: HTML {
        switch told("with") {
        case "password": "<b>\(who)</b> logged in with a password."
        case "second factor": "<b>\(who)</b> logged in with a password and a code."
        case "link": "<b>\(who)</b> logged in with a mailed link."
        case nil, .some: "<b>\(who)</b> logged in."
        }
    }

    private var logInFailed: HTML {
        guard line.subject != nil else { return .t("Somebody failed to log in with an unknown email.") }
        return told("why") == "too many tries"
            ? "Somebody tried too often to log in as <b>\(whom)</b>." : "Somebody failed to log in as <b>\(whom)</b>."
    }

    private var secondFactor: HTML {
        isOwn || line.actor == nil
            ? "<b>\(whom)</b> changed two-step log-in." : "<b>\(who)</b> changed two-step log-in of <b>\(whom)</b>."
    }

    private var fleetChanged: HTML {
        if let added = list("added") { return "<b>\(who)</b> added to the fleet <b>\(fleet)</b>: \(added)" }
        if let taken = list("taken") { return "<b>\(who)</b> removed from the fleet <b>\(fleet)</b>: \(taken)" }
        return "<b>\(who)</b> changed the fleet <b>\(fleet)</b>."
    }

    /// What became of a dealership; any other word ended it.
    private enum DealershipStep: String {
        case asked, confirmed
    }

    private var dealership: HTML {
        switch told("is").flatMap(DealershipStep.init) {
        case .asked: "<b>\(whom)</b> asked to see <b>\(vehicle)</b> as its dealer."
        case .confirmed: "<b>\(who)</b> let the dealer <b>\(whom)</b> see <b>\(vehicle)</b>."
        case nil: "<b>\(who)</b> ended what the dealer <b>\(whom)</b> sees of <b>\(vehicle)</b>."
        }
    }

    private var dataSeen: HTML {
        if told("vehicle") != nil {
            return isOwn
                ? "<b>\(who)</b> looked at <b>\(vehicle)</b>."
                : "<b>\(who)</b> looked at <b>\(vehicle)</b> of <b>\(whom)</b>."
        }
        if told("alert") != nil { return "<b>\(who)</b> looked at \(alert)." }
        return "<b>\(who)</b> looked at <code>\(told("page") ?? "–")</code>."
    }

    private var vehicle: String { told("vehicle") ?? "–" }

    private func roles(_ key: String) -> String {
        Role.titles(Set(detail[key]?.items?.compactMap { $0.text.flatMap(Role.init) } ?? []))
    }

    // MARK: Kinds

    static func icon(_ line: AuditPageQueries.Line) -> IconName {
        guard let action = AuditAction(rawValue: line.action) else { return .info }
        return switch action {
        case .logIn, .logInFailed, .logOut, .sessionEnded, .linkGiven, .databaseLoginGiven, .databaseLoginEnded,
            .tokenAdded, .tokenRevoked, .campusTokenAdded, .campusTokenRevoked, .passwordChanged, .secondFactorChanged:
            .key
        case .accountAdded, .accountConfirmed, .accountDisabled, .accountEnabled, .accountErased, .rolesChanged,
            .fleetJoined, .fleetLeft:
            .person
        case .fleetChanged, .dealershipChanged: .truck
        case .rulesPublished, .rulesEdited: .rule
        case .alertSilenced, .alertAcknowledged, .alertReopened, .alertAssigned, .alertCommented: .bell
        case .exportTaken, .reportRun, .reportMailed, .queryRun, .scheduleChanged: .chart
        case .dataSeen, .personSeen: .eye
        case .clockSetBack, .offsetsReset, .quarantineRetried, .logShortened: .cog
        }
    }

    /// To choose by.
    static func name(_ action: AuditAction) -> String {
        switch action {
        case .logIn: t("Log-ins")
        case .logInFailed: t("Failed log-ins")
        case .logOut: t("Log-outs")
        case .sessionEnded: t("Devices logged out")
        case .linkGiven: t("Password links")
        case .databaseLoginGiven: t("Database logins given")
        case .databaseLoginEnded: t("Database logins ended")
        case .tokenAdded: t("App passwords and tokens made")
        case .tokenRevoked: t("App passwords and tokens revoked")
        case .campusTokenAdded: t("Campus devices logged in")
        case .campusTokenRevoked: t("Campus devices logged out")
        case .accountAdded: t("Accounts added")
        case .accountConfirmed: t("Emails confirmed")
        case .accountDisabled: t("Log-ins stopped")
        case .accountEnabled: t("Log-ins allowed")
        case .accountErased: t("People erased")
        case .passwordChanged: t("New passwords")
        case .secondFactorChanged: t("Two-step log-in")
        case .rolesChanged: t("Roles changed")
        case .fleetJoined: t("People added to fleets")
        case .fleetLeft: t("People removed from fleets")
        case .fleetChanged: t("Fleets changed")
        case .dealershipChanged: t("Dealers")
        case .rulesPublished: t("Rules put in force")
        case .rulesEdited: t("Rules changed")
        case .alertSilenced: t("Alerts muted")
        case .alertAcknowledged: t("Alerts acknowledged")
        case .alertReopened: t("Alerts reopened")
        case .alertAssigned: t("Alerts assigned")
        case .alertCommented: t("Comments on alerts")
        case .exportTaken: t("Exports")
        case .reportRun: t("Reports opened")
        case .reportMailed: t("Reports mailed")
        case .queryRun: t("Queries run")
        case .scheduleChanged: t("Scheduled reports")
        case .dataSeen: t("Vehicles and alerts looked at")
        case .personSeen: t("People looked at")
        case .clockSetBack: t("Clocks set back")
        case .offsetsReset: t("Offsets reset")
        case .quarantineRetried: t("Rejected records retried")
        case .logShortened: t("Log shortened")
        }
    }
}
