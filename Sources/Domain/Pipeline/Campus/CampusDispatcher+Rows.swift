internal import Fleet
internal import Routing

/// The rows that people see of rides and vehicles.
extension CampusDispatcher {
    /// Brings the rows up to what the campus says.
    mutating func follow(_ turn: Turn) {
        var place = 0
        for ride in campus.rides {
            var row = rides[ride.request.id]!
            if row.vehicle != ride.vehicle { (row.vehicle, row.reason) = (ride.vehicle, nil) }
            // Got off where its vehicle stood: the next one comes there.
            if row.state == .onBoard, !ride.isOnBoard {
                (row.pickup.from, row.pickup.fromAddress) = (area.position(ride.request.pickup), nil)
            }
            row.placeInLine = nil
            switch ride.state {
            case .queued:
                place += 1
                (row.state, row.placeInLine, row.pickupMs, row.dropoffMs) = (.queued, place, nil, nil)
            case .assigned: row.state = .assigned
            case .onBoard: row.state = .onBoard
            }
            put(row)
        }
        for id in Set(vehicles.keys).union(turn.touched).sorted() where vehicles[id] != nil { follow(id, turn) }
    }

    mutating func follow(_ id: String, _ turn: Turn) {
        var row = vehicles[id]!
        guard let vehicle = campus.vehicle(id) else {
            guard row.state != .out else { return }
            (row.state, row.stops, row.isSilent, row.isAlarmed) = (.out, [], false, false)
            vehicles[id] = row
            changedVehicles.insert(id)
            return
        }
        row.state = vehicle.inService ? .inService : .leaving
        row.isSilent = vehicle.isSilent
        if row.isAlarmed, !hasPassengers(id) { row.isAlarmed = false }
        let names = Dictionary(uniqueKeysWithValues: campus.rides.map { ($0.rank, $0.request.id) })
        row.stops = vehicle.stops.map { names[$0.rank]! + ($0.kind == .pickup ? " p" : " d") }
        if row != vehicles[id] {
            vehicles[id] = row
            changedVehicles.insert(id)
        }
        guard turn.touched.contains(id) else { return }
        let starts = campus.schedule(vehicle, nowMs: turn.nowMs).startS
        for (stop, startS) in zip(vehicle.stops, starts) {
            var ride = rides[names[stop.rank]!]!
            let ms = turn.nowMs + Int64((startS * 1_000).rounded())
            if stop.kind == .pickup { ride.pickupMs = ms } else { ride.dropoffMs = ms }
            put(ride)
        }
    }

    mutating func put(_ row: RideRow) {
        guard rides[row.pickup.request] != row else { return }
        rides[row.pickup.request] = row
        changedRides.append(row)
    }
}
