/// Measuring one route, and changing it.
extension FleetSearch {
    @inline(__always)
    func seconds(
        _ ax: Double, _ ay: Double, _ aSite: Int32, _ bx: Double, _ by: Double, _ bSite: Int32
    ) -> Double {
        if travel.sites == 0 {
            let (dx, dy) = (ax - bx, ay - by)
            return travel.secondsPerMetre * (dx * dx + dy * dy).squareRoot()
        }
        return travel.seconds(
            from: CampusPoint(xM: ax, yM: ay, site: aSite), to: CampusPoint(xM: bx, yM: by, site: bSite))
    }

    /// From place `k` of a route to a stop.
    @inline(__always)
    func secondsTo(_ stop: Int, from cell: Int) -> Double {
        seconds(x[cell], y[cell], site[cell], stopX[stop], stopY[stop], stopSite[stop])
    }

    @inline(__always)
    func secondsFrom(_ stop: Int, to cell: Int) -> Double {
        seconds(stopX[stop], stopY[stop], stopSite[stop], x[cell], y[cell], site[cell])
    }

    @inline(__always)
    func secondsBetween(_ a: Int, _ b: Int) -> Double {
        seconds(stopX[a], stopY[a], stopSite[a], stopX[b], stopY[b], stopSite[b])
    }

    /// The price of serving a ride of rank `a` straight before one of rank `b`.
    @inline(__always)
    func overtaking(_ a: Double, _ b: Double) -> Double { a > b ? weights.order * (a - b) : 0 }

    func serviceS(_ stop: Int) -> Double { stop & 1 == 0 ? rules.pickupServiceS : rules.dropoffServiceS }

    /// Measures a route anew after its stops changed. False, and an infinite cost, when it breaks a limit.
    @discardableResult
    func refresh(_ v: Int) -> Bool {
        let (base, n) = (v * stride, length[v])
        var (onBoard, pending, k, limits) = (0.0, 0.0, 1, 0)
        while k <= n {
            let stop = Int(stops[base + k])
            let r = stop >> 1
            if stop & 1 == 1, hasLimits[r] { limits += 1 }
            if stop & 1 == 0 {
                pending += waitRate[r]
            } else if isOnBoard(r) {
                pending += rideRate[r]
                onBoard += passengers[r]
            }
            k += 1
        }
        (departS[base], load[base], rate[base], limited[v]) = (0, onBoard, pending, limits)
        var (clock, total, broken, isKept) = (0.0, 0.0, 0.0, onBoard <= capacity[v])
        k = 1
        while k <= n {
            let (stop, cell) = (Int(stops[base + k]), base + k)
            let r = stop >> 1
            (x[cell], y[cell], site[cell]) = (stopX[stop], stopY[stop], stopSite[stop])
            let drive = secondsTo(stop, from: cell - 1)
            var leg = multiplier[stop] * drive
            if k > 1 { leg += overtaking(rank[Int(stops[cell - 1]) >> 1], rank[r]) }
            (legS[cell - 1], legCost[cell - 1]) = (drive, leg)
            let start = max(clock + drive, opensS[stop])
            total += leg + pending * (start - clock)
            if start > closesS[stop] { isKept = false }
            if stop & 1 == 0 {
                onBoard += passengers[r]
                pending -= waitRate[r]
                total += pending * rules.pickupServiceS
                pending += rideRate[r]
                clock = start + rules.pickupServiceS
                pickedUpAtS[r] = clock
                broken += promisePrice(r, v, start)
                if onBoard > capacity[v] { isKept = false }
            } else {
                let since = isOnBoard(r) ? boardedAtS[r] : pickedUpAtS[r]
                if start - since > rideLimitS[r] { isKept = false }
                onBoard -= passengers[r]
                pending -= rideRate[r]
                total += pending * rules.dropoffServiceS
                clock = start + rules.dropoffServiceS
            }
            (departS[cell], load[cell], rate[cell]) = (clock, onBoard, pending)
            k += 1
        }
        if isTimed, limits > 0 { measureSlack(v) }
        cost[v] = isKept ? total : .infinity
        promises[v] = broken
        return isKept
    }

    /// The broken promise to the rider when `v` is there at `start`.
    @inline(__always)
    private func promisePrice(_ r: Int, _ v: Int, _ start: Double) -> Double {
        guard toldVehicle[r] >= 0 else { return 0 }
        let moved = rules.movedArrivalPrice * passengers[r] * (start - toldArrivalS[r]).magnitude
        return toldVehicle[r] == v ? moved : moved + rules.otherVehiclePrice
    }

    private func measureSlack(_ v: Int) {
        var (k, latest) = (length[v], Double.infinity)
        while k >= 1 {
            let (cell, stop) = (v * stride + k, Int(stops[v * stride + k]))
            latest = min(closesS[stop], latest - serviceS(stop))
            latestS[cell] = latest
            latest -= legS[cell - 1]
            k -= 1
        }
    }

    /// Puts a ride's stops behind places `pickup` and `dropoff` of the route as it was before.
    package func insert(_ r: Int, into v: Int, _ insertion: Insertion) {
        let (base, n) = (v * stride, length[v])
        precondition(n + 2 < stride && insertion.pickupAfter <= insertion.dropoffAfter)
        var k = n
        while k > insertion.dropoffAfter {
            stops[base + k + 2] = stops[base + k]
            k -= 1
        }
        stops[base + insertion.dropoffAfter + 2] = Int32(2 * r + 1)
        while k > insertion.pickupAfter {
            stops[base + k + 1] = stops[base + k]
            k -= 1
        }
        stops[base + insertion.pickupAfter + 1] = Int32(2 * r)
        length[v] = n + 2
        vehicleOf[r] = Int32(v)
        refresh(v)
    }

    /// Takes a ride's stops out; the route is to be measured anew.
    func removeStops(of r: Int) {
        let v = Int(vehicleOf[r])
        let base = v * stride
        var (k, kept) = (1, 0)
        while k <= length[v] {
            if Int(stops[base + k]) >> 1 != r {
                kept += 1
                stops[base + kept] = stops[base + k]
            }
            k += 1
        }
        length[v] = kept
        vehicleOf[r] = -1
    }
}
