internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// A rider's page: the ride that is outstanding, or what to ask for one with.
struct RideView: Sendable {
    /// An ended ride is shown so long beside the form for the next one.
    private static let lastMs: Int64 = 12 * 3_600_000

    let caller: PageCaller
    let person: Caller
    let profile: RideRecord.Person
    /// Nil: nobody has published this campus.
    let settings: CampusSettings?
    let ride: RideNow?
    let nowMs: Int64
    /// As it was typed.
    var typed: [String: String] = [:]
    var key = CampusPageRoutes.newKey()
    var notice: FormView.Notice?
    /// The request is not decided yet: the page reloads by itself.
    var isUndecided = false

    static func read(_ caller: PageCaller, _ person: Caller, on connection: Connection) throws -> RideView {
        let key = RideQueries.Key(person.campus, person.id)
        let nowMs = Clock.nowMs()
        let last = try RideQueries.last(of: key, on: connection)
        let isShown = last.map { $0.isOutstanding || nowMs - ($0.endedMs ?? 0) < lastMs } ?? false
        return RideView(
            caller: caller, person: person, profile: try CampusRoutes.person(person, on: connection),
            settings: try RideQueries.settings(person.campus, on: connection), ride: isShown ? last : nil, nowMs: nowMs)
    }

    var isOutstanding: Bool { ride?.isOutstanding == true && notice?.isFault != true }

    var heading: PageHeading {
        PageHeading(
            isOutstanding ? "Your ride" : "Where to?",
            status: "<span class=\"faint small\">\(profile.name) on \(settings?.name ?? person.campus)</span>")
    }

    func html(_ base: BaseMap) -> HTML {
        """
        \(CampusTextView.notice(notice))
        \(isUndecided ? "<p role=\"status\" class=\"soon\" data-again>Looking for a vehicle …</p>" : "")
        <div class="beside">
        <div>
        <p id="said" role="status" data-live class="told">\(said)</p>
        <div id="now" data-live data-kind="\(isOutstanding ? "ride" : "none")"\(stream)>\(ride.map(facts) ?? "")</div>
        \(ending)
        \(isOutstanding ? CampusTextView.updated(caller, nowMs: nowMs) : ask)
        <noscript><p class="warning">Without scripts this page does not update. Reload it every few minutes, or the ride is given up.</p></noscript>
        \(CampusTextView.photoForm(profile, person.campus, .rider, caller))
        </div>
        \(CampusTextView.map(base, settings, label: "Map of the campus; the text says the same"))
        </div>
        """
    }

    private var stream: HTML {
        guard let ride, isOutstanding else { return "" }
        return " data-stream=\"/ride/\(encoded: ride.pickup.request)/stream\" data-event=\"ride\""
    }

    /// Short, and the same until something happens: screen readers say it when it changes.
    private var said: String {
        guard let ride else { return "" }
        let lead = ride.isOutstanding ? "" : "Your last ride: "
        let reason = ride.isOutstanding ? nil : ride.reason
        let who = ride.isOutstanding ? ride.carrier.map { " \($0.vehicle) with \($0.driverName)" } : nil
        let line = ride.placeInLine.map { ", number \($0) in line" }
        let alarm =
            ride.isOutstanding && ride.state == .onBoard && ride.carrier?.isAlarmed == true
            ? ". Your vehicle has been silent for a while. Your dispatcher knows; you can end this ride or ask for another"
            : ""
        let text = lead + CampusTextView.state(ride) + (who.map { ":" + $0 } ?? "") + (line ?? "")
        return text.prefix(1).uppercased() + text.dropFirst() + (reason.map { " (\($0))" } ?? "") + alarm + "."
    }

