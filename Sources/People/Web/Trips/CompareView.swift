internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Trips

/// Drives of one route before and after something was done to the car.
struct CompareView {
    /// The number of trips to choose from.
    static let choicesMax: Int64 = 200

    enum Found {
        case comparison(RouteComparison)
        case fault(String)
    }

    let cars: [(id: String, name: String)]
    /// The trips of the chosen car.
    let trips: [TripRead]
    let found: Found?
    let caller: PageCaller
    let request: Request

    var heading: PageHeading {
        var actions: HTML = ""
        if case .comparison(let comparison) = found, comparison.counts.before > 0, comparison.counts.after > 0 {
            actions = """
                <details class="menu end hide-phone"><summary class="btn">\(HTML.icon(.download))Export</summary><div class="pop">
                <a href="\(address("csv"))">CSV</a><a href="\(address("json"))">JSON</a></div></details>
                """
        }
        return PageHeading(t("Compare drives"), crumb: (name: t("Trips"), path: "/trips"), actions: actions)
    }

    var html: HTML {
        """
        \(result)
        <section class="card"><header><h2>Drives of one route, before and after a change</h2></header>
        <p class="body tight soft">New tyres, a service, another driver: did it help? Choose a drive of the route, and since when it is otherwise. All drives that went the same way are set side by side.</p>
        \(form)</section>
        \(details)
        """
    }

    private func given(_ name: String) -> String { String((request.query[name] ?? "").prefix(200)) }

    private var form: HTML {
        let car: HTML =
            "<label>Car <select class=\"box\" id=\"vehicle\" name=\"vehicle\">\(HTML.options(cars.map { ($0.id, $0.name) }, given("vehicle")))</select></label>"
        guard !given("vehicle").isEmpty else {
            guard !cars.isEmpty else {
                return HTML.emptyState(
                    .compare, t("No car yet"),
                    .t("As soon as a car of yours has driven, its drives can be compared here."))
            }
            return
                "<form class=\"asks end\" method=\"get\" action=\"/trips/compare\">\(car)<button class=\"btn primary\">Choose its drives</button></form>"
        }
        let words = TripWords(caller: caller)
        let choices = trips.map { read -> (String, String) in
            let shown = words.distance(read.figures.distanceKm).map { ", \($0.number) \($0.unit)" } ?? ""
            return (
                String(read.trip.startMs), "\(words.day(read.trip.startMs)) \(words.time(read.trip.startMs))\(shown)"
            )
        }
        let tags = Set(trips.compactMap(\.tag)).sorted()
        return """
            <form class="asks end" method="get" action="/trips/compare">
            \(car)
            <label>A drive of the route <select class="box" id="trip" name="trip">\(HTML.options([("", t("None: by tag"))] + choices, given("trip")))</select></label>
            <label>Or a tag <select class="box" id="tag" name="tag">\(HTML.options([("", t("None"))] + tags.map { ($0, $0) }, given("tag")))</select></label>
            <label>First day after the change <input class="box" id="change" name="change" type="date" required value="\(given("change"))"></label>
            <button class="btn primary">Compare</button>
            </form>
            """
    }

    private var result: HTML {
        switch found {
        case nil: return ""
        case .fault(let text): return .fault(text)
        case .comparison(let comparison):
            let (before, after) = comparison.counts
            guard before > 0, after > 0 else {
                return
                    "<p role=\"status\" class=\"strip warning\">\(HTML.icon(.info))<span>Drives before: \(String(before)), after: \(String(after)). There is nothing to compare. Choose another day or drive.</span></p>"
            }
            let lines = comparison.shown(caller.units)
            return """
                \(verdict(lines))
                <div class="grid compared">\(lines.map(card).joined())</div>
                """
        }
    }

