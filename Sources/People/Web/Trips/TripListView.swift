internal import Fleet
internal import Alerts
internal import Presentation
internal import Reports
internal import Trips

/// A day's trips, and one of them on the map.
struct TripListView {
    let date: CivilDate
    /// Empty: of all.
    let vehicle: String
    let trips: [TripRead]
    let chosen: TripRead?
    let caller: PageCaller

    func html(_ base: BaseMap, charts: HTML) -> HTML {
        let span = date.span(days: 1)
        let hours = (span.upperBound - span.lowerBound) / 3_600_000
        return """
            <h1>Trips of \(date.text)\(vehicle.isEmpty ? "" : ", \(vehicle)")</h1>
            <p class="soft">\(date.zone), \(hours) hours. Trips count on the day they begin.</p>
            \(TripListView.form(vehicle, date))
            \(TripTotalsView(trips, caller.units).tiles)
            \(chosen.map { replay($0, base, charts: charts) } ?? "")
            \(TripTableView(trips, caller, hasVehicles: true).html(caption: "Trips", empty: "No trip began on this day."))
            """
    }

    /// Neither all trips nor none would answer the request.
    static func noVehicle(_ name: String, _ date: CivilDate) -> HTML {
        """
        <h1>Trips of \(date.text)</h1>
        <p role="alert" class="critical">No vehicle \(String(name.prefix(64))): there is no car with this id that you may see. Type its id, which the list offers, or nothing for all cars.</p>
        \(form(String(name.prefix(64)), date))
        """
    }

    private static func form(_ vehicle: String, _ date: CivilDate) -> HTML {
        let of: HTML = vehicle.isEmpty ? "" : "&amp;vehicle=\(encoded: vehicle)"
        return """
            <form class="filter" method="get" action="/trips">
            <div><label for="date">Date</label><input id="date" name="date" type="date" value="\(date.text)" required></div>
            <div><label for="vehicle">Vehicle's id, or empty for all</label><input id="vehicle" name="vehicle" type="text" maxlength="64" list="vehicles" autocomplete="off" value="\(vehicle)">\(VehicleNames.list(kind: .car))</div>
            <button>Show</button>
            </form>
            <p><a href="/trips?date=\(date.moved(by: -1).text)\(of)">The day before</a>, <a href="/trips?date=\(date.moved(by: 1).text)\(of)">the day after</a>, <a href="/trips/compare">compare drives of one route</a></p>
            """
    }

    private func replay(_ read: TripRead, _ base: BaseMap, charts: HTML) -> HTML {
        let (start, end) = (caller.clock.second(read.trip.startMs), caller.clock.second(read.trip.endMs))
        return """
            <section aria-labelledby="replay-title"><h2 id="replay-title">\(read.vehicle), \(start) to \(end)</h2>
            <div id="map" class="map" role="region" aria-label="Map of the trip" data-track="/v1/tracks/\(encoded: read.vehicle)/\(read.trip.startMs)" data-zone="\(caller.clock.zone)" data-units="\(caller.units.rawValue)" \(base.attributes)></div>
            <div id="replay" class="replay" hidden>
            <button type="button" id="play">Play</button>
            <label for="moment">Moment of the trip</label>
            <input id="moment" type="range" min="0" max="0" value="0" step="1">
            <output id="said" for="moment"></output>
            </div>
            <p id="no-track" class="empty" role="status"></p>
            \(charts)
            </section>
            """
    }
}
