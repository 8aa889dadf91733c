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

    private var names: PlaceNames { PlaceNames(settings) }

    var heading: PageHeading {
        PageHeading(
            vehicle.map { t("Driving \($0.vehicle)") } ?? t("Start service"),
            status: "<span class=\"faint small\">\(profile.name) on \(settings?.name ?? person.campus)</span>")
    }

    /// As for riders: the map, and one sheet over it.
    func html(_ base: BaseMap) -> HTML {
        """
        <div class="over">
        \(CampusTextView.map(base, settings, label: t("Map of your stops; the list says the same")))
        <div class="sheet">
        \(CampusTextView.notice(notice))
        \(isUndecided ? "<p role=\"status\" class=\"soon\" data-again=\"/drive\">Sent. One moment …</p>" : "")
        \(vehicle.map(service) ?? enter)
        \(CampusTextView.photoForm(profile, person.campus, .rideDriver, caller))
        </div>
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
        \(CampusTextView.coordinates(typed))
        <button class="quiet">Send this position</button></details></form>
        <h2>End your service</h2>
        <p>Out of service: no new rides; you drop off who is on board. Breakdown: another vehicle picks them up where you are.</p>
        <div class="row">\(CampusTextView.button("/drive/out-of-service", t("Out of service"), caller, id: "out", fields: [("key", CampusPageRoutes.newKey())], isQuiet: true))
        \(CampusTextView.button("/drive/breakdown", t("Breakdown"), caller, id: "breakdown", fields: [("key", CampusPageRoutes.newKey())], isQuiet: true))</div>
        <noscript><p class="warning">Without scripts this page does not update. Reload it every few minutes, or you are taken out of service.</p></noscript>
        """
    }

    /// Short, and the same until something happens: screen readers say it when it changes.
    private func said(_ vehicle: VehicleNow) -> String {
        let next = shown(vehicle).first.map { stop in
            stop.isPickup
                ? t("Next: pick up \(stop.name) (\(stop.ride.pickup.passengers)).")
                : t("Next: drop off \(stop.name) (\(stop.ride.pickup.passengers)).")
        }
        let state = vehicle.state == .leaving ? t("You are leaving service. Drop off who is on board.") : nil
        let alarm =
            vehicle.isAlarmed
            ? t(
                "You were silent with passengers on board. Tap Done or Something is wrong for each, or start service again."
            )
            : nil
        return [alarm, state, next ?? t("No stops now")].compactMap(\.self).joined(separator: " ")
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
            \(silent(vehicle))
            <ol class="stops">\(all.enumerated().map { stop($1, first: $0 == 0) }.joined(separator: "\n"))</ol>
            <ul class="plain soft"><li \(CampusTextView.mark("●", vehicle.vehicle, vehicle.place, kind: "vehicle"))>\(t("\(vehicle.onBoard) of \(vehicle.capacity) seats taken"))</li>
            <li title="\(caller.clock.minute(vehicle.seenMs))">\(t("Position seen \(caller.words.age(vehicle.seenMs, nowMs: nowMs))"))</li></ul>
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

    /// What to do, in the order in which it helps.
    private func silent(_ vehicle: VehicleNow) -> HTML {
        guard CampusTextView.isStale(vehicle.seenMs, isSilent: vehicle.isSilent, settings, nowMs: nowMs) else {
            return ""
        }
        return """
            <div class="strip warning"><div class="grow"><b>Your position is too old: you get no rides until you send a new one.</b>
            <ol><li>Keep this page open, with the box below ticked.</li><li>Allow location for this site in your browser, and turn it on in your phone.</li>\
            <li>No signal? Type your position below, or call your dispatcher.</li></ol></div></div>
            """
    }

    private func stop(_ stop: Stop, first isFirst: Bool) -> HTML {
        let (pickup, kind) = (stop.ride.pickup, stop.isPickup ? "pickup" : "dropoff")
        let what = stop.isPickup ? t("Pick up \(stop.name)") : t("Drop off \(stop.name)")
        let expected = stop.isPickup ? stop.ride.pickupMs : stop.ride.dropoffMs
        let request = pickup.request
        let facts = [
            CampusTextView.passengers(pickup.passengers),
            CampusTextView.distance(stop.metres, caller),
        ]
        let done = CampusTextView.button(
            "/drive/done", t("Done"), caller, id: "done-\(kind)-\(request)", label: t("Done: \(what)"),
            fields: [("request", request), ("stop", kind)], isQuiet: !isFirst)
        let refuse: HTML =
            stop.isPickup
            ? CampusTextView.button(
                "/drive/override", t("Refuse"), caller, id: "refuse-\(request)",
                label: t("Refuse the ride of \(stop.name)"), fields: [("request", request)], isQuiet: true) : ""
        let wrong: HTML =
            stop.isPickup
            ? ""
            : "<a href=\"/drive?deal=\(encoded: request)#deal\" aria-label=\"\(t("Something is wrong with the ride of \(stop.name)"))\">Something is wrong</a>"
        let at = CampusTextView.data(stop.place).replacing(" ", with: ",")
        let navigate: HTML =
            "<a class=\"btn\" data-navigate=\"\(at)\" href=\"geo:\(at)?q=\(at)\" aria-label=\"\(t("Navigate: \(what)"))\">\(HTML.icon(.path))<span>Navigate</span></a>"
        return """
            <li\(" class=\"next\"", if: isFirst)><div class="person">\(stop.isPickup ? CampusTextView.photo(stop.photo, of: stop.name, person.campus) : "")<div><strong \(CampusTextView.mark(stop.isPickup ? "↑" : "↓", what, stop.place, kind: "stop", short: stop.name))>\(what)</strong><br>\
            <span class="street">\(street(stop))</span><br>\
            \(facts.joined(separator: ", "))\(expected.map { ", \(CampusTextView.expected($0, caller, nowMs: nowMs))" } ?? "")\
            \(pickup.description.map { "<br>“\($0)”" } ?? "")\(stop.isPickup ? stop.ride.reason.map { "<br><span class=\"warning\">\($0)</span>" } ?? "" : "")</div></div>
            <div class="row">\(done)\(navigate)\(refuse)\(wrong)</div></li>
            """
    }

    /// Never coordinates: nobody reads those at the wheel.
    private func street(_ stop: Stop) -> String {
        let pickup = stop.ride.pickup
        return names.at(stop.place) ?? (stop.isPickup ? pickup.fromAddress : pickup.toAddress)
            ?? names.beside(stop.place, caller) ?? t("The point on the map")
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
            \(CampusTextView.coordinates(typed))
            <p class="tools" hidden><button type="button" class="quiet" data-here="">Use my position</button></p>
            <button class="btn primary">Start service</button>
            </form>
            """
    }
}
