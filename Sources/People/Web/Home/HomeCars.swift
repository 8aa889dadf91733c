internal import Alerts
internal import Fleet
internal import Presentation
internal import Reports
internal import Tiles

/// The cars of somebody who drives a few: where each is, what it did today, what is wrong with it.
struct HomeCars {
    /// Of more the map and the lists tell better.
    static let carsMax = 6

    let news: HomeNews
    let caller: PageCaller
    let nowMs: Int64
    /// Nil: the map tells no names.
    let streets: StreetNames?

    /// Empty: they are no driver, or have too many.
    var html: HTML {
        let cars = news.map.vehicles.filter { $0.kind == .car }
        guard caller.roles.contains(.driver),
            caller.roles.isDisjoint(with: [.fleetManager, .administrator, .operator]),
            (1...HomeCars.carsMax).contains(cars.count)
        else { return "" }
        // Positions are in units of 1e-7 degrees.
        let positions = cars.map { car -> StreetNames.Place? in
            car.position.map { (Double($0.latitude) / 1e7, Double($0.longitude) / 1e7) }
        }
        let places = streets?.names(at: positions) ?? cars.map { _ in nil }
        return """
            <section class="card" id="cars" aria-labelledby="cars-title"><header><h2 id="cars-title">Your cars</h2><a class="more" href="/trips">All trips</a></header>
            \(zip(cars, places).map(item).joined(separator: "\n"))</section>
            """
    }

    private func item(_ car: FleetMap.Vehicle, _ place: String?) -> HTML {
        let trips = news.trips.count { $0.vehicle == car.vehicle }
        // Only so many trips are read: of more the count would be too small.
        let today =
            news.trips.count >= Int(HomeNews.tripsMax)
            ? nil
            : trips == 0 ? t("no trip today") : t(trips, one: "\(trips) trip today", many: "\(trips) trips today")
        let seen = car.lastMs.map { t("heard \(caller.words.when($0, nowMs: nowMs, caller.clock))") }
        let about = [place, today, seen].compactMap { $0 }.joined(separator: " · ")
        let wrong: HTML =
            car.openAlerts == 0
            ? ""
            : "<a href=\"/alerts?vehicle=\(encoded: car.vehicle)\">\(HTML.pill(car.severity?.rawValue ?? "warning", t(car.openAlerts, one: "1 alert", many: "\(car.openAlerts) alerts")))</a>"
        let live: HTML =
            car.state == .moving ? "<a class=\"btn small\" href=\"/cars/\(encoded: car.vehicle)/live\">Live</a>" : ""
        return """
            <div class="item"><span class="ic s">\(HTML.icon(.car))</span>\
            <span><a class="name" href="/vehicles/\(encoded: car.vehicle)?kind=car">\(car.name ?? car.vehicle)</a><small>\(about)</small></span>\
            <span class="row wrap end">\(wrong)\(HTML.state(car.state))\(live)</span></div>
            """
    }
}
