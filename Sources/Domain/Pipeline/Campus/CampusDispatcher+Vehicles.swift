internal import Fleet
internal import Routing

/// Where vehicles are, and what they reach.
extension CampusDispatcher {
    mutating func enter(_ entered: RideRecord.InService, _ turn: inout Turn) throws(Undecided) {
        var row = RideVehicleRow(entered, atMs: turn.nowMs)
        row.stops = vehicles[entered.vehicle]?.stops ?? []
        let decision = try decide(
            .entered(vehicle: entered.vehicle, capacity: entered.capacity, place: area.point(entered.place)),
            "in_service", nil, &turn)
        if case .ignored = decision.outcome { return sign(vehicle: entered.vehicle, turn) }
        vehicles[entered.vehicle] = row
        changedVehicles.insert(entered.vehicle)
        turn.touched.insert(entered.vehicle)
    }

    mutating func move(
        _ vehicle: String, _ place: Position, _ speed: Int64?, _ turn: inout Turn
    ) throws(Undecided) {
        guard let before = vehicles[vehicle], before.state != .out else { return }
        sign(vehicle: vehicle, turn)
        let point = area.point(place)
        _ = campus.apply(.moved(vehicle: vehicle, place: point), atMs: turn.nowMs, seed: 0)
        (vehicles[vehicle]!.place, vehicles[vehicle]!.placeMs) = (place, turn.nowMs)
        turn.touched.insert(vehicle)
        guard (speed ?? CampusDispatcher.speed(before, place, turn.nowMs) ?? .max) < CampusDispatcher.reachedMmPerS,
            let stop = campus.vehicle(vehicle)?.stops.first,
            let ride = campus.rides.first(where: { $0.rank == stop.rank })
        else { return }
        let target = stop.kind == .pickup ? ride.request.pickup : ride.request.dropoff
        let (dx, dy) = (target.xM - point.xM, target.yM - point.yM)
        guard (dx * dx + dy * dy).squareRoot() <= CampusDispatcher.reachedM else { return }
        try reach(ride.request.id, stop.kind == .pickup, &turn)
    }

    /// From the last place, in thousandths of m/s; nil: too long ago to tell.
    static func speed(_ before: RideVehicleRow, _ place: Position, _ nowMs: Int64) -> Int64? {
        let elapsedMs = nowMs - before.placeMs
        guard (500...60_000).contains(elapsedMs) else { return nil }
        return Int64(before.place.metres(to: place) * 1e6 / Double(elapsedMs))
    }
}