    /// What changed for sure, in words; before any figure.
    private func verdict(_ lines: [RouteComparison.Shown]) -> HTML {
        let clear = lines.filter { $0.isClear == true }
        let first = clear.first.map { "\($0.name): \(change($0))" }
        let others = clear.dropFirst().map { "\($0.name): \(change($0))" }.joined(separator: "; ")
        let isKnown = lines.contains { $0.isClear != nil }
        let text =
            first
            ?? (isKnown
                ? t("No clear change: what differs may be chance.")
                : t("Too few drives to tell. Three on each side are a beginning."))
        let also: HTML? = others.isEmpty ? nil : "<span class=\"soft\">Also clear: \(others).</span>"
        return """
            <section class="strip \(first == nil ? "info" : "ok")" role="status"><span class="ic">\(HTML.icon(first == nil ? .info : .check))</span>\
            <span class="grow"><b>\(text)</b>\(also)</span></section>
            """
    }

    /// `8 % less`
    private func change(_ line: RouteComparison.Shown) -> String {
        guard let before = line.before?.mean, let difference = line.difference else { return t("another") }
        return ChangeWords.text(before + difference, before, than: .before) ?? t("another")
    }

    /// Both means as bars of one length, and how sure the difference is.
    private func card(_ line: RouteComparison.Shown) -> HTML {
        let most = max(line.before?.mean ?? 0, line.after?.mean ?? 0)
        func bar(_ name: String, _ sample: Comparison.Sample?, _ tone: HTML) -> HTML {
            let share = most > 0 ? max(0, (sample?.mean ?? 0) / most * 100) : 0
            let width = GroupedNumber.text(share, 1)
            return """
                <span class="pair-bar"><span class="soft">\(name)</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">\
                <rect width="\(width)" height="10" rx="1" fill="\(tone)"/></svg><b class="num">\(line.text(sample?.mean) ?? "–")</b></span>
                """
        }
        let pill =
            line.isClear.map { $0 ? HTML.pill("ok", t("Clear")) : HTML.pill("quiet", t("May be chance")) }
            ?? HTML.pill("silent", t("Too few drives"))
        return """
            <section class="card w4 kpi"><span class="label row between">\(line.name), \(line.unit)\(pill)</span>\
            \(bar(t("Before"), line.before, "var(--quiet-solid)"))\(bar(t("After"), line.after, "var(--accent)"))</section>
            """
    }

    private var details: HTML {
        guard case .comparison(let comparison) = found, comparison.counts.before > 0, comparison.counts.after > 0 else {
            return ""
        }
        return """
            \(table(comparison))
            <details class="card more-of"><summary>Which drives, and how it was worked out</summary><div class="body">
            <p>A difference is clear when it is larger than its margin: chance alone makes so much in 5 of 100 comparisons (Welch's t-test).</p>
            \(starts(comparison))</div></details>
            """
    }

    private func table(_ comparison: RouteComparison) -> HTML {
        HTML.table(
            caption: t(
                comparison.counts.before,
                one: "\(comparison.counts.before) drive before, \(comparison.counts.after) after",
                many: "\(comparison.counts.before) drives before, \(comparison.counts.after) after"),
            headers: [
                .text(t("Figure")), .number(t("Before")), .number(t("Spread")), .number(t("Drives")),
                .number(t("After")), .number(t("Spread")), .number(t("Drives")), .number(t("Difference")),
                .number(t("Margin")), .text(t("Clear")),
            ],
            rows: comparison.shown(caller.units).map { line in
                [
                    "\(line.name), \(line.unit)", .text(line.text(line.before?.mean)),
                    .text(line.text(line.before?.standardDeviation)), "\(line.before?.count ?? 0)",
                    .text(line.text(line.after?.mean)), .text(line.text(line.after?.standardDeviation)),
                    "\(line.after?.count ?? 0)", .text(line.text(line.difference)),
                    line.text(line.margin).map { "± \($0)" },
                    .text(line.isClear.map { $0 ? t("clear") : t("may be chance") } ?? t("too few drives")),
                ]
            }, empty: "")
    }

