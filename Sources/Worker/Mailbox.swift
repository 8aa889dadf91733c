internal import Foundation

/// A queue between two threads.
final class Mailbox<Item: Sendable>: @unchecked Sendable {
    // Every access is under the condition's lock.
    private let condition = NSCondition()
    /// Nil: taken. A lane that is always behind must not keep what it has taken: messages pin much memory.
    private var items: [(item: Item?, weight: Int)] = []
    private var first = 0
    private var weight = 0

    /// What waits, in the unit of `put`'s weight.
    var waiting: Int {
        condition.lock()
        defer { condition.unlock() }
        return weight
    }

    func put(_ item: Item, weight: Int = 0) {
        condition.lock()
        items.append((item, weight))
        self.weight += weight
        condition.broadcast()
        condition.unlock()
    }

    /// The next item; nil when none came in time.
    func take(timeoutMs: Int64) -> Item? {
        condition.lock()
        defer { condition.unlock() }
        if first == items.count, timeoutMs > 0 {
            let end = Date(timeIntervalSinceNow: Double(timeoutMs) / 1_000)
            while first == items.count, condition.wait(until: end) {}
        }
        guard first < items.count else { return nil }
        let taken = items[first]
        first += 1
        items[first - 1].item = nil
        if first == items.count || first >= 1_000 {
            items.removeSubrange(..<first)
            first = 0
        }
        weight -= taken.weight
        condition.broadcast()
        return taken.item
    }

    /// The first item of this kind, whatever else waits before it; nil when none came in time.
    func take(timeoutMs: Int64, where isWanted: (Item) -> Bool) -> Item? {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: Double(timeoutMs) / 1_000)
        while true {
            if let index = items[first...].firstIndex(where: { $0.item.map(isWanted) ?? false }) {
                let taken = items.remove(at: index)
                weight -= taken.weight
                condition.broadcast()
                return taken.item
            }
            guard condition.wait(until: end) else { return nil }
        }
    }

    /// Waits until at most this much waits; false when it takes longer.
    func waitUntil(atMost limit: Int, timeoutMs: Int64) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: Double(timeoutMs) / 1_000)
        while weight > limit {
            if !condition.wait(until: end) { return weight <= limit }
        }
        return true
    }
}
