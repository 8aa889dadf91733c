internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// A ride driver's page: the vehicle in service with its stops in order, or what brings one into service. For a phone first.
struct RideDriverView: Sendable {
    let caller: PageCaller
    let person: Caller
    let profile: RideRecord.Person
    let settings: CampusSettings?
    let vehicle: VehicleNow?
    let stops: ItineraryStops
    let nowMs: Int64
    var typed: [String: String] = [:]
    var notice: FormView.Notice?
    /// The ride that its driver wants to end or give away.
    var deal: String?
    /// The last statement is on the log but not decided yet: the page reloads by itself.
    var isUndecided = false

    static func read(_ caller: PageCaller, _ person: Caller, on connection: Connection) throws -> RideDriverView {
        let vehicle = try RideQueries.vehicle(ofDriver: RideQueries.Key(person.campus, person.id), on: connection)
        return RideDriverView(
            caller: caller, person: person, profile: try CampusRoutes.person(person, on: connection),
            settings: try RideQueries.settings(person.campus, on: connection), vehicle: vehicle,
            stops: try ItineraryStops.read(vehicle.map { [(person.campus, $0)] } ?? [], on: connection),
            nowMs: Clock.nowMs())
    }

    var heading: PageHeading {
        PageHeading(
            vehicle.map { "Driving \($0.vehicle)" } ?? "Start service",
            status: "<span class=\"faint small\">\(profile.name) on \(settings?.name ?? person.campus)</span>")
    }

    func html(_ base: BaseMap) -> HTML {
        """
        \(CampusTextView.notice(notice))
        \(isUndecided ? "<p role=\"status\" class=\"soon\" data-again=\"/drive\">Sent. One moment …</p>" : "")
        <div class="beside">
        <div>
        \(vehicle.map(service) ?? enter)
        \(CampusTextView.photoForm(profile, person.campus, .rideDriver, caller))
        </div>
        \(CampusTextView.map(base, settings, label: "Map of your stops; the list says the same"))
        </div>
        """
    }

    // MARK: In service

    private func service(_ vehicle: VehicleNow) -> HTML {
        """
        <p id="said" role="status" data-live class="told">\(said(vehicle))</p>
        \(itinerary(vehicle))
        <div id="deal">\(ending(vehicle))</div>
        \(CampusTextView.updated(caller, nowMs: nowMs))
        <p class="tools" hidden><label class="check"><input type="checkbox" id="track" checked> Send my position while this page is open</label> <span id="tracked" role="status"></span></p>
        <form class="fields" method="post" action="/drive/position" id="position">
        <details><summary>Type your position</summary>
        \(FormView.hidden(CSRFGuard.field, caller.mark))
        \(CampusTextView.coordinates("", "the vehicle", typed))
        <button class="quiet">Send this position</button></details></form>
        <h2>End your service</h2>
        <p>Out of service: no new rides; you drop off who is on board. Breakdown: another vehicle picks them up where you are.</p>
        <div class="row">\(CampusTextView.button("/drive/out-of-service", "Out of service", caller, id: "out", fields: [("key", CampusPageRoutes.newKey())], isQuiet: true))
        \(CampusTextView.button("/drive/breakdown", "Breakdown", caller, id: "breakdown", fields: [("key", CampusPageRoutes.newKey())], isQuiet: true))</div>
        <noscript><p class="warning">Without scripts this page does not update. Reload it every few minutes, or you are taken out of service.</p></noscript>
        """
    }

    /// Short, and the same until something happens: screen readers say it when it changes.
    private func said(_ vehicle: VehicleNow) -> String {
        let next = shown(vehicle).first.map { stop in
            "Next: \(stop.isPickup ? "pick up" : "drop off") \(stop.name) (\(stop.ride.pickup.passengers))."
        }
        let state = vehicle.state == .leaving ? "You are leaving service. Drop off who is on board. " : ""
        let alarm =
            vehicle.isAlarmed
            ? "You were silent with passengers on board. Tap Done or Something is wrong for each, or start service again. "
            : ""
        return alarm + state + (next ?? "No stops.")
    }

    private struct Stop {
        let ride: RideNow
        let isPickup: Bool
        let name: String
        let photo: String?
        /// Along the stops, as the crow flies.
        let metres: Double
        var place: Position { isPickup ? ride.pickup.from : ride.pickup.to }
    }

    private func shown(_ vehicle: VehicleNow) -> [Stop] {
        var (at, metres) = (vehicle.place, 0.0)
        return vehicle.stops.compactMap { text in
            let key = RideQueries.Key(person.campus, String(text.dropLast(2)))
            guard let ride = stops.rides[key] else { return nil }
            let isPickup = text.hasSuffix(" p")
            let place = isPickup ? ride.pickup.from : ride.pickup.to
            metres += at.metres(to: place)
            at = place
            let rider = stops.riders[key]
            return Stop(
                ride: ride, isPickup: isPickup, name: rider?.name ?? ride.pickup.rider, photo: rider?.photo,
                metres: metres)
        }
    }

