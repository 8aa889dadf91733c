internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// A car while it drives: its latest values, its driver's alerts, and buttons that cut and mark its trips.
struct LiveDriveView {
    let car: DriveRoutes.Car
    let now: CarStatus?
    let isDriving: Bool
    let alerts: [OpenAlert]
    let caller: PageCaller
    let mayAct: Bool
    let said: String?
    let nowMs: Int64

    var heading: PageHeading {
        let pill =
            !isDriving
            ? HTML.pill("quiet", t("Not driving"))
            : isSilent ? HTML.pill("silent", t("Silent")) : HTML.pill("ok", t("Live"))
        return PageHeading(
            car.name, crumb: (name: t("Trips"), path: "/trips?vehicle=\(URLText.escaped(car.id.text))"), status: pill,
            actions: """
                <a class="btn icon" href="\(car.path)/scan" aria-label="Health scan" title="Health scan">\(HTML.icon(.engine))</a>\
                <a class="btn icon hide-phone" href="/vehicles/\(encoded: car.id.text)?kind=car" aria-label="The car" title="The car">\(HTML.icon(.car))</a>
                """)
    }

    func html(_ base: BaseMap) -> HTML {
        """
        <div class="driving">
        <div><p class="small soft"><span id="state" role="status">\(state)</span> <span id="updated">\(updated)</span> <span id="live"></span></p>\(unmonitored)
        <div id="drive-alerts" role="alert">\(alertList)</div>
        <ul id="values" class="tiles drive" data-events="\(car.path)/events">\(values)</ul></div>
        <section class="card mapc" aria-label="Map"><div id="where" class="map" role="region" aria-label="Where the car is" data-name="\(car.name)"\(track) \(base.attributes)></div>
        \(place)</section>
        \(mayAct ? forms : "")
        </div>
        """
    }

    /// What was driven before somebody looked.
    private var track: HTML {
        now.map { " data-track=\"/v1/tracks/\(encoded: car.id.text)/\($0.startMs)\"" } ?? ""
    }

    /// Read again with each look; the script moves the map.
    private var place: HTML {
        guard let place = now?.place else {
            return "<p id=\"place\" class=\"small soft\">No position yet: its readings hold none.</p>"
        }
        let moving: HTML = isDriving && (place.speedKmh ?? 0) > 0 ? "moving" : isDriving ? "idling" : "parked"
        return
            "<p id=\"place\" class=\"sr\" data-lon=\"\("\(place.longitudeDeg)")\" data-lat=\"\("\(place.latitudeDeg)")\" data-state=\"\(moving)\">The map follows the car.</p>"
    }

    private var state: String {
        guard let now else { return LiveDriveView.withoutTrip(hasReported: car.hasReported) }
        let since = caller.clock.minute(now.startMs), until = caller.clock.second(now.endMs)
        let trip =
            isDriving
            ? t("On a trip since \(since).") : t("Not driving. Its last trip went from \(since) to \(until).")
        return [
            trip, now.tag.map { t("Tagged “\($0)”.") },
            now.isDiscarded ? t("Discarded: it does not count.") : nil,
        ].compactMap { $0 }.joined(separator: " ")
    }

    /// A trip is its driver's from its beginning on: who gets a car amid one sees alerts of theirs, and the next trip.
    static func withoutTrip(hasReported: Bool) -> String {
        hasReported
            ? t(
                "It has driven, and no trip of it is yours to see: its last one began before the car was yours to drive. Values show with its next trip."
            )
            : t("It has not driven yet. Values show as soon as its first readings are here.")
    }

    private var unmonitored: HTML {
        now?.unmonitored.map {
            "\n<p id=\"not-monitored\" class=\"strip warning\">\(HTML.icon(.info))<span>Not monitored. \($0.why)</span></p>"
        } ?? ""
    }

    /// Readings come every second, or every few; after a tunnel they come late.
    private static let silentMs: Int64 = 30_000

    private var silenceMs: Int64 { now.map { max(0, nowMs - $0.endMs) } ?? 0 }
    private var isSilent: Bool { isDriving && silenceMs >= LiveDriveView.silentMs }

    /// When it was heard of last, and what it means when that is long ago.
    private var updated: String {
        guard let now else { return "" }
        let last = t("Last reading \(caller.clock.second(now.endMs)), times are \(caller.clock.zone).")
        let gap = TripWords.length(now.tripGapMs)
        if isSilent {
            let silence = TripWords.length(silenceMs)
            return last + " "
                + t(
                    "Nothing heard for \(silence): the values are of then. The car is off, or its logger has no network. The trip ends after \(gap) of silence; readings that come late still count."
                )
        }
        return isDriving ? last : last + " " + t("A trip ends after \(gap) of silence, or when its driver ends it.")
    }

    private var values: HTML {
        (now?.shown ?? []).map { value in
            // The unit stands back.
            let parts = value.text.split(separator: " ", maxSplits: 1).map(String.init)
            return "<li>\(value.name)<b>\(parts[0])\(parts.count > 1 ? " <small>\(parts[1])</small>" : "")</b></li>"
        }.joined()
    }

    private var alertList: HTML {
        alerts.map { open in
            let alert = open.alert
            let worst = alert.shown(alert.worstValue, caller.units).map { " (\($0))" } ?? ""
            return
                "<p class=\"strip \(alert.severity.rawValue)\">\(HTML.icon(.warn))<span>\(alert.parameter): \(alert.shownRule(caller.units))\(worst)\(alert.advice.map { ". \($0)" })</span></p>"
        }.joined(separator: "\n")
    }

