/// Routes in slots of equal size. A route begins and ends with the depot (node 0); an empty one has just these two.
/// Beside each stop stands what an insertion needs to be judged without walking the route.
package struct RouteTable {
    let slots: Int
    let stride: Int
    package let node: Flat<Int32>
    /// When the service is over, as early as can be.
    let departure: Flat<Double>
    /// When the vehicle must be there so that all later windows can be kept.
    let latest: Flat<Double>
    /// On board when leaving.
    let load: Flat<Int32>
    /// Distance to the next stop.
    let leg: Flat<Double>
    /// Stops of a slot, both depots included.
    package let length: Flat<Int32>
    package let distance: Flat<Double>
    /// What a slot holds: equal stamps mean equal routes.
    let stamp: Flat<Int64>

    package init(slots: Int, stride: Int, _ arena: Arena) {
        (self.slots, self.stride) = (slots, stride)
        node = arena.flat(slots * stride, Int32(0))
        departure = arena.flat(slots * stride, 0.0)
        latest = arena.flat(slots * stride, 0.0)
        load = arena.flat(slots * stride, Int32(0))
        leg = arena.flat(slots * stride, 0.0)
        length = arena.flat(slots, Int32(2))
        distance = arena.flat(slots, 0.0)
        stamp = arena.flat(slots, Int64(0))
    }

    /// Slot `slot` becomes what `other` has in slot `from`.
    func take(_ slot: Int, from other: RouteTable, slot from: Int) {
        let (to, at, count) = (slot * stride, from * stride, other.length.int(from))
        node.from(to).take(other.node.from(at), count: count)
        departure.from(to).take(other.departure.from(at), count: count)
        latest.from(to).take(other.latest.from(at), count: count)
        load.from(to).take(other.load.from(at), count: count)
        leg.from(to).take(other.leg.from(at), count: count)
        length[slot] = other.length[from]
        distance[slot] = other.distance[from]
        stamp[slot] = other.stamp[from]
    }

    /// Computes everything beside the stops anew.
    package func refresh(_ slot: Int, _ network: Network, _ rides: RideTimes) {
        let at = slot * stride
        let (node, departure, leg, load) = (node.from(at), departure.from(at), leg.from(at), load.from(at))
        let latest = latest.from(at)
        let last = length.int(slot) - 1
        var total = 0.0
        var time = network.earliest[0]
        var onBoard: Int32 = 0
        (departure[0], load[0]) = (time, 0)
        for place in 1...last {
            let (from, to) = (node.int(place - 1), node.int(place))
            let travel = network.distance[from * network.nodes + to]
            leg[place - 1] = travel
            total += travel
            time = max(time + travel, network.earliest[to]) + network.service[to]
            onBoard += network.load[to]
            (departure[place], load[place]) = (time, onBoard)
        }
        distance[slot] = total
        var bound = network.latest[0]
        latest[last] = bound
        for place in Swift.stride(from: last - 1, through: 0, by: -1) {
            let stop = node.int(place)
            bound = min(network.latest[stop], bound - leg[place] - network.service[stop])
            latest[place] = bound
        }
        if network.isRideLimited { rides.narrow(node, departure, latest, leg, last) }
    }
}