    private func itinerary(_ vehicle: VehicleNow) -> HTML {
        let all = shown(vehicle)
        let way = CampusTextView.data([vehicle.place] + all.map(\.place))
        return """
            <div id="now" data-live data-kind="vehicle" data-stream="/drive/stream" data-event="itinerary" data-way="\(way)">
            <p><span \(CampusTextView.mark("●", vehicle.vehicle, vehicle.place, kind: "vehicle"))>\(vehicle.onBoard) of \(vehicle.capacity) seats taken</span>, position seen \(caller.clock.second(vehicle.seenMs)), \(caller.words.age(vehicle.seenMs, nowMs: nowMs))\(silent(vehicle)).</p>
            <ol class="stops">\(all.enumerated().map { stop($1, first: $0 == 0) }.joined(separator: "\n"))</ol>
            </div>
            """
    }

    /// Outside of the part that reloads, so that typed words are not lost.
    private func ending(_ vehicle: VehicleNow) -> HTML {
        guard let stop = shown(vehicle).first(where: { $0.ride.pickup.request == deal && !$0.isPickup }) else {
            return ""
        }
        return RideEndingView.html({ "/drive/\($0.rawValue)" }, of: stop.ride, stop.name, caller, isOpen: true)
    }

    private func silent(_ vehicle: VehicleNow) -> HTML {
        CampusTextView.isStale(vehicle.seenMs, isSilent: vehicle.isSilent, settings, nowMs: nowMs)
            ? ": <span class=\"warning\">too old: you get no rides until you send a new one</span>" : ""
    }

    private func stop(_ stop: Stop, first isFirst: Bool) -> HTML {
        let (pickup, kind) = (stop.ride.pickup, stop.isPickup ? "pickup" : "dropoff")
        let what = (stop.isPickup ? "Pick up " : "Drop off ") + stop.name
        let expected = stop.isPickup ? stop.ride.pickupMs : stop.ride.dropoffMs
        let request = pickup.request
        let facts = [
            CampusTextView.passengers(pickup.passengers),
            CampusTextView.distance(stop.metres, caller),
        ]
        let done = CampusTextView.button(
            "/drive/done", "Done", caller, id: "done-\(kind)-\(request)", label: "Done: \(what)",
            fields: [("request", request), ("stop", kind)], isQuiet: !isFirst)
        let refuse: HTML =
            stop.isPickup
            ? CampusTextView.button(
                "/drive/override", "Refuse", caller, id: "refuse-\(request)", label: "Refuse the ride of \(stop.name)",
                fields: [("request", request)], isQuiet: true) : ""
        let wrong: HTML =
            stop.isPickup
            ? ""
            : "<a href=\"/drive?deal=\(encoded: request)#deal\" aria-label=\"Something is wrong with the ride of \(stop.name)\">Something is wrong</a>"
        return """
            <li><div class="person">\(stop.isPickup ? CampusTextView.photo(stop.photo, of: stop.name, person.campus) : "")<div><strong \(CampusTextView.mark(stop.isPickup ? "↑" : "↓", what, stop.place, kind: "stop"))>\(what)</strong><br>\
            \(facts.joined(separator: ", "))\(expected.map { ", \(CampusTextView.expected($0, caller, nowMs: nowMs))" } ?? "")<br>\
            \(CampusTextView.place(stop.isPickup ? pickup.fromAddress : pickup.toAddress, stop.place))\
            \(pickup.description.map { "<br>“\($0)”" } ?? "")\(stop.isPickup ? stop.ride.reason.map { "<br><span class=\"warning\">\($0)</span>" } ?? "" : "")</div></div>
            <div class="row">\(done)\(refuse)\(wrong)</div></li>
            """
    }

    // MARK: Not in service

    private var enter: HTML {
        guard settings != nil else {
            return "<p class=\"warning\">This campus is not set up yet. Ask your dispatcher.</p>"
        }
        return """
            <p id="said" role="status" data-live class="told">You are not in service.</p>
            <div id="now" data-live data-kind="none"></div>
            <form class="fields" method="post" action="/drive/in-service" id="enter">
            \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("key", CampusPageRoutes.newKey()))
            <label for="vehicle">Vehicle</label><input id="vehicle" name="vehicle" type="text" maxlength="64" required autocomplete="off" autocapitalize="off" value="\(typed["vehicle"] ?? "")">
            <label for="capacity">Passenger seats</label><input id="capacity" name="capacity" type="number" min="1" max="100" required value="\(typed["capacity"] ?? "4")">
            <p>Where it is: tap the map, use your position, or type it.</p>
            \(CampusTextView.coordinates("", "the vehicle", typed))
            <p class="tools" hidden><button type="button" class="quiet" data-here="">Use my position</button></p>
            <button class="btn primary">Start service</button>
            </form>
            """
    }
}
