package import ExternalServices
internal import Fleet
internal import Telemetry

/// Draws ways along roads for maps, on a thread of its own: the routing service may take its time, and a page can wait.
package final class RoadLineService: Sendable {
    static let waitingMax = 64

    private let timeoutMs: Int
    private let thread: SerialWorker<TravelService?>

    package init(_ settings: TravelSettings, conninfo: String, timeoutMs: Int) {
        self.timeoutMs = timeoutMs
        thread = SerialWorker("routes", waitingMax: RoadLineService.waitingMax) {
            try? TravelService(settings, database: SharedDatabase(conninfo: conninfo))
        }
    }

    /// Call once.
    package func stop() { thread.stop() }

    /// `then` is called once, with the road or nil where there is none to be had, on the thread of this or at once.
    /// - Parameter places: in order; only the first `TravelService.stopsMax` are drawn.
    func road(through places: [Position], then: @escaping @Sendable ([Position]?) -> Void) {
        let places = Array(places.prefix(TravelService.stopsMax))
        guard places.count >= 2 else { return then(nil) }
        let timeoutMs = timeoutMs
        let isTaken = thread.enqueue { travel in
            let nowMs = Clock.nowMs()
            let line = travel?.line(through: places, atMs: nowMs, nowMs: nowMs, timeoutMs: timeoutMs)
            then(line.flatMap { $0.leg.method == .distance ? nil : $0.points })
        }
        if !isTaken { then(nil) }
    }
}
