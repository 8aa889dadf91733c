internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// Big and of high contrast, for a phone in the sun and one hand: what is wrong first, then panels to swipe through. Its script lays the
/// first part over the camera's picture, and keeps all of it for where there is no network: nothing of it is a secret, and it has no form.
struct FieldPageView {
    struct Service {
        let doneMs: Int64
        let engineHours: Double
        let note: String?

        init(_ row: Row) throws {
            doneMs = try row.timestampMs("done_at")!
            engineHours = try row.double("engine_hours_h")!
            note = try row.text("note")
        }
    }

    private static let figuresMax = 4
    /// Over a picture there is no room for more.
    private static let sightAlertsMax = 2

    let field: FieldDisplay
    let services: [Service]
    let due: MachineDetail.ServiceDue?
    let caller: PageCaller
    let nowMs: Int64

    var heading: PageHeading {
        PageHeading(
            field.name ?? field.vehicle, crumb: (t("Field view"), "/field"), status: age,
            actions:
                "<a class=\"btn\" href=\"/field\" aria-label=\"Scan a sticker\">\(HTML.icon(.qr))<span class=\"hide-phone\">Scan a sticker</span></a>"
        )
    }

    private var age: HTML {
        guard let lastMs = field.lastMs else { return HTML.pill("silent", t("Nothing heard yet")) }
        let tone =
            nowMs - lastMs < VehicleState.machineMs ? "ok" : nowMs - lastMs < VehicleState.silentMs ? "quiet" : "silent"
        return HTML.pill(tone, caller.words.age(lastMs, nowMs: nowMs))
    }

