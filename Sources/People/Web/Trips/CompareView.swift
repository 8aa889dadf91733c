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

    var html: HTML {
        """
        <h1>Compare drives of one route</h1>
        <p>Did a change of the car help? Drives of one route before and after it are set side by side: those that go the way of a drive you choose, or that bear a tag.</p>
        \(form)
        \(result)
        """
    }

    private func given(_ name: String) -> String { String((request.query[name] ?? "").prefix(200)) }

    private var form: HTML {
        let car: HTML =
            "<div><label for=\"vehicle\">Car</label><select id=\"vehicle\" name=\"vehicle\">\(HTML.options(cars.map { ($0.id, $0.name) }, given("vehicle")))</select></div>"
        guard !given("vehicle").isEmpty else {
            return
                "<form class=\"filter\" method=\"get\" action=\"/trips/compare\">\(car)<button>Choose its drives</button></form>"
        }
        let choices = trips.map { read -> (String, String) in
            let km = read.figures.distanceKm.flatMap { Double($0) }
            let shown = km.map { ", \(ShownValue($0, unit: "km", in: caller.units).text)" } ?? ""
            return (String(read.trip.startMs), "\(caller.clock.minute(read.trip.startMs))\(shown)")
        }
        let tags = Set(trips.compactMap(\.tag)).sorted()
        return """
            <form class="filter" method="get" action="/trips/compare">
            \(car)
            <div><label for="trip">A drive of the route</label><select id="trip" name="trip">\(HTML.options([("", "none: by tag")] + choices, given("trip")))</select></div>
            <div><label for="tag">Or a tag</label><select id="tag" name="tag">\(HTML.options([("", "none")] + tags.map { ($0, $0) }, given("tag")))</select></div>
            <div><label for="change">First day after the change</label><input id="change" name="change" type="date" required value="\(given("change"))"></div>
            <button>Compare</button>
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
                    "<p role=\"status\" class=\"empty\">\(before) drives before and \(after) after: there is nothing to compare. Choose another day or drive.</p>"
            }
            return """
                <section aria-labelledby="result"><h2 id="result">\(before) drives before, \(after) after</h2>
                \(table(comparison))
                <p>A difference is clear when it is larger than its margin: chance alone makes so much in 5 of 100 comparisons (Welch's t-test).</p>
                <p>Export: <a href="\(address("csv"))">CSV</a>, <a href="\(address("json"))">JSON</a>, in the units of the command.</p>
                <details><summary>Which drives</summary>\(starts(comparison))</details>
                </section>
                """
        }
    }

    private func table(_ comparison: RouteComparison) -> HTML {
        HTML.table(
            caption: "Before and after",
            headers: [
                .text("Figure"), .number("Before"), .number("Spread"), .number("Drives"), .number("After"),
                .number("Spread"), .number("Drives"), .number("Difference"), .number("Margin"), .text("Clear"),
            ],
            rows: comparison.shown(caller.units).map { line in
                [
                    "\(line.name), \(line.unit)", .text(line.text(line.before?.mean)),
                    .text(line.text(line.before?.standardDeviation)), "\(line.before?.count ?? 0)",
                    .text(line.text(line.after?.mean)), .text(line.text(line.after?.standardDeviation)),
                    "\(line.after?.count ?? 0)", .text(line.text(line.difference)),
                    line.text(line.margin).map { "± \($0)" },
                    line.isClear.map { $0 ? "clear" : "may be chance" } ?? "too few drives",
                ]
            }, empty: "")
    }

    private func starts(_ comparison: RouteComparison) -> HTML {
        func list(_ title: String, _ starts: [Int64]) -> HTML {
            let items = starts.map { ms -> HTML in
                let day = ZonedDay.date(ofMs: ms, zone: caller.clock.zone)
                let link: HTML = "/trips?date=\(day)&amp;vehicle=\(encoded: given("vehicle"))&amp;trip=\(ms)"
                return "<li><a href=\"\(link)\">\(caller.clock.minute(ms))</a></li>"
            }
            return "<h3>\(title)</h3><ul>\(items.joined())</ul>"
        }
        return list("Before", comparison.startsMs.before) + list("After", comparison.startsMs.after)
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
            var response = shell(caller).page("compare drives", at: "/trips", main: page.html)
            if case .fault = found { response.status = 400 }
            return response
        }
    }

    private func comparison(
        _ request: Request, _ vehicle: VehicleID, _ caller: PageCaller, _ connection: Connection
    ) throws -> CompareView.Found {
        guard let day = CivilDate(request.query["change"] ?? "", zone: caller.clock.zone) else {
            return .fault("The day of the change must be like 2026-11-21.")
        }
        let by: RouteComparison.Matching
        switch (request.query["trip"] ?? "", request.query["tag"] ?? "") {
        case (let trip, "") where Int64(trip).map(UTC.plausible.contains) == true: by = .routeOf(ms: Int64(trip)!)
        case ("", let tag) where !tag.isEmpty && tag.utf8.count <= 200: by = .tag(tag)
        default: return .fault("Choose a drive of the route, or a tag that its drives bear: one of the two.")
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
