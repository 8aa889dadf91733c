internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Tiles
internal import Trips

/// One trip: its figures, its way with the signals along it, what happened, what it cost, and where each figure comes from.
struct TripView {
    let read: TripRead
    /// The car's, else its id.
    let name: String
    /// The car's trips before it, the newest first.
    let before: [TripRead]
    let nextMs: Int64?
    let readings: [CarReading]
    let rules: TripRules
    let caller: PageCaller
    let nowMs: Int64
    /// Nil: no map tells what streets are called.
    var streets: StreetNames?
    /// The streets where it began and ended, as far as they are known.
    var ends: [String?] = [nil, nil]

    var words: TripWords { TripWords(caller: caller) }
    var events: TripEvents { TripEvents(readings, rules: rules) }

    /// `09:14 to 09:31, Postikatu to Mannerheimintie`; without names of streets `Anna's Golf, 09:14 to 09:31`.
    var title: String {
        let (left, arrived) = (words.time(read.trip.startMs), words.time(read.trip.endMs))
        switch (ends[0], ends[1]) {
        case (nil, nil): return t("\(name), \(left) to \(arrived)")
        case (let from?, nil): return t("\(left) to \(arrived), from \(from)")
        case (nil, let to?): return t("\(left) to \(arrived), to \(to)")
        case (let from?, let to?):
            return from == to
                ? t("\(left) to \(arrived), \(from) and back") : t("\(left) to \(arrived), \(from) to \(to)")
        }
    }

    /// Where the car was by then.
    func streetNames(at times: [Int64]) -> [String?] {
        guard let streets else { return times.map { _ in nil } }
        let placed = readings.compactMap { reading in Position(reading).map { (ts: reading.ts, place: $0) } }
        return streets.names(
            at: times.map { ms -> StreetNames.Place? in
                // The first place is that of the start, too.
                let after = placed.firstIndex { $0.ts > ms } ?? placed.count
                guard placed.indices.contains(max(0, after - 1)) else { return nil }
                let place = placed[max(0, after - 1)].place
                return (Double(place.latitude) / 1e7, Double(place.longitude) / 1e7)
            })
    }

    var heading: PageHeading {
        let day = ZonedDay.date(ofMs: read.trip.startMs, zone: caller.clock.zone)
        let about = [ends == [nil, nil] ? nil : name, words.day(read.trip.startMs), read.driver.map(caller.person)]
            .compactMap { $0 }
            .joined(separator: " · ")
        let pills: HTML =
            read.isUnderWay(nowMs: nowMs, tripGapMs: rules.tripGapMs) ? HTML.pill("info", t("Under way")) : ""
        return PageHeading(
            title, crumb: (name: t("Trips"), path: "/trips?date=\(day)"),
            status: "\(pills)<span class=\"faint small hide-phone\">\(about)</span>", actions: actions)
    }

    /// What tells no places has no track to take along.
    private var hasTrack: Bool { readings.contains { Position($0) != nil } }

    private var actions: HTML {
        func step(_ startMs: Int64?, _ name: String, _ icon: IconName) -> HTML {
            guard let startMs else { return "" }
            return
                "<a class=\"btn icon\" href=\"\(TripWords.path(read.vehicle, startMs))\" aria-label=\"\(name)\" title=\"\(name)\">\(HTML.icon(icon))</a>"
        }
        let path = TripWords.path(read)
        return """
            \(step(before.first?.trip.startMs, t("Previous trip"), .left))\(step(nextMs, t("Next trip"), .right))
            <details class="menu end hide-phone"><summary class="btn">\(HTML.icon(.download))Export</summary><div class="pop">
            \("<a href=\"\(path)?format=gpx\">GPX, the track</a>", if: hasTrack)<a href="\(path)?format=csv">CSV, every reading</a>\
            <a href="\(path)?format=json">JSON, every reading</a></div></details>
            """
    }