    private func starts(_ comparison: RouteComparison) -> HTML {
        func list(_ title: String, _ starts: [Int64]) -> HTML {
            let items = starts.map { ms -> HTML in
                "<li><a href=\"\(TripWords.path(given("vehicle"), ms))\">\(caller.clock.minute(ms))</a></li>"
            }
            return "<h3>\(title)</h3><ul>\(items.joined())</ul>"
        }
        return list(t("Before"), comparison.startsMs.before) + list(t("After"), comparison.startsMs.after)
    }

    private func address(_ format: String) -> HTML {
        let items = ["vehicle", "trip", "tag", "change"].map { ($0, given($0)) } + [("format", format)]
        let query: [HTML] = items.filter { !$0.1.isEmpty }.map { "\($0.0)=\(encoded: $0.1)" }
        return "/trips/compare?\(query.joined(separator: "&amp;"))"
    }
}

extension DriveRoutes {
    /// Drives of so long before and after the change, as `drover report compare` has it.
    private static let yearMs = 366 * UTC.msPerDay

    func compare(_ request: Request) -> Response {
        access.page(request, for: FleetRoutes.drivers) { caller, connection in
            let cars = try connection.query(queries["page_vehicles"], [.int4(Int32(CompareView.choicesMax))])
                .filter { try $0.word("kind") == VehicleKind.car }
                .map { (id: try $0.text("vehicle")!, name: try $0.text("name") ?? $0.text("vehicle")!) }
            let vehicle = VehicleID(request.query["vehicle"] ?? "")
            let trips = try vehicle.map { vehicle in
                try connection.query(queries["vehicle_trips"], [.text(vehicle.text), .int8(CompareView.choicesMax)])
                    .map { try TripRead($0, price: price) }
            }
            var found: CompareView.Found?
            if let vehicle, request.query["change"]?.isEmpty == false {
                found = try comparison(request, vehicle, caller, connection)
            }
            if case .comparison(let comparison) = found, let format = request.query["format"] {
                let name = "attachment; filename=\"compare-\(vehicle!).\(format)\""
                switch format {
                case "csv":
                    return .text(comparison.csv(), type: "text/csv; charset=utf-8").with("Content-Disposition", name)
                case "json": return .json(comparison.json() + "\n").with("Content-Disposition", name)
                default: return .problem(400, type: "format", detail: "format must be csv or json")
                }
            }
            let page = CompareView(cars: cars, trips: trips ?? [], found: found, caller: caller, request: request)
            var response = shell(caller).page(
                t("compare drives"), at: "/trips", heading: page.heading, main: page.html)
            if case .fault = found { response.status = 400 }
            return response
        }
    }

    private func comparison(
        _ request: Request, _ vehicle: VehicleID, _ caller: PageCaller, _ connection: Connection
    ) throws -> CompareView.Found {
        guard let day = CivilDate(request.query["change"] ?? "", zone: caller.clock.zone) else {
            return .fault(t("The day of the change must be like 2026-11-21."))
        }
        let by: RouteComparison.Matching
        let (trip, tag) = (request.query["trip"] ?? "", request.query["tag"] ?? "")
        if tag.isEmpty, let ms = Int64(trip), UTC.plausible.contains(ms) {
            by = .routeOf(ms: ms)
        } else if trip.isEmpty, !tag.isEmpty, tag.utf8.count <= 200 {
            by = .tag(tag)
        } else {
            return .fault(t("Choose a drive of the route, or a tag that its drives bear: one of the two."))
        }
        let changedMs = day.startMs
        let span =
            max(
                UTC.plausible.lowerBound, changedMs - DriveRoutes.yearMs)..<min(
                UTC.plausible.upperBound, changedMs + DriveRoutes.yearMs)
        do {
            return .comparison(
                try RouteComparison.read(
                    vehicle, by: by, changedMs: changedMs, span: span, price: price, queries: queries, on: connection))
        } catch let fault as RouteComparison.Fault {
            return .fault("\(fault).")
        }
    }
}
