internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage

/// The dispatcher's monitor: what needs somebody first, vehicles and open rides on a map, a timeline and tables that say the same, what went
/// otherwise than planned, and waiting and riding beside the last weeks.
struct DispatchMonitorView {
    let view: CampusSnapshot
    let campuses: [(id: String, name: String)]
    let caller: PageCaller
    let nowMs: Int64
    /// There is a routing service to draw itineraries along roads.
    let hasRoads: Bool

    var heading: PageHeading {
        PageHeading(
            t("Dispatch: \(view.settings.name)"),
            actions: "<a class=\"btn\" href=\"/dispatch/\(encoded: view.campus)/places\">\(HTML.icon(.pin))Places</a>")
    }

    func html(_ base: BaseMap) -> HTML {
        let campus = URLText.escaped(view.campus)
        return """
            \(chooser)
            <p id="said" role="status" data-live class="told">\(said)</p>
            \(CampusTextView.updated(caller, nowMs: nowMs))
            <div class="beside" id="follow" data-stream="/dispatch/\(campus)/stream" data-event="campus">
            \(DispatchNeedsView(view: view, caller: caller, nowMs: nowMs).html)
            \(CampusTextView.map(base, view.settings, label: t("Map of vehicles, itineraries and open stops; the tables say the same")))
            </div>
            \(DispatchTimelineView(view: view, caller: caller, nowMs: nowMs).html)
            \(vehicles)
            \(rides)
            \(events)
            \(times)
            <details class="small"><summary>Try other weights</summary>
            <p>How today would have gone with other weights: <code>drover dispatch try --campus \(view.campus) --weights FILE --date \(ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone)) --zone \(caller.clock.zone)</code></p></details>
            """
    }

    private var chooser: HTML {
        guard campuses.count > 1 else { return "" }
        let options = HTML.options(campuses.map { ($0.id, $0.name) }, view.campus)
        return
            "<form class=\"filter\" method=\"get\" action=\"/dispatch\"><div><label for=\"campus\">Campus</label><select id=\"campus\" name=\"campus\">\(options)</select></div><button>Show</button></form>"
    }

    private var said: String {
        let queued = view.rides.count { $0.state == .queued }
        let alarmed = view.vehicles.filter(\.isAlarmed).map(\.vehicle)
        let vehicles = caller.words.count(view.vehicles.count, .vehicle)
        let open = view.rides.count
        let now = t(
            open, one: "\(vehicles), \(open) open ride, \(queued) waiting.",
            many: "\(vehicles), \(open) open rides, \(queued) waiting.")
        guard !alarmed.isEmpty else { return now }
        let names = alarmed.joined(separator: ", ")
        return now + " "
            + t(
                "Needs attention: \(names), silent with passengers on board. Call, then end the rides or hand them over."
            )
    }

    // MARK: Tables. Each body is replaced by itself when it changes.

    private func table(_ id: String, _ caption: String, _ headers: [String], _ rows: [HTML], empty: String) -> HTML {
        let body: HTML =
            rows.isEmpty
            ? "<tr><td colspan=\"\(headers.count)\" class=\"empty\">\(empty)</td></tr>"
            : rows.joined(separator: "\n")
        let heads: HTML = headers.map { "<th scope=\"col\">\($0)</th>" }.joined()
        return """
            <section class="card"><header><h2 id="\(id)-name">\(caption)</h2></header>
            <div class="scroll" role="region" aria-labelledby="\(id)-name" tabindex="0"><table class="table">
            <thead><tr>\(heads)</tr></thead>
            <tbody id="\(id)" data-live>\(body)</tbody></table></div></section>
            """
    }

    private var vehicles: HTML {
        table(
            "vehicles", t("Vehicles"), [t("Vehicle"), t("Driver"), t("Next stops"), t("Seats taken"), t("Seen")],
            view.vehicles.map(vehicle), empty: t("No vehicle in service."))
    }