    func html(_ base: BaseMap) -> HTML {
        """
        \(strips)\(figures)
        <div class="two">
        \(map(base))
        \(along)
        </div>
        <div class="grid">
        \(happened)
        \(TripCostView(read: read, before: before, words: words).html)
        \(TripSourcesView(read: read, events: events, readings: readings, rules: rules, words: words).html)
        </div>
        \(details)
        """
    }

    // MARK: What must be known before the figures

    private var strips: HTML {
        var strips: [HTML] = []
        if read.isDiscarded {
            strips.append(
                "<p class=\"strip warning\">\(HTML.icon(.info))<span>This trip does not count: its driver discarded it.</span></p>\n"
            )
        }
        if read.trip.isFromBefore || read.trip.goesOn {
            let earlier: HTML? =
                read.trip.isFromBefore
                ? before.first.map { "<a class=\"btn small\" href=\"\(TripWords.path($0))\">Earlier part</a>" } : nil
            let later: HTML? =
                read.trip.goesOn
                ? nextMs.map { "<a class=\"btn small\" href=\"\(TripWords.path(read.vehicle, $0))\">Later part</a>" }
                : nil
            strips.append(
                "<div class=\"strip info\"><span class=\"grow\">\(partWords)</span>\(earlier)\(later)</div>\n"
            )
        }
        return strips.joined()
    }

    private var partWords: String {
        switch (read.trip.isFromBefore, read.trip.goesOn) {
        case (true, true):
            t("A part of a drive longer than a day: it began earlier and goes on. Figures are of this part.")
        case (true, false): t("A part of a drive longer than a day: it began earlier. Figures are of this part.")
        case (false, _): t("A part of a drive longer than a day: it goes on. Figures are of this part.")
        }
    }

    private var happened: HTML {
        let events = events.events
        return TripEventsView(
            events: events, streets: streetNames(at: events.map(\.startMs)), ends: ends, read: read, words: words
        ).html
    }

    // MARK: Figures

    private var figures: HTML {
        let figures = read.figures
        let totals = read.trip.totals
        let harsh = totals.sharpAccelerations + totals.sharpBrakings
        let (brakings, accelerations) = (totals.sharpBrakings, totals.sharpAccelerations)
        let kinds = [
            brakings > 0 ? t(brakings, one: "\(brakings) braking", many: "\(brakings) brakings") : nil,
            accelerations > 0
                ? t(accelerations, one: "\(accelerations) acceleration", many: "\(accelerations) accelerations") : nil,
        ].compactMap { $0 }.joined(separator: ", ")
        let lengthMs = read.trip.endMs - read.trip.startMs
        return """
            <section class="card sum" aria-label="Figures of the trip">
            \(figure(t("Distance"), words.distance(figures.distanceKm), words.speed(figures.averageSpeedKmh).map { t("\($0.number) \($0.unit) average") }))
            \(figure(t("Time"), TripView.split(TripWords.length(lengthMs)), t("\(TripWords.length(events.movingMs)) moving")))
            \(figure(t("Fuel"), words.fuel(figures), words.mileage(figures).map { "\($0.number) \($0.unit)" } ?? figures.fuelUnknown.map(TripWords.why)))
            \(figure(t("Cost"), words.cost(figures).map { ($0, "") }, words.costOfDistance(figures)))
            \(figure(t("Top speed"), words.speed(figures.maxSpeedKmh), nil))
            \(figure(t("Harsh events"), (String(harsh), ""), kinds.isEmpty ? nil : kinds))
            </section>
            """
    }

    private func figure(_ name: String, _ value: TripWords.Figure?, _ below: String?) -> HTML {
        let unit: HTML? = value.flatMap { $0.unit.isEmpty ? nil : "<small>\($0.unit)</small>" }
        let shown: HTML =
            value.map { "<span class=\"fig m\">\($0.number)\(unit)</span>" } ?? "<span class=\"fig m\">–</span>"
        let more: HTML? = below.map { " <small class=\"faint\">\($0)</small>" }
        return "<div><small class=\"l\">\(name)</small>\(shown)\(more)</div>"
    }

