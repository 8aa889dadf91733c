internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Presentation
internal import Reports

/// Turns what a page or program says of an alert into a record for the log.
struct AlertAction {
    /// What can be done with an alert, as addresses and answers name it.
    enum Deed: String, CaseIterable, Sendable {
        case acknowledge, reopen, assign, comment, mute, silence, service
    }

    struct Fault: Error { let text: String }

    let story: AlertDetail
    /// A field of the form, or a member of the request.
    let field: (String) -> String?
    let actor: AlertAccess.Actor
    let nowMs: Int64

    static func newID() -> String { "a-" + Hex.text(Secrets.random(16)) }

    /// - Parameters:
    ///   - people: to whom it may be given.
    ///   - hours: what the machine's hour meter says; nil: nothing.
    func action(
        _ deed: Deed, people: @autoclosure () throws -> [AlertTale.Person],
        hours: @autoclosure () throws -> ServiceHours?
    ) throws -> Action {
        switch deed {
        case .acknowledge: try make(.acknowledgement(alert: story.id))
        case .reopen:
            // What it takes back may have been said a moment ahead of this clock.
            try make(
                .triage(Action.Triage(alert: story.id, .reopened)), ts: max(nowMs, (story.acknowledgement?.ms ?? 0) + 1)
            )
        case .assign: try make(.triage(Action.Triage(alert: story.id, .assigned(to: try assignee(people())))))
        case .comment: try comment()
        case .mute: try mute()
        case .silence: try silence()
        case .service: try service(hours())
        }
    }

    // MARK: One of each

    private func assignee(_ people: [AlertTale.Person]) throws -> String? {
        let to = field("to") ?? ""
        if to.isEmpty { return nil }
        let account = to == "me" ? actor.account : to
        guard people.contains(where: { $0.account == account }) else {
            throw Fault(
                text: "This person cannot take care of this alert: choose somebody who looks after its vehicle.")
        }
        return account
    }

    private func comment() throws -> Action {
        guard !note.isEmpty else { throw Fault(text: "Write a comment first.") }
        return try make(.triage(Action.Triage(alert: story.id, .comment)))
    }

    /// Of one alert, so that the next one of its kind is told. Of two the later one counts: one that is over ends the one in force.
    private func mute() throws -> Action {
        let untilMs: Int64?
        switch field("until") {
        case "hour": untilMs = nowMs + 3_600_000
        case "morning": untilMs = AlertAction.morning(after: nowMs, zone: actor.zone)
        case "end": untilMs = nil
        case "now": untilMs = nowMs
        case let text?:
            guard let ms = UTC.parse(text), UTC.plausible.contains(ms) else { throw AlertAction.noEnd }
            untilMs = ms
        case nil: throw AlertAction.noEnd
        }
        return try make(.triage(Action.Triage(alert: story.id, .muted(untilMs: untilMs))))
    }

    private static let noEnd = Fault(
        text: "Mute it for an hour, until tomorrow 07:00, until a time with its zone or until it is over.")

    /// 07:00 of the next day, where somebody lives.
    static func morning(after nowMs: Int64, zone: String) -> Int64 {
        let day = CivilDate(ofMs: nowMs, zone: zone).moved(by: 1)
        return LocalMinute.ms("\(day.text) 07:00", zone: zone) ?? day.startMs + 7 * 3_600_000
    }

    /// A silence of a machine's parameter. Of two of one scope the later one counts: one of zero hours ends the one in force.
    private func silence() throws -> Action {
        guard let hours = field("hours").flatMap({ Int64($0) }), (0...720).contains(hours) else {
            throw Fault(text: "A silence lasts from 1 to 720 hours; 0 ends it.")
        }
        guard story.alert.kind == .machine, let parameter = story.machineParameter else {
            throw Fault(text: "This cannot be silenced. Mute this alert instead.")
        }
        let silence = Action.Silence(model: nil, parameter: parameter, untilMs: nowMs + hours * 3_600_000)
        return try make(.silence(silence))
    }

    /// A service that was done now, at the hours that the machine has said last.
    private func service(_ hours: ServiceHours?) throws -> Action {
        guard story.isService else {
            throw Fault(text: "This alert is not about a service. Record services on the machine's page.")
        }
        guard let hours else {
            throw Fault(
                text:
                    "The machine has not said its engine hours. Record the service on its page, where you can enter them."
            )
        }
        let what = note.isEmpty ? MachineActionsView.services[0] : "\(MachineActionsView.services[0]): \(note)"
        return try make(.service(atHours: hours.hours), note: what)
    }

    // MARK: Their parts

    private var note: String { VehicleForm.trimmed(field("note") ?? "") }

    private func make(_ kind: Action.Kind, ts: Int64? = nil, note said: String? = nil) throws -> Action {
        guard let vehicle = VehicleID(story.vehicle) else { throw Fault(text: "The vehicle's id cannot be written.") }
        let note = said ?? note
        guard note.utf8.count <= 2_000 else { throw Fault(text: "The note is too long: at most 2,000 letters.") }
        return Action(
            id: try id(kind), vehicle: vehicle, ts: ts ?? nowMs, by: actor.account, note: note.isEmpty ? nil : note,
            kind: kind)
    }

    /// The form's, so that a form that is sent twice says it once. Of a form that speaks of several alerts (`batch`) it follows from what
    /// is said of which.
    private func id(_ kind: Action.Kind) throws -> String {
        if let batch = field("batch"), VehicleID.isValid(batch.utf8), batch.utf8.count <= 64 {
            return "b-" + Hex.text(Secrets.digest(Array("\(batch) \(story.id) \(kind)".utf8)).prefix(16))
        }
        guard let id = field("id"), id.utf8.count <= 64, VehicleID.isValid(id.utf8) else {
            throw Fault(text: "The form has no id. Open the page again and send it from there.")
        }
        return id
    }
}