    /// With the day when it is not today.
    private func seen(_ ms: Int64) -> String {
        let (day, today) = (
            ZonedDay.date(ofMs: ms, zone: caller.clock.zone), ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone)
        )
        return (day == today ? "" : day + " ") + caller.clock.second(ms)
    }

    private func vehicle(_ vehicle: VehicleNow) -> HTML {
        let way = view.way(vehicle)
        let road: HTML =
            hasRoads && way.count > 1
            ? """
             data-road="/dispatch/\(encoded: view.campus)/roads/\(encoded: vehicle.vehicle)" \
            data-road-of="\(CampusTextView.data(CampusSnapshot.roughly(way)))"
            """ : ""
        let stops: [HTML] = vehicle.stops.map { stop in
            let ride = view.rides.first { $0.pickup.request == stop.dropLast(2) }
            let name = ride.map(view.rider) ?? String(stop.dropLast(2))
            return stop.hasSuffix(" p") ? "<li>↑ pick up \(name)</li>" : "<li>↓ drop off \(name)</li>"
        }
        let state: HTML = vehicle.state == .leaving ? "<br><span class=\"soft\">leaving service</span>" : ""
        let alarm: HTML =
            vehicle.isAlarmed ? "<br><span class=\"critical\">needs attention: silent with passengers, call</span>" : ""
        let isStale = view.isStale(vehicle, nowMs: nowMs)
        let silent: HTML = isStale ? "<br><span class=\"warning\">silent: gets no rides</span>" : ""
        let kind = vehicle.isAlarmed ? "alarm" : isStale ? "stale" : "vehicle"
        return """
            <tr \(CampusTextView.mark("●", "\(vehicle.vehicle), \(vehicle.driverName)", vehicle.place, kind: kind, short: vehicle.vehicle)) data-way="\(CampusTextView.data(way))"\(road)>\
            <th scope="row">\(vehicle.vehicle)</th><td>\(vehicle.driverName)\(state)\(alarm)\(silent)</td>\
            <td>\(stops.isEmpty ? .t("none") : "<ol class=\"short\">\(stops.joined())</ol>")</td>\
            <td>\(t("\(vehicle.onBoard) of \(vehicle.capacity)"))</td><td class="k\(isStale ? " stale" : "")">\(seen(vehicle.seenMs))<br>\(caller.words.age(vehicle.seenMs, nowMs: nowMs))</td></tr>
            """
    }

    private var rides: HTML {
        table(
            "rides", t("Open rides"),
            [
                t("Rider"), t("State"), t("Vehicle"), t("From and to"), t("Passengers"), t("Pickup"), t("Drop-off"),
                t("Why"),
            ],
            view.rides.map(ride), empty: t("Nobody waits or rides."))
    }

    private func ride(_ ride: RideNow) -> HTML {
        let (pickup, name) = (ride.pickup, view.rider(ride))
        let carrier = ride.carrier
        let isStale =
            carrier.map {
                CampusTextView.isStale($0.seenMs, isSilent: $0.isSilent, view.settings, nowMs: nowMs)
            } ?? false
        let needs: HTML =
            carrier?.isAlarmed == true && ride.state == .onBoard
            ? "<br><span class=\"critical\">needs attention</span>" : ""
        func time(_ ms: Int64?, isExpected: Bool = true) -> HTML {
            if isStale, isExpected { return "<span class=\"stale\">not known</span>" }
            return .text(ms.map { String(caller.clock.second($0).prefix(5)) }) ?? "–"
        }
        func end(_ sign: String, _ what: String, _ address: String?, _ place: Position, shows: Bool) -> HTML {
            let mark: HTML = shows ? CampusTextView.mark(sign, what, place, kind: "stop", short: name) : ""
            return "<span \(mark)>\(sign) \(CampusTextView.place(address, place, view.names))</span>"
        }
        let state = ride.placeInLine.map { t("waiting, number \($0) in line") } ?? CampusTextView.state(ride.state)
        let from = end("↑", t("pick up \(name)"), pickup.fromAddress, pickup.from, shows: ride.state != .onBoard)
        return """
            <tr><th scope="row">\(name)</th><td>\(state)\(needs)</td>\
            <td>\(ride.carrier?.vehicle ?? "–")</td>\
            <td>\(from)<br>\(end("↓", t("drop off \(name)"), pickup.toAddress, pickup.to, shows: true))</td><td class="num">\(pickup.passengers)</td>\
            <td class="k">\(time(ride.pickupMs, isExpected: ride.state != .onBoard))</td><td class="k">\(time(ride.dropoffMs))</td><td>\(why(pickup.request, name))<br>\(deal(pickup.request, name))</td></tr>
            """
    }

    private func deal(_ request: String, _ name: String) -> HTML {
        "<a href=\"/dispatch/\(encoded: view.campus)/why/\(encoded: request)?deal=1#deal\" aria-label=\"End or hand over the ride of \(name)\">End or hand over</a>"
    }

    private func why(_ request: String, _ name: String) -> HTML {
        "<a href=\"/dispatch/\(encoded: view.campus)/why/\(encoded: request)\" aria-label=\"Why this vehicle, ride of \(name)\">Why</a>"
    }

    private var events: HTML {
        table(
            "events", t("Exceptions in the last hour"), [t("Time"), t("What"), t("Rider"), t("Vehicle"), t("Why")],
            view.events.map { event in
                let vehicle = event.what == .override ? event.vehicle.map { t("given to \($0)") } : event.vehicle
                let rider = event.rider ?? "–"
                let link = event.request.map { why($0, event.rider ?? $0) } ?? "–"
                return """
                    <tr><td class="k">\(caller.clock.second(event.atMs))</td><td>\(event.what.shown)\(event.reason.map { ": \($0)" } ?? "")</td>\
                    <td>\(rider)</td><td>\(vehicle ?? "–")</td><td>\(link)</td></tr>
                    """
            }, empty: t("None: no cancellation, refusal or breakdown."))
    }

    /// As 1 is Monday.
    private static func weekday(_ day: Int) -> String {
        [
            t("Mondays, four weeks"), t("Tuesdays, four weeks"), t("Wednesdays, four weeks"),
            t("Thursdays, four weeks"),
            t("Fridays, four weeks"), t("Saturdays, four weeks"), t("Sundays, four weeks"),
        ][day - 1]
    }

    private var times: HTML {
        let today = ZonedDay.date(ofMs: nowMs, zone: caller.clock.zone)
        // 1970 began on a Thursday.
        let isoDay = ZonedDay(date: today, zone: "UTC").map { Int(($0.fromMs / UTC.msPerDay + 3) % 7 + 1) }
        let rows: [HTML] = view.times.map { times in
            let name = times.weekday.map(DispatchMonitorView.weekday) ?? t("Today")
            let isTheSame = times.weekday == isoDay
            let cells: [HTML] = [times.waitingP50S, times.waitingP90S, times.ridingP50S].map {
                "<td class=\"num\">\(CampusTextView.span($0) ?? "–")</td>"
            }
            return
                "<tr\(" class=\"same\"", if: isTheSame)><th scope=\"row\">\(name)\(" <span class=\"soft\">as today</span>", if: isTheSame)</th><td class=\"num\">\(times.requests)</td><td class=\"num\">\(times.served)</td>\(cells.joined())</tr>"
        }
        return table(
            "times", t("Waiting and riding, last four weeks"),
            [t("Day"), t("Rides"), t("Done"), t("Waiting, median"), t("Waiting, 90 %"), t("Riding, median")], rows,
            empty: t("No rides in four weeks."))
    }
}
