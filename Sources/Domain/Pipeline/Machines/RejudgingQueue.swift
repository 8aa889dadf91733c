public import Fleet

/// The machines of a partition that wait to be judged again, in the order in which that was asked.
public struct RejudgingQueue: Equatable, Sendable {
    private var waiting: [VehicleID: Rejudging]
    /// In their order; entries that do not say what `waiting` does are over.
    private var order: [(vehicle: VehicleID, askedOffset: Int64)]
    private var first = 0

    public init(_ waiting: [VehicleID: Rejudging] = [:]) {
        self.waiting = waiting
        order = waiting.map { ($0.key, $0.value.askedOffset) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }
    }

    /// Those whose state could not be decoded when the partition was taken over.
    public var unreadable: Int { waiting.values.count { $0.askedOffset == RejudgingQueue.unasked } }
    private static let unasked: Int64 = -1

    public var isEmpty: Bool { waiting.isEmpty }
    public subscript(_ vehicle: VehicleID) -> Rejudging? { waiting[vehicle] }

    /// The machines that wait longest.
    func first(_ count: Int) -> [(VehicleID, Rejudging)] { select(count, of: order[first...]) }

    /// The machines that came last, the last first.
    func last(_ count: Int) -> [(VehicleID, Rejudging)] { select(count, of: order[first...].reversed()) }

    private func select(
        _ count: Int, of entries: some Sequence<(vehicle: VehicleID, askedOffset: Int64)>
    ) -> [(VehicleID, Rejudging)] {
        Array(
            entries.lazy.compactMap { entry in
                waiting[entry.vehicle].flatMap { $0.askedOffset == entry.askedOffset ? (entry.vehicle, $0) : nil }
            }.prefix(count))
    }

    /// Before everything that a record asked for: from the first reading to the last.
    mutating func askFirst(_ vehicles: [VehicleID]) {
        guard !vehicles.isEmpty else { return }
        for vehicle in vehicles {
            waiting[vehicle] = Rejudging(.all, askedOffset: RejudgingQueue.unasked, isLate: true)
        }
        self = RejudgingQueue(waiting)
    }

    /// Nil when that is waited for already.
    mutating func ask(_ asked: Rejudging, of vehicle: VehicleID) -> Rejudging? {
        guard var before = waiting[vehicle] else {
            put(asked, of: vehicle)
            return asked
        }
        before.extend(to: asked)
        guard before != waiting[vehicle] else { return nil }
        waiting[vehicle] = before
        return before
    }

    /// After a piece: nil when that was the last one.
    mutating func replace(_ next: Rejudging?, of vehicle: VehicleID) {
        waiting[vehicle] = nil
        if let next { put(next, of: vehicle) }
        while first < order.count, waiting[order[first].vehicle]?.askedOffset != order[first].askedOffset { first += 1 }
        // Half of it is over: moved once for each entry that went.
        if first > 64, first > order.count / 2 {
            order.removeFirst(first)
            first = 0
        }
    }

    /// Precondition: nobody asked later.
    private mutating func put(_ asked: Rejudging, of vehicle: VehicleID) {
        waiting[vehicle] = asked
        order.append((vehicle, asked.askedOffset))
    }

    public static func == (a: RejudgingQueue, b: RejudgingQueue) -> Bool { a.waiting == b.waiting }
}
