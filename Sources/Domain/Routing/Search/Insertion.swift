/// The best positions of a ride's stops in a route, and the growth of its cost.
package struct Insertion {
    package var change: Double
    /// Places of the route before the insertion; 0 is the vehicle itself.
    var pickupAfter: Int
    var dropoffAfter: Int
}

extension FleetSearch {
    /// Whether the vehicle could take the ride at all.
    package func mayTake(_ r: Int, _ v: Int) -> Bool {
        isServing[v] && passengers[r] <= capacity[v] && !isBanned[r * vehicles + v] && length[v] + 2 < stride
    }

    /// The cheapest places for a ride in a route whose other stops keep their order; nil when there are none below `limit`.
    /// Ties go to the later pickup, then to the earlier drop-off.
    ///
    /// Precondition: `mayTake(r, v)`. With `isBounded`, places that cannot come below `limit` by waiting alone are left out,
    /// which is exact for straight lines without likelihoods.
    package func cheapest(_ r: Int, in v: Int, below limit: Double, isBounded: Bool) -> Insertion? {
        if limited[v] > 0 || hasLimits[r] { return cheapestTimed(r, in: v, below: limit) }
        return cheapestFree(r, in: v, below: limit, isBounded)
    }

    /// Without windows a delay costs its seconds times the rate of the riders behind it: each pair of places takes constant time, and the
    /// best drop-off for each pickup comes from a running minimum over the places behind it.
    private func cheapestFree(_ r: Int, in v: Int, below limit: Double, _ isBounded: Bool) -> Insertion? {
        let (base, n, pickup, dropoff) = (v * stride, length[v], 2 * r, 2 * r + 1)
        let (wait, ride, seats) = (waitRate[r], rideRate[r], capacity[v] - passengers[r])
        let (pickupService, dropoffService) = (rules.pickupServiceS, rules.dropoffServiceS)
        let direct = secondsBetween(pickup, dropoff)
        let (lastPickup, lastDropoff) = isBounded ? lastPlaces(r, in: v, direct: direct, below: limit) : (n, n)
        measureLegs(base, min(n, lastDropoff + 1), pickup, dropoff)

        var best = Insertion(change: limit, pickupAfter: -1, dropoffAfter: -1)
        var (bestDropoff, bestDropoffCost) = (-1, Double.infinity)
        var k = lastDropoff
        while k >= 0 {
            let cell = base + k
            let isLast = k == n
            guard load[cell] <= seats else {
                // Nobody can ride along past a place where the vehicle is too full.
                bestDropoff = -1
                bestDropoffCost = .infinity
                k -= 1
                continue
            }
            let depart = departS[cell]
            let rankHere = k == 0 ? -1 : rank[Int(stops[cell]) >> 1]
            let next = isLast ? 0 : Int(stops[cell + 1])
            let into = k == 0 ? 0 : overtaking(rankHere, rank[r])
            let outOf = isLast ? 0 : overtaking(rank[r], rank[next >> 1]) - legCost[cell]
            if k <= lastPickup {
                let arrival = depart + toPickup[k]
                let toIt = multiplier[pickup] * toPickup[k] + into + wait * arrival
                // Drop-off straight behind the pickup.
                var change = toIt + multiplier[dropoff] * direct + ride * direct
                if !isLast {
                    let delay =
                        toPickup[k] + pickupService + direct + dropoffService + fromDropoff[k + 1] - legS[cell]
                    change += outOf + multiplier[next] * fromDropoff[k + 1] + rate[cell] * delay
                }
                if change < best.change { best = Insertion(change: change, pickupAfter: k, dropoffAfter: k) }
                if bestDropoff >= 0 {
                    let delay = toPickup[k] + pickupService + fromPickup[k + 1] - legS[cell]
                    let change =
                        toIt + outOf + multiplier[next] * fromPickup[k + 1] + rate[cell] * delay
                        + ride * (delay - arrival - pickupService) + bestDropoffCost
                    if change < best.change {
                        best = Insertion(change: change, pickupAfter: k, dropoffAfter: bestDropoff)
                    }
                }
            }
            if k > 0 {
                var change = multiplier[dropoff] * toDropoff[k] + into + ride * (depart + toDropoff[k])
                if !isLast {
                    let delay = toDropoff[k] + dropoffService + fromDropoff[k + 1] - legS[cell]
                    change += outOf + multiplier[next] * fromDropoff[k + 1] + rate[cell] * delay
                }
                if change <= bestDropoffCost { (bestDropoff, bestDropoffCost) = (k, change) }
            }
            k -= 1
        }
        return best.pickupAfter < 0 ? nil : best
    }

