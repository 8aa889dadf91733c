internal import Alerts
internal import Codecs
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// A car's health: the codes of its last scan with what they mean, a button for another one, and all scans before.
struct HealthScanView {
    static let scansMax: Int64 = 50
    /// The longest wait for a gateway.
    static let waitMs: Int64 = 60_000

    struct Scan {
        let askedMs, scannedMs: Int64?
        let askedBy, scannedBy, answer: String?
        let isDone: Bool
        let isLampOn: Bool?
        let codes: [(kind: String, codes: [String])]
        let notReady: [String]
        let vin: String?

        init(_ row: Row) throws {
            askedMs = try row.timestampMs("asked_at")
            scannedMs = try row.timestampMs("scanned_at")
            askedBy = try row.text("asked_by")
            scannedBy = try row.text("scanned_by")
            answer = try row.text("answer")
            isDone = try row.bool("is_done") ?? false
            isLampOn = try row.bool("is_lamp_on")
            vin = try row.text("vin")
            func list(_ column: String) throws -> [String] { (try row.textArray(column) ?? []).compactMap { $0 } }
            codes = try ["stored", "pending", "permanent"].map { ($0, try list($0)) }
            notReady = try list("not_ready")
        }

        var count: Int { Set(codes.flatMap(\.codes)).count }
    }

    let car: DriveRoutes.Car
    let scans: [Scan]
    let meanings: TroubleCodeMeanings
    let caller: PageCaller
    let mayAsk: Bool
    let nowMs: Int64

    var heading: PageHeading {
        PageHeading(
            t("Health of \(car.name)"),
            crumb: (name: car.name, path: "/vehicles/\(URLText.escaped(car.id.text))?kind=car"), status: verdict,
            actions: "<a class=\"btn hide-phone\" href=\"\(car.path)/live\">\(HTML.icon(.drive))Live</a>")
    }

    /// The state of the last scan in a word or two.
    private var verdict: HTML {
        guard let last else { return HTML.pill("silent", t("Not scanned")) }
        if last.count == 0 { return HTML.pill("ok", t("No trouble codes")) }
        return HTML.pill(
            last.isLampOn == true ? "critical" : "warning",
            t(last.count, one: "\(last.count) trouble code", many: "\(last.count) trouble codes"))
    }

    private var last: Scan? { scans.first { $0.scannedMs != nil && $0.isDone } }

    var html: HTML {
        """
        <p class="soft small">Times are \(caller.clock.zone). <span id="live"></span></p>
        <div id="waiting" role="status">\(waiting)</div>
        <div class="stack"><div id="found">\(found)</div>
        \(mayAsk ? form : "")
        <div id="history">\(history)</div></div>
        """
    }

    private var waiting: HTML {
        guard let open = scans.first(where: { $0.scannedMs == nil }), let askedMs = open.askedMs,
            scans.first(where: { $0.scannedMs != nil }).map({ ($0.scannedMs ?? 0) < askedMs }) ?? true
        else { return "" }
        return nowMs - askedMs <= HealthScanView.waitMs
            ? "<p class=\"strip info\">\(HTML.icon(.timer))<span>A scan was asked for at \(caller.clock.second(askedMs)). The gateway answers when it reaches the car; it shows here.</span></p>"
            : "<p class=\"strip warning\">\(HTML.icon(.warn))<span>No gateway answered the scan of \(caller.clock.minute(askedMs)). Is the ignition on, and the adapter within reach? Ask again.</span></p>"
    }

    private var form: HTML {
        """
        <section class="card"><header><h2>Scan</h2></header><form class="row between wrap body tight" method="post" action="\(car.path)/scan">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", AlertAction.newID()))
        <p>The car's gateway reads its trouble codes: switch the ignition on. A phone's app hands in scans of its own.</p>
        <button class="btn primary">Scan now</button></form></section>
        """
    }

