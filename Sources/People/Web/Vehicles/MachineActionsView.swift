internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// Actions on a machine's page: request a download now, record a service.
struct MachineActionsView {
    /// As they are stored.
    static let services = ["Regular service", "Repair", "Inspection", "Other"]

    private static func name(_ service: String) -> String {
        let names = [t("Regular service"), t("Repair"), t("Inspection"), t("Other")]
        return zip(services, names).first { $0.0 == service }?.1 ?? service
    }

    private static let requestsMax: Int64 = 5
    /// The time that a gateway may take.
    static let patienceMs: Int64 = 30_000
    /// A log is long, and a gateway fetches one after the other.
    static let logPatienceMs: Int64 = 120_000

    let vehicle: String
    let caller: PageCaller
    let nowMs: Int64
    /// By its latest reading; nil: it reported none.
    let engineHours: String?

    let asked: [Asked]

    /// A download that somebody asked for.
    struct Asked {
        let id: String
        let wants: String?
        let atMs, expiresMs: Int64?
        let by, answer: String?
        let isDone: Bool?

        static func read(_ vehicle: String, _ queries: ReportQueries, on connection: Connection) throws -> [Asked] {
            try connection.query(queries["poll_requests"], [.text(vehicle), .int8(MachineActionsView.requestsMax)]).map
            {
                Asked(
                    id: try $0.text("request_id")!, wants: try $0.text("wants"), atMs: try $0.timestampMs("asked_at"),
                    expiresMs: try $0.timestampMs("expires_at"),
                    by: try $0.text("asked_by"), answer: try $0.text("answer"), isDone: try $0.bool("is_done"))
            }
        }

        enum State: String { case waiting, done, failed }

        var what: String { wants == nil ? t("Readings") : t("Debug log") }

        func outcome(nowMs: Int64) -> (state: State, words: String) {
            if let answer { return isDone == true ? (.done, answer) : (.failed, answer) }
            let isOver = expiresMs.map { $0 < nowMs } ?? true
            return isOver
                ? (.failed, t("No gateway has answered in time. Is `drover gateway` up? Its log says more."))
                : (.waiting, t("Connecting…"))
        }
    }

    private var mayAct: Bool { !caller.roles.isDisjoint(with: FleetRoutes.keepers) }

    /// A button of the page: what comes of it shows in place (`connect.js`), else on the page that it leads to.
    var connect: HTML {
        guard mayAct else { return "" }
        return """
            <form method="post" action="/vehicles/\(encoded: vehicle)/download">\(marks)\
            <button class="btn" data-connect="\(vehicle)" aria-label="Connect" title="Download now what its box has">\
            \(HTML.icon(.plug))<span class="hide-phone">Connect</span></button></form>
            """
    }

    /// The same for its debug log, as an entry of the page's menu or a button.
    func debugLogs(style: HTML = "") -> HTML {
        """
        <form method="post" action="/vehicles/\(encoded: vehicle)/logs">\(marks)\
        \(FormView.hidden("next", "/vehicles/\(URLText.escaped(vehicle))/logs?said=asked"))\
        <button\(style) data-connect="\(vehicle)" data-patience="\(MachineActionsView.logPatienceMs + 10_000)">\
        \(HTML.icon(.code))Get debug logs</button></form>
        """
    }

    /// What came of the downloads that people asked for.
    var downloads: HTML {
        let table = HTML.table(
            caption: t("Downloads asked for"),
            headers: [.word(t("Asked")), .text(t("By")), .word(t("What")), .prose(t("What came of it"))],
            rows: asked.map { one in
                [one.atMs.map(caller.clock.html), .text(one.by.map(caller.person)), .text(one.what), outcome(one)]
            },
            empty: t("Nobody has asked for one."), narrow: .cards)
        return "<div id=\"downloads\">\n\(table)\n</div>"
    }

    /// The newest one, as long as somebody waits for it.
    var newest: HTML {
        // There to be replaced once somebody has asked.
        guard let one = asked.first, let atMs = one.atMs, nowMs - atMs < 600_000 else {
            return "<p id=\"downloads\" role=\"status\" hidden></p>"
        }
        return """
            <p class="strip" id="downloads" role="status">\(HTML.icon(.download))<span class="grow"><b>\(one.wants == nil ? t("Download") : one.what)</b> asked \
            \(caller.words.age(atMs, nowMs: nowMs)): \(outcome(one))</span></p>
            """
    }

