internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Reports

/// Turns the forms of an alert into records for the log.
enum AlertAction {
    static func newID() -> String { "a-" + Hex.text(Secrets.random(16)) }

    struct Fault: Error { let text: String }

    static func acknowledgement(
        _ story: AlertDetail, _ fields: FormFields, by account: String, nowMs: Int64
    ) throws(Fault) -> Action {
        try action(story, fields, account, nowMs, .acknowledgement(alert: story.id))
    }

    /// A silence. Of two of one scope the later one counts: one of zero hours ends the one in force.
    static func silence(
        _ story: AlertDetail, _ fields: FormFields, by account: String, nowMs: Int64
    ) throws(Fault) -> Action {
        guard let hours = fields["hours"].flatMap({ Int64($0) }), (0...720).contains(hours) else {
            throw Fault(text: "A silence lasts from 1 to 720 hours; 0 ends it.")
        }
        guard let parameter = story.machineParameter else {
            throw Fault(text: "This parameter cannot be silenced.")
        }
        let silence = Action.Silence(model: nil, parameter: parameter, untilMs: nowMs + hours * 3_600_000)
        return try action(story, fields, account, nowMs, .silence(silence))
    }

    private static func action(
        _ story: AlertDetail, _ fields: FormFields, _ account: String, _ nowMs: Int64, _ kind: Action.Kind
    ) throws(Fault) -> Action {
        guard story.alert.kind == .machine, let vehicle = VehicleID(story.vehicle) else {
            throw Fault(text: "Alerts of cars are for their drivers: they are set under the driver's settings.")
        }
        // The id is the form's, so that a form that is sent twice says it once.
        guard let id = fields["id"], id.utf8.count <= 64, VehicleID.isValid(id.utf8) else {
            throw Fault(text: "The form has no id. Open the page again and send it from there.")
        }
        let note = fields["note"] ?? ""
        guard note.utf8.count <= 2_000 else { throw Fault(text: "The note is too long.") }
        return Action(
            id: id, vehicle: vehicle, ts: nowMs, by: account, note: note.isEmpty ? nil : note, kind: kind)
    }
}
