/// The invariants of a campus.
extension Campus {
    /// Why this state cannot be; nil when all is well. Itineraries hold each ride's open stops once, pickup first, on the
    /// vehicle that the ride says, and nobody is without a seat.
    public var fault: String? {
        guard Set(vehicles.map(\.id)).count == vehicles.count else { return "a vehicle is here twice" }
        guard Set(rides.map(\.request.id)).count == rides.count else { return "a request is here twice" }
        guard zip(rides, rides.dropFirst()).allSatisfy({ $0.rank < $1.rank }), (rides.last?.rank ?? 0) < nextRank else {
            return "the ranks are not in order"
        }
        var seen = 0
        for vehicle in vehicles {
            guard vehicle.stops.count <= DispatchRules.stopsMax else { return "\(vehicle.id) has too many stops" }
            if let fault = fault(of: vehicle) { return "\(vehicle.id): \(fault)" }
            seen += vehicle.stops.count
        }
        let open = rides.reduce(0) { sum, ride in
            switch ride.state {
            case .queued: sum
            case .assigned: sum + 2
            case .onBoard: sum + 1
            }
        }
        return open == seen ? nil : "\(open) stops are open, \(seen) in itineraries"
    }

    private func fault(of vehicle: RideVehicle) -> String? {
        var waiting: Set<Int64> = []
        var onBoard: Set<Int64> = []
        var load = 0
        for stop in vehicle.stops {
            guard let index = rides.firstIndex(ofRank: stop.rank), rides[index].vehicle == vehicle.id else {
                return "a stop of a ride that it does not have"
            }
            if rides[index].isOnBoard, onBoard.insert(stop.rank).inserted { load += rides[index].request.passengers }
        }
        for stop in vehicle.stops {
            let ride = rides[rides.indexOfRank(stop.rank)]
            switch stop.kind {
            case .pickup:
                guard !ride.isOnBoard, waiting.insert(stop.rank).inserted else { return "a pickup too many" }
                onBoard.insert(stop.rank)
                load += ride.request.passengers
            case .dropoff:
                guard onBoard.remove(stop.rank) != nil else { return "a drop-off before its pickup" }
                load -= ride.request.passengers
            }
            if load > vehicle.capacity { return "more passengers than seats" }
        }
        return onBoard.isEmpty ? nil : "a rider who is never dropped"
    }
}
