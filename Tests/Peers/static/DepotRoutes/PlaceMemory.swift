/// The best place of each request in each route, for as long as the route is the same: most routes are not touched by an
/// iteration, and of most iterations nothing is kept.
struct PlaceMemory {
    private let slots: Int
    private let stamp: Flat<Int64>
    private let cost: Flat<Double>
    /// Places of pickup and drop-off in 16 bits each; negative: nothing below `cost` was found.
    private let place: Flat<Int32>

    init(requests: Int, slots: Int, _ arena: Arena) {
        self.slots = slots
        stamp = arena.flat(requests * slots, Int64(-1))
        cost = arena.flat(requests * slots, 0.0)
        place = arena.flat(requests * slots, Int32(0))
    }

    @inline(__always) func best(
        of r: Int, in slot: Int, of routes: RouteTable, below limit: Double, _ insertion: Insertion
    ) -> Place {
        let at = r * slots + slot
        if stamp[at] == routes.stamp[slot] {
            let known = cost[at]
            if known >= limit { return Place(cost: limit) }
            let packed = place.int(at)
            if packed >= 0 { return Place(cost: known, pickup: packed >> 15, dropoff: packed & 0x7FFF) }
        }
        var never = Blinks.never
        let found = insertion.best(of: r, in: slot, of: routes, below: limit, blinks: &never)
        stamp[at] = routes.stamp[slot]
        cost[at] = found.cost
        place[at] = found.pickup < 0 ? -1 : Int32(found.pickup << 15 | found.dropoff)
        return found
    }
}
