internal import Foundation
internal import Synchronization

/// Work of which a few pieces are done at a time and a few more wait; whoever comes then is sent away at once, so that no flood of it
/// holds the threads that others need.
package final class ConcurrencyLimiter: Sendable {
    private let placesMax: Int
    private let taken = Mutex(0)
    private let turns: DispatchSemaphore

    package init(atWork: Int, waiting: Int) {
        placesMax = atWork + waiting
        turns = DispatchSemaphore(value: atWork)
    }

    /// Whether who comes now is sent away.
    package var isFull: Bool { taken.withLock { $0 >= placesMax } }

    /// Nil: the line was full.
    package func run<Result>(_ work: () throws -> Result) rethrows -> Result? {
        let hasPlace = taken.withLock { taken in
            guard taken < placesMax else { return false }
            taken += 1
            return true
        }
        guard hasPlace else { return nil }
        defer { taken.withLock { $0 -= 1 } }
        turns.wait()
        defer { turns.signal() }
        return try work()
    }
}
