/// Assignment of riders to vehicles.
extension Campus {
    /// Repairs disturbed itineraries, places unassigned riders, and lets the improvement pass move those who wait.
    mutating func decide(_ effect: Effect, _ seed: UInt64, _ decision: inout Decision) {
        let search = FleetSearch(vehicles: vehicles, rides: rides, rules: rules, travel: travel, nowMs: nowMs)
        for (r, ride) in rides.enumerated() {
            for id in ride.refusedBy {
                guard let v = vehicles.firstIndex(where: { $0.id == id }) else { continue }
                search.isBanned[r * search.vehicles + v] = true
            }
        }
        search.markTold()
        if rules.exactStatesMax > 1 {
            for v in vehicles.indices where effect.disturbed?.contains(vehicles[v].id) ?? true { search.optimise(v) }
        }
        for r in queue {
            let choice = search.leastChange(r)
            guard let winner = choice.candidates.first else { continue }
            decision.choices.append(explain(choice, r))
            search.setStops(winner.vehicle, winner.stops)
        }
        decision.costPlaced = search.totalCost
        if rules.iterations > 0 {
            Improvement(search, seed: seed, heat: .stream).run(rounds: rules.iterations)
        }
        decision.costAfter = search.totalCost
        decision.moved = moved(search)
        write(search)
    }

    private func explain(_ choice: FleetSearch.Choice, _ r: Int) -> Decision.Choice {
        let options = choice.candidates.prefix(rules.candidatesMax).map { candidate in
            let vehicle = vehicles[candidate.vehicle]
            let terms = [candidate.stops, candidate.stopsBefore].map { stops in
                let order = stops.map {
                    Stop(rank: rides[Int($0) >> 1].rank, kind: $0 & 1 == 0 ? .pickup : .dropoff)
                }
                return Schedule(vehicle, stops: order, rides: rides, rules: rules, travel: travel, nowMs: nowMs).terms
            }
            return Decision.Option(
                vehicle: vehicle.id, before: candidate.before, after: candidate.after, terms: terms[0] - terms[1],
                promises: candidate.promises, isProven: candidate.isProven, legs: legs(vehicle, candidate.stops))
        }
        return Decision.Choice(
            request: rides[r].request.id, options: options, boundedOut: choice.boundedOut,
            unlisted: choice.candidates.count - options.count)
    }

    private func legs(_ vehicle: RideVehicle, _ stops: [Int32]) -> [Decision.Leg] {
        var place = vehicle.place
        return stops.map { stop in
            let (ride, isPickup) = (rides[Int(stop) >> 1], stop & 1 == 0)
            let target = isPickup ? ride.request.pickup : ride.request.dropoff
            defer { place = target }
            return Decision.Leg(
                stop: Stop(rank: ride.rank, kind: isPickup ? .pickup : .dropoff),
                seconds: travel.seconds(from: place, to: target),
                isMeasured: travel.measured(from: place, to: target) != nil)
        }
    }

    /// Riders who got another vehicle than they were told, or one that comes a second or more earlier or later.
    private func moved(_ search: FleetSearch) -> [Decision.MovedPromise] {
        var moved: [Decision.MovedPromise] = []
        for v in vehicles.indices {
            for k in 1..<search.length[v] + 1 {
                let (stop, cell) = (Int(search.stops[v * search.stride + k]), v * search.stride + k)
                let r = stop >> 1
                guard stop & 1 == 0, search.toldVehicle[r] >= 0 else { continue }
                let told = Int(search.toldVehicle[r])
                let arrivalS = search.departS[cell] - rules.pickupServiceS
                guard told != v || (arrivalS - search.toldArrivalS[r]).magnitude >= 1 else { continue }
                moved.append(
                    Decision.MovedPromise(
                        request: rides[r].request.id, vehicleBefore: vehicles[told].id, vehicleAfter: vehicles[v].id,
                        arrivalBeforeMs: milliseconds(search.toldArrivalS[r]), arrivalAfterMs: milliseconds(arrivalS)))
            }
        }
        return moved
    }

    private func milliseconds(_ seconds: Double) -> Int64 { nowMs + Int64((seconds * 1_000).rounded()) }

    private mutating func write(_ search: FleetSearch) {
        for v in vehicles.indices {
            vehicles[v].stops = search.itinerary(v, of: rides)
            for stop in vehicles[v].stops where stop.kind == .pickup {
                rides[rides.indexOfRank(stop.rank)].state = .assigned(vehicle: vehicles[v].id)
            }
        }
    }
}