    /// Behind these the cost comes to the limit by waiting alone.
    private func lastPlaces(_ r: Int, in v: Int, direct: Double, below limit: Double) -> (pickup: Int, dropoff: Int) {
        let (base, wait, ride) = (v * stride, waitRate[r], rideRate[r])
        // A pickup behind place k waits at least until the vehicle leaves it, and so does a drop-off.
        var lastDropoff = length[v]
        while lastDropoff > 0, min(wait, ride) * departS[base + lastDropoff] >= limit { lastDropoff -= 1 }
        var lastPickup = lastDropoff
        while lastPickup > 0, wait * departS[base + lastPickup] + ride * direct >= limit { lastPickup -= 1 }
        return (lastPickup, lastDropoff)
    }

    /// From and to the new stops, for places 0 to `last`.
    private func measureLegs(_ base: Int, _ last: Int, _ pickup: Int, _ dropoff: Int) {
        var k = 0
        if travel.sites == 0 {
            // Straight lines are as long one way as the other.
            while k <= last {
                let (there, drop) = (secondsTo(pickup, from: base + k), secondsTo(dropoff, from: base + k))
                (toPickup[k], fromPickup[k], toDropoff[k], fromDropoff[k]) = (there, there, drop, drop)
                k += 1
            }
            return
        }
        while k <= last {
            (toPickup[k], toDropoff[k]) = (secondsTo(pickup, from: base + k), secondsTo(dropoff, from: base + k))
            fromPickup[k] = secondsFrom(pickup, to: base + k)
            fromDropoff[k] = secondsFrom(dropoff, to: base + k)
            k += 1
        }
    }

    /// With windows and ride limits: a check by slack in constant time sorts most places out, the rest is measured whole.
    private func cheapestTimed(_ r: Int, in v: Int, below limit: Double) -> Insertion? {
        let (base, n, pickup, dropoff) = (v * stride, length[v], 2 * r, 2 * r + 1)
        guard cost[v].isFinite else { return nil }
        var best = Insertion(change: limit, pickupAfter: -1, dropoffAfter: -1)
        for i in (0...n).reversed() {
            let there = secondsTo(pickup, from: base + i)
            let start = max(departS[base + i] + there, opensS[pickup])
            guard start <= closesS[pickup], load[base + i] + passengers[r] <= capacity[v] else { continue }
            var j = i
            while j <= n, load[base + j] + passengers[r] <= capacity[v] {
                if j > i, limited[v] > 0 {
                    let (next, arrival) = (
                        base + i + 1, start + rules.pickupServiceS + secondsFrom(pickup, to: base + i + 1)
                    )
                    // By measured times a way with one more stop can be the quicker one: then only the next stop says no.
                    guard arrival <= (travel.sites == 0 ? latestS[next] : closesS[Int(stops[next])]) else { break }
                }
                let change = measure(v, with: pickup, after: i, and: dropoff, after: j) - cost[v]
                if change < best.change { best = Insertion(change: change, pickupAfter: i, dropoffAfter: j) }
                j += 1
            }
        }
        return best.pickupAfter < 0 ? nil : best
    }

    /// The whole cost of a route with two more stops; infinite when it breaks a limit. Load is checked by the caller.
    private func measure(_ v: Int, with pickup: Int, after i: Int, and dropoff: Int, after j: Int) -> Double {
        let (base, n) = (v * stride, length[v])
        var filled = 0
        for k in 0...n {
            if k > 0 {
                sequence[filled] = stops[base + k]
                filled += 1
            }
            if k == i {
                sequence[filled] = Int32(pickup)
                filled += 1
            }
            if k == j {
                sequence[filled] = Int32(dropoff)
                filled += 1
            }
        }
        var (clock, total, cell) = (0.0, 0.0, -1)
        for k in 0..<filled {
            let stop = Int(sequence[k])
            let r = stop >> 1
            let drive = cell < 0 ? secondsTo(stop, from: base) : secondsBetween(cell, stop)
            let start = max(clock + drive, opensS[stop])
            guard start <= closesS[stop] else { return .infinity }
            total += multiplier[stop] * drive
            if cell >= 0 { total += overtaking(rank[cell >> 1], rank[r]) }
            clock = start + serviceS(stop)
            if stop & 1 == 0 {
                total += waitRate[r] * start
                pickedUpAtS[r] = clock
            } else if isOnBoard(r) {
                guard start - boardedAtS[r] <= rideLimitS[r] else { return .infinity }
                total += rideRate[r] * start
            } else {
                guard start - pickedUpAtS[r] <= rideLimitS[r] else { return .infinity }
                total += rideRate[r] * (start - pickedUpAtS[r])
            }
            cell = stop
        }
        return total
    }
}
