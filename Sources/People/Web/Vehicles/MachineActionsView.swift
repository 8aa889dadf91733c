internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// Actions on a machine's page: request a download now, record a service.
struct MachineActionsView {
    static let services = ["Regular service", "Repair", "Inspection", "Other"]
    private static let requestsMax: Int64 = 5
    /// The time that a gateway may take.
    static let patienceMs: Int64 = 30_000

    let vehicle: String
    let caller: PageCaller
    let nowMs: Int64
    /// By its latest reading; nil: it reported none.
    let engineHours: String?

    let asked: [Asked]

    /// A download that somebody asked for.
    struct Asked {
        let atMs, expiresMs: Int64?
        let by, answer: String?
        let isDone: Bool?

        static func read(_ vehicle: String, _ queries: ReportQueries, on connection: Connection) throws -> [Asked] {
            try connection.query(queries["poll_requests"], [.text(vehicle), .int8(MachineActionsView.requestsMax)]).map
            {
                Asked(
                    atMs: try $0.timestampMs("asked_at"), expiresMs: try $0.timestampMs("expires_at"),
                    by: try $0.text("asked_by"), answer: try $0.text("answer"), isDone: try $0.bool("is_done"))
            }
        }
    }

    var html: HTML {
        let requests = HTML.table(
            caption: "Downloads asked for",
            headers: [.word("Asked"), .text("By"), .prose("What came of it")],
            rows: asked.map { one in [one.atMs.map(caller.clock.html), .text(one.by), outcome(one)] },
            empty: "Nobody has asked for one.")
        guard !caller.roles.isDisjoint(with: FleetRoutes.keepers) else {
            return "<div id=\"downloads\">\n\(requests)\n</div>"
        }
        return """
            <div class="beside">
            <div>
            \(form("download", "Download now", "The gateway asks its box for what it has.", "", "Ask for a download"))
            <div id="downloads">
            \(requests)
            </div>
            </div>
            \(form("service", "Record a service", "It closes the alert of a service that is due.", fields, "Record the service"))
            </div>
            """
    }

    /// Success, or the reason and what to do.
    private func outcome(_ one: Asked) -> HTML {
        if let answer = one.answer {
            return one.isDone == true
                ? "<span class=\"recommended\">done</span> \(answer)"
                : "<span class=\"warning\">not done</span> \(answer)"
        }
        let isOver = one.expiresMs.map { $0 < nowMs } ?? true
        return isOver
            ? "<span class=\"warning\">not done</span> No gateway has answered in time. Is <code>drover gateway</code> up? Its log says more."
            : "<span class=\"soon\">on its way</span>"
    }

    private func form(_ action: String, _ title: String, _ about: String, _ fields: HTML, _ button: String) -> HTML {
        """
        <form class="fields" method="post" action="/vehicles/\(encoded: vehicle)/\(action)"><h2>\(title)</h2>
        <p>\(about)</p>
        \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", AlertAction.newID()))
        \(fields)
        <button>\(button)</button></form>
        """
    }

    private var fields: HTML {
        let now = caller.clock.minute(nowMs).replacing(" ", with: "T")
        let kinds: HTML = MachineActionsView.services.map { "<option>\($0)</option>" }.joined()
        return """
            <label for="service">What was done</label><select id="service" name="service">\(kinds)</select>
            <label for="done">When (\(caller.clock.zone))</label><input id="done" name="done" type="datetime-local" value="\(now)" max="\(now)" required>
            <label for="hours">Engine hours then, h</label><input id="hours" name="hours" inputmode="decimal" maxlength="12" autocomplete="off" value="\(engineHours ?? "")" required>
            <label for="note">Note, if you like</label><input id="note" name="note" maxlength="500" autocomplete="off">
            """
    }

    // MARK: What the forms say

    struct Fault: Error { let text: String }

    static func download(_ vehicle: VehicleID, _ fields: FormFields, by account: String, nowMs: Int64) throws(Fault)
        -> Action
    {
        Action(
            id: try id(fields), vehicle: vehicle, ts: nowMs, by: account, note: nil,
            kind: .pollRequest(untilMs: nowMs + patienceMs))
    }

    static func service(
        _ vehicle: VehicleID, _ fields: FormFields, by caller: PageCaller, newest: ServiceHours?, nowMs: Int64
    ) throws(Fault) -> Action {
        guard let what = fields["service"], services.contains(what) else {
            throw Fault(text: "Say what was done: one of \(services.joined(separator: ", ")).")
        }
        guard let doneMs = LocalMinute.ms(fields["done"] ?? "", zone: caller.clock.zone), UTC.plausible.contains(doneMs)
        else {
            throw Fault(
                text: "The time must be a day and a time of day in \(caller.clock.zone), like 2026-11-22 09:15.")
        }
        // Clocks differ a little.
        guard doneMs <= nowMs + 5 * UTC.msPerMinute else {
            throw Fault(text: "A service that is still to come cannot be recorded: the time lies ahead of now.")
        }
        let text = VehicleForm.trimmed(fields["hours"] ?? "")
        guard let hours = Decimal.scaled(text.utf8, decimals: 3), MachineParameter.engineHours.row.isPossible(hours)
        else {
            throw Fault(text: "The engine hours must be a number like 1234.5.")
        }
        if let why = newest?.fault(hours, doneMs: doneMs) { throw Fault(text: why) }
        let note = VehicleForm.trimmed(fields["note"] ?? "")
        guard note.utf8.count <= 1_900 else { throw Fault(text: "The note is too long.") }
        return Action(
            id: try id(fields), vehicle: vehicle, ts: doneMs, by: caller.account,
            note: note.isEmpty ? what : "\(what): \(note)", kind: .service(atHours: hours))
    }

    /// The form's, so that a form that is sent twice says it once.
    private static func id(_ fields: FormFields) throws(Fault) -> String {
        guard let id = fields["id"], VehicleID.isValid(id.utf8) else {
            throw Fault(text: "The form has no id. Open the page again and send it from there.")
        }
        return id
    }
}

/// A minute as a form has it: `2026-11-22T09:15` in a zone.
enum LocalMinute {
    static func ms(_ text: String, zone: String) -> Int64? {
        let parts = text.replacing("T", with: " ").split(separator: " ")
        guard parts.count == 2, let day = ZonedDay(date: String(parts[0]), zone: zone) else { return nil }
        let clock = parts[1].split(separator: ":").map { Int64($0) }
        guard (2...3).contains(clock.count), let hour = clock[0], let minute = clock[1], (0..<24).contains(hour),
            (0..<60).contains(minute)
        else { return nil }
        let plainMs = day.fromMs + (hour * 60 + minute) * UTC.msPerMinute
        let wanted = "\(day.date) \(UTC.two(hour)):\(UTC.two(minute))"
        // On the days when clocks change, it is an hour to either side. A time that there is not is none.
        return [0, 60, -60, 30, -30].map { plainMs + $0 * UTC.msPerMinute }.first { day.minute($0) == wanted }
    }
}