    private var found: HTML {
        guard let last, let scannedMs = last.scannedMs else {
            return
                "<section class=\"card\"><header><h2>Trouble codes</h2></header><p class=\"empty\">No scan has read its codes yet.</p></section>"
        }
        var facts: [HTML] = ["<span>Read \(caller.clock.html(scannedMs)).</span>"]
        if let isOn = last.isLampOn { facts.append(isOn ? .t("Warning lamp on.") : .t("Warning lamp off.")) }
        if let vin = last.vin { facts.append(.t("VIN \(vin).")) }
        if !last.notReady.isEmpty {
            facts.append(.t("Monitors not finished: \(last.notReady.joined(separator: ", "))."))
        }
        let rows = last.codes.flatMap { kind, codes in codes.map { row($0, kind) } }
        let none: HTML =
            rows.isEmpty
            ? "<p class=\"strip ok\">\(HTML.icon(.check))<span>No trouble codes: none is stored, pending or permanent.</span></p>"
            : ""
        return "<p>\(facts.joined(separator: " "))</p>\n\(none)"
            + (rows.isEmpty
                ? ""
                : HTML.table(
                    caption: t("Trouble codes"),
                    headers: [
                        .word(t("Code")), .word(t("Kind")), .prose(t("What it means")), .word(t("System")),
                        .prose(t("Part")), .word(t("Defined by")),
                    ], rows: rows, empty: ""))
    }

    /// - Parameter kind: the column that it stands in.
    private static func name(_ kind: String) -> String {
        ["stored": t("stored"), "pending": t("pending"), "permanent": t("permanent")][kind] ?? kind
    }

    private func row(_ text: String, _ kind: String) -> [HTML?] {
        let kind = HealthScanView.name(kind)
        guard let code = TroubleCode(text: text.utf8) else { return [.text(text), .text(kind), nil, nil, nil, nil] }
        let origin =
            switch code.origin {
            case .generic: t("standard")
            case .manufacturer: t("maker")
            case .reserved: t("reserved")
            }
        return [
            .text(code.text), .text(kind), .text(meanings.text(of: code)), .text(code.system.rawValue),
            .text(code.subsystem),
            .text(origin),
        ]
    }

    private var history: HTML {
        HTML.table(
            caption: t("Scans"),
            headers: [
                .word(t("Scanned")), .word(t("Asked")), .text(t("By")), .number(t("Codes")), .prose(t("Which")),
                .prose(t("Answer")),
            ],
            rows: scans.map { scan in
                let all = scan.codes.filter { !$0.codes.isEmpty }.map {
                    "\(HealthScanView.name($0.kind)) \($0.codes.joined(separator: ", "))"
                }
                return [
                    scan.scannedMs.map(caller.clock.html) ?? .t("No answer"), scan.askedMs.map(caller.clock.html),
                    .text(scan.askedBy ?? scan.scannedBy), scan.isDone ? "\(scan.count)" : nil,
                    all.isEmpty ? (scan.isDone ? .t("none") : nil) : HTML(all.joined(separator: "; ")),
                    .text(scan.answer),
                ]
            }, empty: t("No scans yet."), narrow: .cards)
    }
}

extension DriveRoutes {
    func scans(_ request: Request) -> Response {
        access.page(request, for: FleetRoutes.drivers) { caller, connection in
            guard let car = try car(request, connection) else { return DriveRoutes.noCar }
            let scans = try connection.query(
                queries["health_scans"], [.text(car.id.text), .int8(HealthScanView.scansMax)]
            )
            .map(HealthScanView.Scan.init)
            let page = HealthScanView(
                car: car, scans: scans, meanings: try troubleCodes.meanings(make: car.make), caller: caller,
                mayAsk: !caller.roles.isDisjoint(with: DriveRoutes.actors), nowMs: Clock.nowMs())
            return shell(caller).page(
                t("health of \(car.name)"), at: "/vehicles", heading: page.heading,
                scripts: ["live.js", "vehicles/scan.js"],
                main: page.html)
        }
    }

    func askForScan(_ request: Request) -> Response {
        access.form(request, for: DriveRoutes.actors) { caller, fields, connection in
            guard let car = try car(request, connection) else { return DriveRoutes.noCar }
            guard let id = fields["id"], VehicleID.isValid(id.utf8) else { return DriveRoutes.noForm }
            let nowMs = Clock.nowMs()
            if let refusal = try WriteRefusal.ofPage(.ask, isCar: true, car.id, at: nowMs...nowMs, on: connection) {
                return refusal
            }
            let action = Action(
                id: id, vehicle: car.id, ts: nowMs, by: caller.account, note: nil,
                kind: .scanRequest(untilMs: nowMs + HealthScanView.waitMs))
            return push(action, then: "\(car.path)/scan")
        }
    }
}