    /// Each button is a form of its own with an id of its own: sent twice, it counts once.
    private var forms: HTML {
        let done: HTML =
            said.flatMap { LiveDriveView.words[$0] }.map {
                "<p role=\"status\" class=\"strip ok\">\(HTML.icon(.check))<span>\($0)</span></p>"
            } ?? ""
        return """
            \(done)
            <div class="doing thumb">
            \(form("start", "<button class=\"btn wide\">\(HTML.icon(.play))Start a trip</button>"))
            \(form("stop", "<button class=\"btn wide primary\">\(HTML.icon(.flag))End the trip</button>"))
            </div>
            <div id="trip">\(now == nil ? "" : onTrip)</div>
            """
    }

    private var onTrip: HTML {
        """
        <details class="card more-of"><summary>This trip: tag or discard it</summary>
        <div class="doing body">
        \(form("tag", "<label for=\"tag\">Tag; leave empty to remove it</label><input id=\"tag\" name=\"tag\" type=\"text\" maxlength=\"64\" autocomplete=\"off\"><button class=\"btn\">Tag</button>"))
        \(form("discard", "<button class=\"btn danger\">Discard: do not count it</button>"))
        </div></details>
        """
    }

    private func form(_ what: String, _ inside: HTML) -> HTML {
        """
        <form class="drive" method="post" action="\(car.path)/trip">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", AlertAction.newID()))\(FormView.hidden("do", what))\(FormView.hidden("ts", ""))\(FormView.hidden("trip", now.map { String($0.startMs) } ?? ""))\(inside)</form>
        """
    }

    static var words: [String: String] {
        [
            "start": t("A trip starts with the next reading."), "stop": t("The trip ends here."),
            "tag": t("Tagged. It shows in a moment."), "discard": t("This trip will not count."),
        ]
    }
}

extension DriveRoutes {
    private static let alertsMax: Int64 = 10
    /// A phone's clock counts while it is about right: what was pressed is between these readings, and not a moment later.
    private static let clockMs: Int64 = 30_000

    func live(_ request: Request) -> Response {
        access.page(request, for: FleetRoutes.drivers) { caller, connection in
            guard let car = try car(request, connection) else { return DriveRoutes.noCar }
            try pool.withConnection { try CarStatus.watch(car.id, on: $0) }
            let nowMs = Clock.nowMs()
            let now = try CarStatus.read(
                car.id, units: caller.units, rules: rules, price: price, queries: queries, on: connection)
            let alerts = try OpenAlert.read(
                ofKind: .car, car.id.text, role: caller.audience, limit: DriveRoutes.alertsMax, queries, on: connection)
            let page = LiveDriveView(
                car: car, now: now, isDriving: now?.isDriving(nowMs: nowMs) ?? false, alerts: alerts,
                caller: caller, mayAct: !caller.roles.isDisjoint(with: DriveRoutes.actors), said: request.query["said"],
                nowMs: nowMs)
            return shell(caller).page(
                t("\(car.name), live"), at: "/trips", heading: page.heading, styles: BaseMap.styles,
                scripts: BaseMap.scripts + ["live.js", "drive.js"], main: page.html(base))
        }
    }

    /// The alerts of who has logged in, as their apps get them.
    func events(_ request: Request) -> Response {
        access.call(request, for: FleetRoutes.drivers) { caller, connection in
            guard try car(request, connection) != nil else { return DriveRoutes.noCar }
            let id = request.headers["last-event-id"].flatMap { Int64($0) }
            return try .events(request) {
                try pool.withConnection {
                    try streams.open(caller.account, by: caller.holds, after: id, on: $0)
                }
            }
        }
    }

    func say(_ request: Request) -> Response {
        access.form(request, for: DriveRoutes.actors) { caller, fields, connection in
            guard let car = try car(request, connection) else { return DriveRoutes.noCar }
            let nowMs = Clock.nowMs()
            let pressedMs = fields["ts"].flatMap { Int64($0) }.flatMap {
                abs($0 - nowMs) <= DriveRoutes.clockMs ? $0 : nil
            }
            let ms = pressedMs ?? nowMs
            guard let id = fields["id"], VehicleID.isValid(id.utf8), let what = fields["do"] else {
                return DriveRoutes.noForm
            }
            let tripMs = fields["trip"].flatMap { Int64($0) }.flatMap { UTC.plausible.contains($0) ? $0 : nil }
            let kind: Action.Kind
            switch (what, tripMs) {
            case ("start", _): kind = .tripStart
            case ("stop", _): kind = .tripStop
            case ("discard", let trip?): kind = .tripDiscard(atMs: trip)
            case ("tag", let trip?):
                let tag = (fields.name("tag") ?? "").trimmingBlanks
                kind = .tripTag(atMs: trip, tag: tag.isEmpty ? nil : tag)
            default: return DriveRoutes.noForm
            }
            let action = Action(id: id, vehicle: car.id, ts: ms, by: caller.account, note: nil, kind: kind)
            if let refusal = try WriteRefusal.ofPage(.trip, isCar: true, car.id, at: action.aboutMs, on: connection) {
                return refusal
            }
            return push(action, then: "\(car.path)/live?said=\(what)")
        }
    }

    static let noForm = Response.problem(
        422, type: "form", detail: "The form is not whole. Open the page again and send it from there.")
}

extension String {
    fileprivate var trimmingBlanks: String {
        var slice = self[...]
        while slice.first == " " { slice = slice.dropFirst() }
        while slice.last == " " { slice = slice.dropLast() }
        return String(slice)
    }
}
