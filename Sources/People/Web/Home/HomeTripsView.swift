internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Trips

/// The last trips of today, each with its outline.
struct HomeTripsView {
    let news: HomeNews
    let caller: PageCaller
    let streets: [TripOutlines.Key: (from: String?, to: String?)]

    var html: HTML {
        guard !news.trips.isEmpty else {
            return """
                <section class="card" id="trips"><header><h2>Trips today</h2><a class="more" href="/trips">All trips</a></header>
                <p class="empty">No trip has begun today. <a href="/trips">Trips of other days</a></p></section>
                """
        }
        let heads: HTML = """
            <th scope="col">Vehicle</th><th scope="col" class="hide-phone">Track</th>\("<th scope=\"col\">Route</th>", if: hasWays)<th scope="col" class="num">Left</th>\
            <th scope="col" class="num">Distance</th><th scope="col" class="num">Time</th><th scope="col">Driving</th>
            """
        let names = Dictionary(
            news.map.vehicles.filter { $0.kind == .car }.map { ($0.vehicle, $0.name ?? $0.vehicle) },
            uniquingKeysWith: { first, _ in first })
        return """
            <section class="card" id="trips"><header><h2 id="trips-title">Trips today</h2><a class="more" href="/trips">All trips</a></header>
            <div class="scroll" role="region" aria-labelledby="trips-title" tabindex="0"><table class="table cards">
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(news.trips.map { row($0, names) }.joined(separator: "\n"))
            </tbody></table></div></section>
            """
    }

    private func row(_ read: TripRead, _ names: [String: String]) -> HTML {
        let trip = read.trip
        let distance = ShownValue(Double(trip.totals.distanceMm) / 1e6, unit: "km", in: caller.units)
        let about = [read.driver.map(caller.person), read.tag].compactMap { $0 }.joined(separator: ", ")
        return """
            <tr><td class="head"><span class="cell"><span class="ic s">\(HTML.icon(.car))</span><span>\
            <a class="name" href="\(TripWords.path(read))">\(names[read.vehicle] ?? read.vehicle)</a>\
            \("<small>\(about)</small>", if: !about.isEmpty)</span></span></td>\
            <td class="off">\(news.ways[TripOutlines.Key(read)].map { HTML.miniTrack($0) })</td>\(way(read))\
            <td class="num" data-l="Left"><time datetime="\(UTC.text(trip.startMs))">\(caller.clock.minute(trip.startMs).suffix(5).description)</time></td>\
            <td class="num" data-l="Distance">\(GroupedNumber.short(distance.value, 1))<span class="u"> \(distance.unit)</span></td>\
            <td class="num" data-l="Time">\(read.isOpen ? t("\(caller.words.span(trip.endMs - trip.startMs)) so far") : caller.words.span(trip.endMs - trip.startMs))</td>\
            <td data-l="Driving">\(driving(read))\(live(read, names[read.vehicle] ?? read.vehicle))</td></tr>
            """
    }

    /// A column without a name in it would only take room.
    private var hasWays: Bool { streets.values.contains { $0.from != nil || $0.to != nil } }

    private func way(_ read: TripRead) -> HTML {
        guard hasWays else { return "" }
        let ends = streets[TripOutlines.Key(read)]
        let to: HTML? = ends?.to.map { "<small>to \($0)</small>" }
        return "<td class=\"head\">\(ends?.from ?? (ends?.to == nil ? "–" : ""))\(to)</td>"
    }

    /// The car's values while it drives.
    private func live(_ read: TripRead, _ name: String) -> HTML {
        guard read.isOpen else { return "" }
        return """
             <a class="btn small" href="/cars/\(encoded: read.vehicle)/live">\(HTML.icon(.speed))Live<span class="sr"> drive of \(name)</span></a>
            """
    }

    private func driving(_ read: TripRead) -> HTML {
        let (accelerations, brakings) = (Int(read.trip.totals.sharpAccelerations), Int(read.trip.totals.sharpBrakings))
        let idleMs = read.trip.totals.idleMs
        var tags: [HTML] = []
        if accelerations + brakings > 0 {
            let brakes = t(brakings, one: "1 harsh brake", many: "\(brakings) harsh brakes")
            let starts = t(accelerations, one: "1 harsh start", many: "\(accelerations) harsh starts")
            let words = [brakings > 0 ? brakes : nil, accelerations > 0 ? starts : nil].compactMap { $0 }
                .joined(separator: ", ")
            tags.append("<span class=\"tag\">\(HTML.icon(.harsh))\(words)</span>")
        }
        if idleMs >= 5 * UTC.msPerMinute {
            tags.append("<span class=\"tag\">\(HTML.icon(.idle))idled \(caller.words.span(idleMs))</span>")
        }
        return tags.isEmpty ? "<span class=\"faint\">Smooth</span>" : tags.joined(separator: " ")
    }
}