    private func facts(_ ride: RideNow) -> HTML {
        let (pickup, isOpen) = (ride.pickup, ride.isOutstanding)
        let carrier = isOpen ? ride.carrier : nil
        let isStale = carrier.map(isStale) ?? false
        func time(_ ms: Int64?, isExpected: Bool = true) -> HTML? {
            if isStale, isExpected, let carrier { return CampusTextView.unknown(carrier.seenMs, nowMs: nowMs) }
            return ms.map { isOpen ? CampusTextView.expected($0, caller, nowMs: nowMs) : caller.clock.html($0) }
        }
        let away: HTML? = carrier.map { carrier in
            let metres = carrier.place.metres(to: ride.state == .onBoard ? pickup.to : pickup.from)
            return
                "<span \(CampusTextView.mark("●", carrier.vehicle, carrier.place, kind: isStale ? "stale" : "vehicle"))\(isStale ? " class=\"stale\"" : "")>\(isStale ? "it was " : "")\(CampusTextView.distance(metres, caller)) from your \(ride.state == .onBoard ? "destination" : "start")</span>, seen \(caller.clock.second(carrier.seenMs)), \(caller.words.age(carrier.seenMs, nowMs: nowMs))"
        }
        let pairs: [(String, HTML?)] = [
            (
                "Driver",
                carrier.map {
                    "\(CampusTextView.photo($0.driverPhoto, of: $0.driverName, person.campus))\($0.driverName)"
                }
            ),
            ("Vehicle", .text(carrier?.vehicle)), ("It is", away),
            (
                ride.state == .onBoard || !isOpen ? "Picked up" : "Picks you up",
                time(ride.pickupMs, isExpected: ride.state != .onBoard)
            ),
            (isOpen ? "You arrive" : "Dropped off", time(ride.dropoffMs)),
            ("Place in line", ride.placeInLine.map { "\($0)" }),
            ("From", end("↑", "Start", pickup.fromAddress, pickup.from, isOpen)),
            ("To", end("↓", "Destination", pickup.toAddress, pickup.to, isOpen)),
            ("Passengers", "\(pickup.passengers)"), ("Description", .text(pickup.description)),
            ("Asked for", caller.clock.html(ride.requestedMs)), ("Ended", ride.endedMs.map(caller.clock.html)),
        ]
        let list: HTML = pairs.compactMap { name, text in text.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }.joined()
        let cancel: HTML =
            isOpen && ride.state != .onBoard
            ? CampusTextView.button(
                "/ride/\(URLText.escaped(pickup.request))/cancel", "Cancel ride", caller, id: "cancel",
                isQuiet: true)
            : ""
        return "<dl>\(list)</dl>\(cancel)"
    }

    /// Outside of the part that reloads, so that typed words are not lost.
    private var ending: HTML {
        guard let ride, isOutstanding else { return "" }
        return RideEndingView.html(
            { "/ride/\(URLText.escaped(ride.pickup.request))/\($0.rawValue)" }, of: ride, nil, caller,
            isOpen: ride.state == .onBoard && ride.carrier?.isAlarmed == true)
    }

    private func isStale(_ carrier: RideNow.Carrier) -> Bool {
        CampusTextView.isStale(carrier.seenMs, isSilent: carrier.isSilent, settings, nowMs: nowMs)
    }

    private func end(_ sign: String, _ name: String, _ address: String?, _ place: Position, _ isOpen: Bool) -> HTML {
        let mark: HTML = isOpen ? " \(CampusTextView.mark(sign, name, place, kind: "stop"))" : ""
        return "<span\(mark)>\(CampusTextView.place(address, place))</span>"
    }

    // MARK: Asking

    private var ask: HTML {
        guard settings != nil else {
            return "<p class=\"warning\">This campus is not set up yet. Ask your dispatcher.</p>"
        }
        return """
            <form class="fields" method="post" action="/ride" id="ask">
            \(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("key", key))
            <p class="soft">Type an address or choose a place on the map. One end is on campus, the other at most \(reach) outside.</p>
            \(end("from", "From", "the start"))
            \(end("to", "To", "the destination"))
            <label for="passengers">Passengers</label><input id="passengers" name="passengers" type="number" min="1" max="100" required value="\(typed["passengers"] ?? "1")">
            <label for="description">Note for the driver (optional)</label><input id="description" name="description" type="text" maxlength="300" autocomplete="off" value="\(typed["description"] ?? "")">
            <button class="btn primary">Request ride</button>
            </form>
            """
    }

    private var reach: String {
        CampusTextView.distance(Double(settings?[.reachM] ?? 0) / 1_000, caller)
    }

    private func end(_ prefix: String, _ legend: String, _ what: String) -> HTML {
        """
        <fieldset data-end="\(prefix)_"><legend>\(legend)</legend>
        <label for="\(prefix)_address">Address of \(what)</label><input id="\(prefix)_address" name="\(prefix)_address" type="text" maxlength="200" autocomplete="off" value="\(typed["\(prefix)_address"] ?? "")">
        \(CampusTextView.coordinates("\(prefix)_", what, typed))
        <p class="tools" hidden><button type="button" class="quiet" data-pick="\(prefix)_">Choose on the map</button>\(prefix == "from" ? " <button type=\"button\" class=\"quiet\" data-here=\"from_\">Use my position</button>" : "")</p>
        </fieldset>
        """
    }
}
