package import ExternalServices
internal import Fleet
internal import Telemetry

/// Measures the ways to a pickup before it is pushed, on a thread of its own. A pickup that would wait too long for its turn
/// is decided by distance.
package final class PickupMeasurer: Sendable {
    static let waitingMax = 16

    private let waitMs: Int64
    private let thread: SerialWorker<CampusTravel>

    /// - Parameter waitMs: the most that a pickup waits, for its turn and for the service.
    package init(_ travel: CampusTravel, waitMs: Int64) {
        self.waitMs = waitMs
        thread = SerialWorker("ways", waitingMax: PickupMeasurer.waitingMax) { travel }
    }

    /// Call once.
    func stop() { thread.stop() }

    /// `then` is called once, with a record to be pushed before the pickup or nil, on the thread of this or at once.
    func measure(campus: String, pickup: RideRecord.Pickup, then: @escaping @Sendable (RideRecord?) -> Void) {
        let lateMs = Clock.steadyMs() + waitMs
        let isTaken = thread.enqueue { travel in
            then(
                Clock.steadyMs() >= lateMs
                    ? nil : travel.measured(campus: campus, pickup: pickup, nowMs: Clock.nowMs()))
        }
        if !isTaken { then(nil) }
    }
}
