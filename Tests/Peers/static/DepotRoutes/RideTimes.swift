/// Times of service that keep windows, longest rides and the longest route, found as the least solution of these limits:
/// forward through the route each time follows from the one before, backward each pickup from its drop-off and the
/// start from the end, until nothing moves. Exact: when there is a schedule, the least solution is one.
package struct RideTimes {
    let network: Network
    private let begin: Flat<Double>
    private let stop: Flat<Int32>
    private let travel: Flat<Double>
    private let pickupAt: Flat<Int32>

    package init(_ network: Network, stride: Int, _ arena: Arena) {
        self.network = network
        begin = arena.flat(stride, 0.0)
        stop = arena.flat(stride, Int32(0))
        travel = arena.flat(stride, 0.0)
        pickupAt = arena.flat(network.requests, Int32(0))
    }

    /// The route in `node` with request `r` picked up after place `i` and dropped off after place `j`, both places in the
    /// route as it is, `last` its final depot.
    func allow(
        _ r: Int, after i: Int, _ j: Int, node: Flat<Int32>, departure: Flat<Double>, leg: Flat<Double>, last: Int
    )
        -> Bool
    {
        var count = 0
        for place in 0...last {
            let each = node.int(place)
            put(each, at: departure[place] - network.service[each], &count)
            if place == i { put(r + 1, at: network.earliest[r + 1], &count) }
            if place == j { put(r + 1 + network.requests, at: network.earliest[r + 1 + network.requests], &count) }
        }
        return settle(last: count - 1)
    }

    /// Narrows a possible route's times to what rides and duration leave: later departures, earlier latest times.
    func narrow(
        _ node: Flat<Int32>, _ departure: Flat<Double>, _ latest: Flat<Double>, _ leg: Flat<Double>, _ last: Int
    ) {
        var count = 0
        for place in 0...last {
            let each = node.int(place)
            put(each, at: departure[place] - network.service[each], &count)
        }
        // A route that is only being taken apart stays possible: its stops are fewer.
        guard settle(last: last) else { return }
        for place in 0...last { departure[place] = begin[place] + network.service[node.int(place)] }
        if network.durationMax.isFinite { latest[last] = min(latest[last], latest[0] + network.durationMax) }
        for place in 1..<max(last, 1) {
            let each = node.int(place)
            if each <= network.requests {
                pickupAt[each - 1] = Int32(place)
            } else {
                let pickup = each - network.requests
                let at = pickupAt.int(pickup - 1)
                latest[place] = min(latest[place], latest[at] + network.service[pickup] + network.rideMax)
            }
        }
        for place in Swift.stride(from: last - 1, through: 0, by: -1) {
            latest[place] = min(latest[place], latest[place + 1] - leg[place] - network.service[node.int(place)])
        }
    }

    @inline(__always) private func put(_ node: Int, at time: Double, _ count: inout Int) {
        stop[count] = Int32(node)
        begin[count] = time
        if count > 0 { travel[count] = network.distance[stop.int(count - 1) * network.nodes + node] }
        if node > 0 && node <= network.requests { pickupAt[node - 1] = Int32(count) }
        count += 1
    }

    private func settle(last: Int) -> Bool {
        // More rounds than limits that look backward: a circle of limits that can never be kept.
        for _ in 0...(last + 2) {
            for place in 1...last {
                let before = begin[place - 1] + network.service[stop.int(place - 1)] + travel[place]
                if before > begin[place] { begin[place] = before }
                if begin[place] > network.latest[stop.int(place)] { return false }
            }
            var moved = false
            for place in Swift.stride(from: last - 1, through: 1, by: -1) where stop.int(place) > network.requests {
                let pickup = stop.int(place) - network.requests
                let at = pickupAt.int(pickup - 1)
                let least = begin[place] - network.rideMax - network.service[pickup]
                if least > begin[at] + Network.tolerance / 10 {
                    begin[at] = least
                    moved = true
                }
            }
            if begin[last] - network.durationMax > begin[0] + Network.tolerance / 10 {
                begin[0] = begin[last] - network.durationMax
                moved = true
            }
            if begin[0] > network.latest[0] { return false }
            if !moved { return true }
        }
        return false
    }
}