    /// A form in a card of its own.
    var service: HTML {
        guard mayAct else { return "" }
        return """
            <section class="card" id="record"><header><h2>Record a service</h2></header>
            <form class="body form" method="post" action="/vehicles/\(encoded: vehicle)/service">\(marks)
            \(fields)
            <p class="faint small">It resolves the alert of the service that is due, and stays on record. To correct one, record it again: \
            the latest counts.</p>
            <button class="btn primary">Record the service</button></form></section>
            """
    }

    private var marks: HTML {
        "\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", AlertAction.newID()))"
    }

    /// Success, or the reason and what to do.
    private func outcome(_ one: Asked) -> HTML {
        let (state, words) = one.outcome(nowMs: nowMs)
        return switch state {
        case .done: "\(HTML.pill("ok", t("Done"))) \(words)"
        case .failed: "\(HTML.pill("warning", t("Not done"))) \(words)"
        case .waiting: "<span class=\"soon\">on its way</span>"
        }
    }

    private var fields: HTML {
        let now = caller.clock.minute(nowMs).replacing(" ", with: "T")
        let kinds: HTML = HTML.options(MachineActionsView.services.map { ($0, MachineActionsView.name($0)) }, nil)
        return """
            <div class="fld"><label for="service">What was done</label><select id="service" name="service">\(kinds)</select></div>
            <div class="fld"><label for="done">When (\(caller.clock.zone))</label>\
            <input id="done" name="done" type="datetime-local" value="\(now)" max="\(now)" required></div>
            <div class="fld"><label for="hours">Engine hours then</label><span class="in">\
            <input id="hours" name="hours" type="text" inputmode="decimal" maxlength="12" autocomplete="off" value="\(engineHours ?? "")" required>\
            <span class="unit">h</span></span></div>
            <div class="fld"><label for="note">Note</label><input id="note" name="note" type="text" maxlength="500" autocomplete="off">\
            <span class="help">Leave empty if there is nothing to say.</span></div>
            """
    }

    // MARK: What the forms say

    struct Fault: Error { let text: String }

    static func download(
        _ wanted: Action.Wanted, _ vehicle: VehicleID, _ fields: FormFields, by account: String,
        nowMs: Int64
    ) throws(Fault) -> Action {
        let untilMs = nowMs + (wanted == .readings ? patienceMs : logPatienceMs)
        return Action(
            id: try id(fields), vehicle: vehicle, ts: nowMs, by: account, note: nil,
            kind: .pollRequest(untilMs: untilMs, wanted))
    }

    static func service(
        _ vehicle: VehicleID, _ fields: FormFields, by caller: PageCaller, newest: ServiceHours?, nowMs: Int64
    ) throws(Fault) -> Action {
        guard let what = fields["service"], services.contains(what) else {
            throw Fault(text: t("Say what was done: one of \(services.joined(separator: ", "))."))
        }
        guard let doneMs = LocalMinute.ms(fields["done"] ?? "", zone: caller.clock.zone), UTC.plausible.contains(doneMs)
        else {
            throw Fault(
                text: t("The time must be a day and a time of day in \(caller.clock.zone), like 2026-11-22 09:15."))
        }
        // Clocks differ a little.
        guard doneMs <= nowMs + 5 * UTC.msPerMinute else {
            throw Fault(text: t("A service that is still to come cannot be recorded: the time lies ahead of now."))
        }
        let text = VehicleForm.trimmed(fields["hours"] ?? "")
        guard let hours = Decimal.scaled(text.utf8, decimals: 3), MachineParameter.engineHours.row.isPossible(hours)
        else {
            throw Fault(text: t("The engine hours must be a number like 1234.5."))
        }
        if let why = newest?.fault(hours, doneMs: doneMs) { throw Fault(text: why) }
        let note = VehicleForm.trimmed(fields["note"] ?? "")
        guard note.utf8.count <= 1_900 else { throw Fault(text: t("The note is too long.")) }
        return Action(
            id: try id(fields), vehicle: vehicle, ts: doneMs, by: caller.account,
            note: note.isEmpty ? what : "\(what): \(note)", kind: .service(atHours: hours))
    }

    /// The form's, so that a form that is sent twice says it once.
    private static func id(_ fields: FormFields) throws(Fault) -> String {
        guard let id = fields["id"], VehicleID.isValid(id.utf8) else {
            throw Fault(text: t("The form has no id. Open the page again and send it from there."))
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
