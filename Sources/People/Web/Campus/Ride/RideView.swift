internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// A rider's page: the ride that is outstanding, or what to ask for one with (`RideAskView`).
struct RideView: Sendable {
    /// An ended ride is shown so long beside the form for the next one.
    private static let lastMs: Int64 = 12 * 3_600_000

    let caller: PageCaller
    let person: Caller
    let profile: RideRecord.Person
    /// Nil: nobody has published this campus.
    let settings: CampusSettings?
    let ride: RideNow?
    /// Rides that were taken, for the same again.
    let recent: [RideNow]
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
        let recent = last?.isOutstanding == true ? [] : try RideQueries.done(of: key, rowsMax: 10, on: connection)
        return RideView(
            caller: caller, person: person, profile: try CampusRoutes.person(person, on: connection),
            settings: try RideQueries.settings(person.campus, on: connection), ride: isShown ? last : nil,
            recent: recent, nowMs: nowMs)
    }

    var isOutstanding: Bool { ride?.isOutstanding == true && notice?.isFault != true }

    private var names: PlaceNames { PlaceNames(settings) }

    var heading: PageHeading {
        PageHeading(
            isOutstanding ? t("Your ride") : t("Where to?"),
            status: "<span class=\"faint small\">\(profile.name) on \(settings?.name ?? person.campus)</span>")
    }

    /// The map fills the page; all else lies on one sheet over it.
    func html(_ base: BaseMap) -> HTML {
        """
        <div class="over">
        \(CampusTextView.map(base, settings, label: t("Map of the campus; the text says the same")))
        <div class="sheet">
        \(CampusTextView.notice(notice))
        \(isUndecided ? "<p role=\"status\" class=\"soon\" data-again>Looking for a vehicle …</p>" : "")
        <p id="said" role="status" data-live class="told">\(said)</p>
        \(isOutstanding ? "" : ask)
        <div id="now" data-live data-kind="\(isOutstanding ? "ride" : "none")"\(stream)>\(ride.map(facts) ?? "")</div>
        \(ending)
        \(isOutstanding ? CampusTextView.updated(caller, nowMs: nowMs) : "")
        <noscript><p class="warning">Without scripts this page does not update. Reload it every few minutes, or the ride is given up.</p></noscript>
        \(CampusTextView.photoForm(profile, person.campus, .rider, caller))
        </div>
        </div>
        """
    }

    private var ask: HTML {
        guard let settings else {
            return "<p class=\"warning\">This campus is not set up yet. Ask your dispatcher.</p>"
        }
        return RideAskView(
            caller: caller, settings: settings, recent: recent, typed: typed, key: key
        ).html
    }

    private var stream: HTML {
        guard let ride, isOutstanding else { return "" }
        return " data-stream=\"/ride/\(encoded: ride.pickup.request)/stream\" data-event=\"ride\""
    }

    /// Short, and the same until something happens: screen readers say it when it changes.
    private var said: String {
        guard let ride else { return "" }
        let reason = ride.isOutstanding ? nil : ride.reason.map { t("Reason: \($0).") }
        let alarm =
            ride.isOutstanding && ride.state == .onBoard && ride.carrier?.isAlarmed == true
            ? t(
                "Your vehicle has been silent for a while. Your dispatcher knows; you can end this ride or ask for another."
            )
            : nil
        return [state(ride), reason, alarm].compactMap(\.self).joined(separator: " ")
    }

    private func state(_ ride: RideNow) -> String {
        let who = ride.carrier
        switch ride.state {
        case .queued:
            return ride.placeInLine.map { t("Waiting for a vehicle, number \($0) in line.") }
                ?? t("Waiting for a vehicle.")
        case .assigned:
            return who.map { t("A vehicle is coming: \($0.vehicle) with \($0.driverName).") }
                ?? t("A vehicle is coming.")
        case .onBoard: return who.map { t("On board: \($0.vehicle) with \($0.driverName).") } ?? t("On board.")
        case .done: return t("Your last ride: done.")
        case .ended: return t("Your last ride: ended before you arrived.")
        case .cancelled: return t("Your last ride: cancelled.")
        case .expired: return t("Your last ride: given up, no vehicle was free in time.")
        case .refused: return t("Your last ride: refused.")
        }
    }

    private func facts(_ ride: RideNow) -> HTML {
        let (pickup, isOpen) = (ride.pickup, ride.isOutstanding)
        let carrier = isOpen ? ride.carrier : nil
        let isStale = carrier.map(isStale) ?? false
        func time(_ ms: Int64?, isExpected: Bool = true) -> HTML? {
            if isStale, isExpected, let carrier { return CampusTextView.unknown(carrier.seenMs, caller, nowMs: nowMs) }
            return ms.map { isOpen ? CampusTextView.expected($0, caller, nowMs: nowMs) : caller.clock.html($0) }
        }
        let isAboard = ride.state == .onBoard
        let (meets, dropoff) = (time(ride.pickupMs, isExpected: !isAboard), time(ride.dropoffMs))
        let pairs: [(String, HTML?)] = [
            (t("Picked up"), isAboard || !isOpen ? meets : nil),
            (isOpen ? t("You arrive") : t("Dropped off"), isOpen && isAboard ? nil : dropoff),
            (t("Place in line"), ride.placeInLine.map { "\($0)" }),
            (t("From"), end("↑", t("Start"), pickup.fromAddress, pickup.from, isOpen)),
            (t("To"), end("↓", t("Destination"), pickup.toAddress, pickup.to, isOpen)),
            (t("Passengers"), "\(pickup.passengers)"), (t("Note"), .text(pickup.description)),
            (t("Asked for"), caller.clock.html(ride.requestedMs)), (t("Ended"), ride.endedMs.map(caller.clock.html)),
        ]
        let list: HTML = pairs.compactMap { name, text in text.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }.joined()
        let cancel: HTML =
            isOpen && !isAboard
            ? CampusTextView.button(
                "/ride/\(URLText.escaped(pickup.request))/cancel", t("Cancel ride"), caller, id: "cancel",
                isQuiet: true)
            : ""
        let lead: HTML? =
            carrier == nil
            ? nil
            : isAboard
                ? dropoff.map { "<p class=\"eta\"><span class=\"soft\">You arrive</span><b>\($0)</b></p>" }
                : meets.map { "<p class=\"eta\"><span class=\"soft\">Picks you up</span><b>\($0)</b></p>" }
        let who: HTML? = carrier.map { carrier in
            """
            <div class="person">\(CampusTextView.photo(carrier.driverPhoto, of: carrier.driverName, person.campus))\
            <div><b>\(carrier.driverName)</b>, \(carrier.vehicle)<br>\(away(carrier, to: isAboard ? pickup.to : pickup.from, isAboard: isAboard))</div></div>
            """
        }
        return "\(lead)\(who)\(cancel)<dl>\(list)</dl>"
    }

    /// How far the vehicle is, and how old that is.
    private func away(_ carrier: RideNow.Carrier, to end: Position, isAboard: Bool) -> HTML {
        let isStale = isStale(carrier)
        let far = CampusTextView.distance(carrier.place.metres(to: end), caller)
        let spot: HTML =
            switch (isStale, isAboard) {
            case (false, false): .t("\(far) from your start")
            case (false, true): .t("\(far) from your destination")
            case (true, false): .t("it was \(far) from your start")
            case (true, true): .t("it was \(far) from your destination")
            }
        let mark = CampusTextView.mark(
            "●", carrier.vehicle, carrier.place, kind: isStale ? "stale" : "vehicle", short: carrier.vehicle)
        return
            "<span \(mark)\(" class=\"stale\"", if: isStale)>\(spot)</span><br><span class=\"soft\">seen \(caller.clock.second(carrier.seenMs)), \(caller.words.age(carrier.seenMs, nowMs: nowMs))</span>"
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
        return "<span\(mark)>\(CampusTextView.place(address, place, names))</span>"
    }
}
