internal import Basics
internal import Presentation
internal import Reports
internal import Trips

/// The table of trips: on a phone each is a card.
struct TripRowsView {
    let filter: TripFilter
    let trips: [TripRead]
    let names: [String: String]
    let outlines: [TripOutlines.Key: TripOutlines.Way]
    let streets: [TripOutlines.Key: (from: String?, to: String?)]
    let words: TripWords
    let isUnderWay: (TripRead) -> Bool

    private enum Column: String, CaseIterable {
        case track, way, left, arrived, distance, time, fuel, cost, speed, harsh, idle, driver, tag

        var name: String {
            switch self {
            case .track: t("Track")
            case .way: t("Route")
            case .left: t("Left")
            case .arrived: t("Arrived")
            case .distance: t("Distance")
            case .time: t("Time")
            case .fuel: t("Fuel")
            case .cost: t("Cost")
            case .speed: t("Top speed")
            case .harsh: t("Harsh")
            case .idle: t("Idle")
            case .driver: t("Driver")
            case .tag: t("Tag")
            }
        }
    }

    static var columns: [ColumnChoice.Column] {
        Column.allCases.map {
            ColumnChoice.Column(key: $0.rawValue, name: $0.name, isStandard: ![.idle, .driver, .tag].contains($0))
        }
    }

    /// What files call it.
    static let files = [
        "left": ["start"], "arrived": ["end"], "distance": ["distance_km"], "time": ["duration_s"],
        "fuel": ["fuel_l", "fuel_us_gal", "average_mpg"], "cost": ["fuel_cost", "currency"],
        "speed": ["max_speed_kmh"], "harsh": ["sharp_accelerations", "sharp_brakings"], "idle": ["idle_s"],
        "driver": ["driver"], "tag": ["tag"],
    ]

    /// Those that are chosen and have something to say.
    private var columns: [Column] {
        filter.columns.shown.compactMap { Column(rawValue: $0.key) }.filter { column in
            (column != .track || !outlines.isEmpty) && (column != .way || hasWays)
        }
    }

    var html: HTML {
        """
        <div class="scroll" role="region" aria-label="Trips" tabindex="0"><table class="table cards trips">
        <thead><tr>\(head(t("Vehicle"), .vehicle))\(columns.map(head).joined())</tr></thead>
        <tbody>
        \(rows.joined())</tbody></table></div>
        """
    }

    private func head(_ column: Column) -> HTML {
        if [.track, .way, .driver, .tag].contains(column) { return "<th scope=\"col\">\(column.name)</th>" }
        return TripFilter.Order(rawValue: column.rawValue).map { head(column.name, $0, true) }
            ?? "<th scope=\"col\" class=\"num\">\(column.name)</th>"
    }

    /// A link sorts by the column; again, the other way round.
    private func head(_ name: String, _ order: TripFilter.Order, _ isNumber: Bool = false) -> HTML {
        let isOn = filter.order == order
        let isDown = isOn ? !filter.isDown : order.isDownAtFirst
        let sort: HTML? = isOn ? " aria-sort=\"\(filter.isDown ? "descending" : "ascending")\"" : nil
        return
            "<th scope=\"col\"\(" class=\"num\"", if: isNumber)\(sort)><a href=\"\(filter.address(order: order, isDown: isDown))\">\(name)</a></th>"
    }

    /// Days have a line of their own where they follow each other.
    private var rows: [HTML] {
        var (rows, day): ([HTML], String?) = ([], nil)
        for read in trips {
            let now = words.day(read.trip.startMs)
            if filter.days > 1, filter.order == .left, now != day {
                rows.append(
                    "<tr class=\"day\"><td colspan=\"\(1 + columns.count)\"><b>\(now)</b></td></tr>\n"
                )
            }
            day = now
            rows.append(row(read))
        }
        return rows
    }

    private func row(_ read: TripRead) -> HTML {
        let about = [
            filter.columns.has("driver") ? nil : read.driver.map(words.caller.person),
            filter.columns.has("tag") ? nil : read.tag, part(read.trip),
        ].compactMap { $0 }.joined(separator: " · ")
        let small: HTML? = about.isEmpty ? nil : "<small>\(about)</small>"
        let pill: HTML? = isUnderWay(read) ? " \(HTML.pill("info", t("Under way")))" : nil
        return """
            <tr><td class="head"><span class="cell"><span class="ic s">\(HTML.icon(.car))</span><span>\
            <a class="name" href="\(TripWords.path(read))">\(names[read.vehicle] ?? read.vehicle)</a>\(pill)\(small)</span></span></td>\
            \(columns.map { cell($0, read) }.joined())</tr>

            """
    }

    /// A drive of a day and longer is cut.
    private func part(_ trip: Trip) -> String? {
        switch (trip.isFromBefore, trip.goesOn) {
        case (false, false): nil
        case (true, false): t("from before")
        case (false, true): t("goes on")
        case (true, true): t("from before, goes on")
        }
    }

    private func cell(_ column: Column, _ read: TripRead) -> HTML {
        func number(_ content: HTML) -> HTML { "<td class=\"num\" data-l=\"\(column.name)\">\(content)</td>" }
        func word(_ text: String?) -> HTML { "<td data-l=\"\(column.name)\">\(text ?? "–")</td>" }
        let (figures, trip) = (read.figures, read.trip)
        switch column {
        case .track: return "<td>\(outlines[TripOutlines.Key(read)].map { HTML.miniTrack($0) })</td>"
        case .way: return way(read)
        case .left: return number(moment(trip.startMs))
        case .arrived: return number(isUnderWay(read) ? "–" : moment(trip.endMs))
        case .distance: return number(figure(words.distance(figures.distanceKm)))
        case .time: return number(HTML(TripWords.length(trip.endMs - trip.startMs)))
        case .fuel:
            let mileage: HTML? = words.mileage(figures).map { "<small>\($0.number) \($0.unit)</small>" }
            return number("\(figure(words.fuel(figures)))\(mileage)")
        case .cost: return number(HTML(words.cost(figures) ?? "–"))
        case .speed: return number(figure(words.speed(figures.maxSpeedKmh)))
        case .harsh: return number("\(trip.totals.sharpAccelerations + trip.totals.sharpBrakings)")
        case .idle: return number(HTML(TripWords.length(trip.totals.idleMs)))
        case .driver: return word(read.driver.map(words.caller.person))
        case .tag: return word(read.tag)
        }
    }

    /// A column without a name in it would only take room.
    private var hasWays: Bool { streets.values.contains { $0.from != nil || $0.to != nil } }

    private func way(_ read: TripRead) -> HTML {
        let ends = streets[TripOutlines.Key(read)]
        let to: HTML? = ends?.to.map { "<small>to \($0)</small>" }
        return "<td class=\"head\">\(ends?.from ?? (ends?.to == nil ? "–" : ""))\(to)</td>"
    }

    /// With the day where rows of several days stand in another order.
    private func moment(_ ms: Int64) -> HTML {
        filter.days > 1 && filter.order != .left
            ? "\(words.timeHTML(ms))<small>\(words.day(ms).dropLast(5).description)</small>" : words.timeHTML(ms)
    }

    private func figure(_ figure: TripWords.Figure?) -> HTML {
        figure.map { "\($0.number) <span class=\"u\">\($0.unit)</span>" } ?? "–"
    }
}