    var html: HTML {
        let shown = panels
        let tabs: [HTML] = shown.enumerated().map { index, panel in
            "<a href=\"#field-\(panel.id)\"\(" aria-current=\"true\"", if: index == 0)>\(panel.name)\("<span class=\"count\">\(panel.count)</span>", if: panel.count > 0)</a>"
        }
        let parts: [HTML] = shown.map {
            "<section class=\"card panel\" id=\"field-\($0.id)\" aria-labelledby=\"field-\($0.id)-name\"><header><h2 id=\"field-\($0.id)-name\">\($0.name)</h2></header>\($0.content)</section>"
        }
        return """
            <div id="asof" class="strip warning" role="status" hidden></div>
            <div id="field" class="field stack" data-machine="\(field.vehicle)" data-name="\(field.name ?? field.vehicle)" \
            data-codes="\(codes)">
            \(sight)
            <div class="row between flick"><nav class="seg" aria-label="Panels">\(tabs.joined())</nav>\
            <span class="row steps" hidden><button class="btn icon" type="button" data-step="-1" aria-label="Previous panel">\(HTML.icon(.left))</button>\
            <button class="btn icon" type="button" data-step="1" aria-label="Next panel">\(HTML.icon(.right))</button></span></div>
            <div class="panels" role="region" aria-label="Panels, swipe sideways" tabindex="0">\(parts.joined())</div>
            </div>
            """
    }

    /// What else may stand on the machine, for a device without a network; a line feed between.
    private var codes: String {
        let serial = field.values.first { $0.name == "Terminal Serial Number" }?.text
        return [field.machineID, serial, field.name].compactMap { $0 }.joined(separator: "\n")
    }

    // MARK: Over the picture

    private var sight: HTML {
        let (tone, icon) = mark(field.state)
        let worst: [HTML] = field.alerts.prefix(FieldPageView.sightAlertsMax).map { open in
            "<li>\(HTML.icon(mark(FieldDisplay.Standing(open)).1))\(said(open.alert))</li>"
        }
        let list: HTML = worst.isEmpty ? "" : "<ul class=\"plain worst\">\(worst.joined())</ul>"
        return """
            <section class="card sight" aria-label="State"><div class="say \(tone)"><span class="ic \(tone)">\(HTML.icon(icon))</span>\
            <div class="grow"><b class="who">\(field.name ?? field.vehicle)</b><p class="verdict" role="status">\(verdict)</p>\(list)\
            <p class="age">\(heard)</p></div></div></section>
            """
    }

    private var heard: HTML {
        guard let lastMs = field.lastMs else {
            return "It has not said anything yet. <span id=\"live\" class=\"soft\"></span>"
        }
        return """
            <b><time datetime="\(caller.clock.machine(lastMs))" data-ago>\(caller.words.age(lastMs, nowMs: nowMs))</time></b> \
            <span class="soft">\(caller.clock.minute(lastMs)) \(caller.clock.zone)</span> <span id="live" class="soft"></span>
            """
    }

    private func mark(_ state: FieldDisplay.Standing) -> (String, IconName) {
        switch state {
        case .critical: ("critical", .warn)
        case .warning: ("warning", .bell)
        case .dueSoon: ("warning", .wrench)
        case .unjudged: ("quiet", .silent)
        case .ok: ("ok", .check)
        }
    }

    private var verdict: String {
        switch field.state {
        case .critical: t("Stop: \(field.alerts.count { $0.alert.severity == .critical }) critical")
        case .warning: t("Check it: \(field.alerts.count) open")
        case .dueSoon: t("A service is due soon")
        case .unjudged: t("Not monitored: \(field.notMonitored?.short ?? t("nothing judges it"))")
        case .ok: field.lastMs == nil ? t("Nothing is known") : t("Nothing is open")
        }
    }

    /// `Coolant too hot, worst 98.5 °C`
    private func said(_ alert: AlertRow) -> String {
        alert.worst(caller.units).map { t("\(alert.title), worst \($0.text)") } ?? alert.title
    }

    // MARK: Panels

    private var panels: [(id: HTML, name: String, count: Int, content: HTML)] {
        [
            ("status", t("Status"), 0, status), ("alerts", t("Alerts"), field.alerts.count, alerts),
            ("readings", t("Readings"), 0, readings), ("service", t("Service"), 0, service),
            ("machine", t("Machine"), 0, machine),
        ]
    }

    private var status: HTML {
        let tiles = figures
        guard !tiles.isEmpty else { return "<p class=\"empty\">No figure that a rule judges.</p>" }
        return "<div class=\"pairs figures body\">\(tiles.map(tile).joined())</div>"
    }

    private var alerts: HTML {
        guard !field.alerts.isEmpty else {
            return
                "<p class=\"empty\">\(field.notMonitored.map { t("Not monitored: \($0.short)") } ?? t("No open alerts"))</p>"
        }
        return field.alerts.map { open -> HTML in
            let (tone, icon) = mark(FieldDisplay.Standing(open))
            let rule = open.alert.isOfFlag || open.alert.isService ? "" : ", \(open.alert.shownRule(caller.units))"
            return """
                <a class="item" href="/alerts/\(encoded: open.id)"><span class="ic \(tone)">\(HTML.icon(icon))</span>\
                <span><b>\(said(open.alert))\(rule)</b><small>\(open.alert.advice ?? "")</small></span>\(HTML.icon(.right))</a>
                """
        }.joined()
    }

    private var readings: HTML {
        guard !field.values.isEmpty else { return "<p class=\"empty\">No readings yet</p>" }
        let rows: [HTML] = field.values.map { "<dt>\($0.name)</dt><dd>\($0.text)</dd>" }
        return "<dl class=\"kv right body\">\(rows.joined())</dl>"
    }

    private var service: HTML {
        var rows: [(String, HTML)] = []
        if let due {
            let left = Int64(abs(due.leftH).rounded())
            rows.append(
                (t("Next service"), due.leftH < 0 ? .t("\(left) h overdue") : .t("in \(left) engine hours")))
            rows.append((t("Every"), "\(Int64(due.everyH.rounded())) h"))
        }
        rows += services.map { done in
            (
                t("Done"),
                "<span>\(caller.clock.html(done.doneMs)) at \(Int64(done.engineHours.rounded())) h</span>\(done.note.map { ": \($0)" as HTML })"
            )
        }
        let list: HTML =
            rows.isEmpty
            ? "<p class=\"empty\">No service recorded</p>"
            : "<dl class=\"kv right body\">\(rows.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" }.joined())</dl>"
        return
            "\(list)<p class=\"body row\"><a class=\"btn\" href=\"/vehicles/\(encoded: field.vehicle)?kind=machine&amp;tab=services\">\(HTML.icon(.wrench))Services</a></p>"
    }

    private var machine: HTML {
        let known: [(String, String?)] = [
            (t("Name"), field.name), (t("Model"), field.model), (t("Serial number"), field.vehicle),
            (t("Machine ID"), field.machineID),
        ]
        let rows: [HTML] = known.compactMap { name, text in text.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
        return """
            <dl class="kv right body">\(rows.joined())</dl>
            <p class="body row"><a class="btn" href="/vehicles/\(encoded: field.vehicle)?kind=machine">\(HTML.icon(.tractor))All of this machine</a></p>
            """
    }

    /// Those that are judged first.
    private var figures: [FieldDisplay.Value] {
        let judged = field.values.filter { $0.state != .unjudged && $0.text.first?.isNumber == true }
        return Array(
            (judged.filter { $0.state != .ok } + judged.filter { $0.state == .ok }).prefix(FieldPageView.figuresMax))
    }

    private func tile(_ value: FieldDisplay.Value) -> HTML {
        let tone = mark(value.state).0
        let words = ["critical": t("Critical"), "warning": value.state == .dueSoon ? t("Due soon") : t("Warning")][tone]
        return """
            <div class="figure \(tone)"><span class="soft">\(value.name)</span><b>\(value.text)</b>\
            \(words.map { HTML.pill(tone, $0) } ?? HTML.pill("ok", t("Fine")))</div>
            """
    }
}
