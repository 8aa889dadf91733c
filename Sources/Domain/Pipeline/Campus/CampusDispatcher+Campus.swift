internal import Fleet
public import Routing

/// Records about the campus itself: its settings, the hour, how long ways take.
extension CampusDispatcher {
    mutating func change(_ said: CampusSettings, _ turn: inout Turn) throws(Undecided) {
        let settings = settings.changed(by: said)
        // Names decide nothing.
        guard !settings.isSame(butPlacesOf: self.settings) else { return self.settings = settings }
        guard let area = CampusArea(boundary: settings.boundary) else { return }
        let moved = { [old = self.area] (point: CampusPoint) in area.point(old.position(point)) }
        // Another boundary is another plane: what stands in it would be elsewhere.
        guard
            moved(CampusPoint(xM: 0, yM: 0)) == CampusPoint(xM: 0, yM: 0)
                || campus.rides.isEmpty && campus.vehicles.isEmpty
        else { return }
        // The grid of what was learned has another middle.
        if moved(CampusPoint(xM: 0, yM: 0)) != CampusPoint(xM: 0, yM: 0) { learned = Learned(settings) }
        learned.likelihoods.setHalfLife(settings.halfLifeMs, nowMs: turn.nowMs)
        (self.settings, self.area) = (settings, area)
        try decide(.travelTimesChanged(travel), "campus", nil, &turn)
        try decide(.rulesChanged(settings.rules(surge: campus.rules.weights.surge)), "campus", nil, &turn)
    }

    /// Times by distance for the speed of the hour; measured ones stay.
    var travel: TravelTimes {
        var travel = campus.travel
        travel.secondsPerMetre = settings.travel(speedKmh: learned.speedKmh).secondsPerMetre
        return travel
    }

    /// Changes surge and speed of an hour. Values that hold already are nothing to decide on: several may say them.
    mutating func change(_ hour: RideRecord.Hour, _ turn: inout Turn) throws(Undecided) {
        // Somebody was late, or his clock is: an hour to come would make all until then too late.
        guard hour.startMs >= learned.hourMs ?? .min, hour.startMs <= turn.nowMs + CampusDispatcher.aheadMsMax else {
            return
        }
        (learned.hourMs, learned.speedKmh) = (hour.startMs, hour.speedKmh)
        if travel.secondsPerMetre != campus.travel.secondsPerMetre {
            try decide(.travelTimesChanged(travel), "speed", nil, &turn)
        }
        try change(surge: hour.surge, weather: hour.weather, &turn)
    }

    mutating func change(surge: Int64, weather: String?, _ turn: inout Turn) throws(Undecided) {
        let surge = Double(surge) / 1_000
        guard surge != campus.rules.weights.surge else { return }
        try decide(.surgeChanged(surge), "surge", nil, &turn)
        if !steps.isEmpty { steps[steps.count - 1].weather = weather }
    }

    mutating func measure(_ travel: RideRecord.Travel, _ turn: inout Turn) {
        let table = MeasuredTable(
            by: travel.source, from: travel.from.map(area.point), to: travel.to.map(area.point),
            seconds: travel.ms.map { $0.map { Double($0) / 1_000 } })
        // Places beyond what a campus can be are nobody's here.
        guard let table else { return }
        _ = campus.apply(.timesMeasured(table), atMs: turn.nowMs, seed: 0)
        turn.touched.formUnion(campus.vehicles.map(\.id))
    }
}

extension CampusDispatcher.Learned {
    /// A driver refuses, or takes, both stops at once.
    public mutating func offered(_ request: RideRequest, refused: Bool, _ atMs: Int64) {
        likelihoods.offered(at: request.pickup, refused: refused, atMs: atMs)
        likelihoods.offered(at: request.dropoff, refused: refused, atMs: atMs)
    }
}
