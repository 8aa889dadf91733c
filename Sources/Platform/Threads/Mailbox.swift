internal import Foundation

/// A queue between threads.
public final class Mailbox<Item: Sendable>: @unchecked Sendable {
    // Every access is under the condition's lock.
    private let condition = NSCondition()
    /// Nil: dequeued. A lane that is always behind must not retain dequeued items: messages pin much memory.
    private var items: [(item: Item?, weight: Int)] = []
    private var first = 0
    private var weight = 0
    /// Threads in `waitUntil`. Without them one of those that wait for an item is enough to wake.
    private var waitingForRoom = 0
    private var isClosed = false

    public init() {}

    /// The total weight of the waiting items, in the unit of `put`.
    public var waiting: Int {
        condition.lock()
        defer { condition.unlock() }
        return weight
    }

    public func put(_ item: Item, weight: Int = 0) {
        condition.lock()
        add(item, weight)
        condition.unlock()
    }

    /// False: so many wait already, or it is closed.
    public func offer(_ item: Item, atMost limit: Int) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed, items.count - first < limit else { return false }
        add(item, 0)
        return true
    }

    /// Waiting items can still be dequeued; after them readers get nil.
    public func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// The next item, whenever it comes; nil when it is closed and nothing is left.
    public func dequeue() -> Item? {
        condition.lock()
        defer { condition.unlock() }
        while first == items.count, !isClosed { condition.wait() }
        return next()
    }

    /// The next item; nil when none came in time.
    public func dequeue(timeoutMs: Int64) -> Item? {
        condition.lock()
        defer { condition.unlock() }
        if first == items.count, timeoutMs > 0 {
            let end = Date(timeIntervalSinceNow: Double(timeoutMs) / 1_000)
            while first == items.count, condition.wait(until: end) {}
        }
        return next()
    }

    /// All that waits, at least one item; nil when it is closed and nothing is left.
    public func dequeueAll() -> [Item]? {
        guard let head = dequeue() else { return nil }
        var all = [head]
        condition.lock()
        defer { condition.unlock() }
        while let item = next() { all.append(item) }
        return all
    }

    /// The first item of this kind, whatever else waits before it; nil when none came in time.
    public func dequeue(timeoutMs: Int64, where isWanted: (Item) -> Bool) -> Item? {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: Double(timeoutMs) / 1_000)
        while true {
            if let index = items[first...].firstIndex(where: { $0.item.map(isWanted) ?? false }) {
                let taken = items.remove(at: index)
                weight -= taken.weight
                if waitingForRoom > 0 { condition.broadcast() }
                return taken.item
            }
            guard condition.wait(until: end) else { return nil }
        }
    }

    /// Waits until at most this much waits; false when it takes longer.
    public func waitUntil(atMost limit: Int, timeoutMs: Int64) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        waitingForRoom += 1
        defer { waitingForRoom -= 1 }
        let end = Date(timeIntervalSinceNow: Double(timeoutMs) / 1_000)
        while weight > limit {
            if !condition.wait(until: end) { return weight <= limit }
        }
        return true
    }

    // MARK: Under the lock

    private func add(_ item: Item, _ weight: Int) {
        items.append((item, weight))
        self.weight += weight
        if waitingForRoom > 0 { condition.broadcast() } else { condition.signal() }
    }

    private func next() -> Item? {
        guard first < items.count else { return nil }
        let taken = items[first]
        first += 1
        items[first - 1].item = nil
        if first == items.count || first >= 1_000 {
            items.removeSubrange(..<first)
            first = 0
        }
        weight -= taken.weight
        if waitingForRoom > 0 { condition.broadcast() }
        return taken.item
    }
}