    /// `25 min` as a number and its unit; with hours it stays whole.
    private static func split(_ length: String) -> TripWords.Figure {
        let parts = length.split(separator: " ").map(String.init)
        return parts.count == 2 ? (parts[0], parts[1]) : (length, "")
    }

    // MARK: The way

    private func map(_ base: BaseMap) -> HTML {
        let track = TripTrack(readings, signals: [.speed], rules: rules, pointsMax: TripPicture.pointsMax)
        let picture = TripPicture(track)
        let way: HTML =
            picture.map(\.html)
            ?? "<div class=\"empty\"><b>No places</b><p>Its readings hold no positions, so there is nothing on the map.</p></div>"
        return """
            <section class="card mapc" aria-labelledby="way-name"><header><h2 id="way-name">Route</h2>\
            <span id="colours" class="seg end" role="group" aria-label="Colour of the route" hidden></span></header>
            <div id="track" class="map" role="region" aria-label="Map of the trip" data-track="/v1/tracks/\(encoded: read.vehicle)/\(read.trip.startMs)" \
            data-zone="\(caller.clock.zone)" \(base.attributes)>\(way)</div>
            <p id="no-track" class="small soft" role="status"></p>
            <div id="replay" class="play" hidden><button class="btn icon primary" type="button" id="play" aria-label="Play the trip">\(HTML.icon(.play))</button>
            <b id="clock" class="nowrap">\(words.time(read.trip.startMs))</b>
            <div class="grow slid"><span id="hills" aria-hidden="true"></span><input class="range" id="moment" type="range" min="0" max="0" value="0" aria-label="Moment of the trip"></div>
            <output id="said" class="small soft nowrap" for="moment"></output></div></section>
            """
    }

    private var along: HTML {
        let signals = TripSignals(units: caller.units, settings: read.settings)
        let charts = CarCharts(readings, read, caller, rules)
        let figures = TripSignals.all.lazy.compactMap { signal, name, _ -> HTML? in
            let unit = signals.unit(signal)
            return charts.picture(signal, "\(name), \(unit)", signals.limits(signal).map(\.value)).map {
                "<figure class=\"chart\" data-key=\"\(signal.row.key)\"><figcaption><b>\(name)</b> <span class=\"soft\">\(unit)</span></figcaption>\($0)</figure>"
            }
        }.prefix(TripSignals.shownMax)
        return """
            <section class="card along" aria-labelledby="along"><header><h2 id="along">Along the way</h2>
            <span class="seg end" role="group" aria-label="Against" id="against" hidden><button class="opt" type="button" aria-pressed="true">Time</button><button class="opt" type="button" aria-pressed="false">Distance</button></span>
            <details class="menu end" id="more" hidden><summary class="btn small">\(HTML.icon(.plus))Signals</summary><div class="pop"></div></details></header>
            \(figures.isEmpty ? "<p class=\"empty\">Nothing that can be drawn was read.</p>" : figures.joined(separator: "\n"))</section>
            """
    }

    private var details: HTML {
        let rows: [(String, String?)] = [
            (t("Vehicle"), read.vehicle), (t("Started"), UTC.text(read.trip.startMs)),
            (t("Ended"), UTC.text(read.trip.endMs)),
            (t("Tag"), read.tag), (t("Driver"), read.driver.map(caller.person)),
            (t("Readings"), GroupedNumber.text(read.trip.totals.readings)),
            (t("Fuel method"), read.figures.fuelMethod?.rawValue),
            (t("Corrected"), read.revisedMs.map(caller.clock.minute)),
            (t("Time zone"), caller.clock.zone),
        ]
        let items = rows.compactMap { name, value -> HTML? in value.map { "<dt>\(name)</dt><dd>\($0)</dd>" } }
        return """
            <details class="card more-of"><summary>Details</summary><dl class="kv body">\(items.joined())</dl></details>
            """
    }
}
