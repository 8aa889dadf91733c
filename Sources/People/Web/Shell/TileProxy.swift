package import ExternalServices
internal import Foundation
internal import HTTPServer
internal import Synchronization
package import Telemetry

/// Tiles of another server, proxied: browsers ask nobody but us, and the server is asked once for each.
package final class TileProxy: Sendable {
    private static let lanes = 4
    private static let waitingMax = 64
    private static let keptBytesMax = 64 << 20
    private static let keptMs: Int64 = 86_400_000
    private static let holeKeptMs: Int64 = 3_600_000
    /// After this many failures in a row it is left alone for a while.
    private static let failuresMax = 5
    private static let restMs: Int64 = 30_000
    /// One address; a screen shows some thirty at once.
    private static let tilesPerMinute = 1_200

    struct Place: Hashable { let zoom, column, row: Int }

    private struct Kept {
        let tile: Tile?
        let untilMs: Int64
    }

    private struct State {
        var kept: [Place: Kept] = [:]
        /// Oldest first.
        var order: [Place] = []
        var bytes = 0
        var failures = 0
        var restsUntilMs: Int64 = 0
    }

    private let log: Log
    private let trouble = Throttle(periodMs: 60_000)
    private let threads: [SerialWorker<TileServer?>]
    private let state = Mutex(State())
    private let budget = PushLimiter()

    /// - Parameter userAgent: who we are to the server.
    package init(_ address: TileAddress, caFile: String?, userAgent: String, log: Log) {
        self.log = log
        threads = (0..<TileProxy.lanes).map { number in
            SerialWorker("tiles-\(number)", waitingMax: TileProxy.waitingMax) {
                do {
                    return try TileServer(address, caFile: caFile, userAgent: userAgent)
                } catch {
                    log.error("tiles cannot be asked for", ["error": "\(error)"])
                    return nil
                }
            }
        }
    }

    /// Call once.
    package func stop() { for thread in threads { thread.stop() } }

    func answer(_ place: Place, _ request: Request) -> Response {
        let nowMs = Clock.steadyMs()
        let (known, isResting) = state.withLock { state in
            (state.kept[place].flatMap { $0.untilMs > nowMs ? $0 : nil }, state.restsUntilMs > nowMs)
        }
        if let known { return TileProxy.response(known.tile) }
        if isResting { return TileProxy.away }
        if let waitS = budget.reserve(request.remote, most: TileProxy.tilesPerMinute, nowMs: Clock.nowMs()) {
            return .problem(
                429, type: "too-many", detail: "Too many tiles were asked for from this address. Wait a moment."
            )
            .with("Retry-After", String(waitS))
        }
        let later = DeferredResponse()
        // The same tile is asked for on the same thread: the second time it is known.
        let thread = threads[abs(place.hashValue % threads.count)]
        let isTaken = thread.enqueue { [self] server in later.give(fetched(place, server)) }
        return isTaken ? .later(later) : TileProxy.away
    }

    private func fetched(_ place: Place, _ server: TileServer?) -> Response {
        let nowMs = Clock.steadyMs()
        let known = state.withLock { state in state.kept[place].flatMap { $0.untilMs > nowMs ? $0 : nil } }
        if let known { return TileProxy.response(known.tile) }
        guard let server, state.withLock({ $0.restsUntilMs <= nowMs }) else { return TileProxy.away }
        do throws(ServiceError) {
            let tile = try server.tile(zoom: place.zoom, column: place.column, row: place.row)
            keep(place, tile, nowMs)
            return TileProxy.response(tile)
        } catch {
            state.withLock { state in
                state.failures += 1
                guard state.failures >= TileProxy.failuresMax || error.reason == .toldToWait else { return }
                state.failures = 0
                state.restsUntilMs = nowMs + TileProxy.restMs
            }
            if let more = trouble.pass(error.reason.rawValue) {
                log.warning("a tile of the base map was not had", ["error": "\(error)", "repeated": "\(more)"])
            }
            return TileProxy.away
        }
    }

    private func keep(_ place: Place, _ tile: Tile?, _ nowMs: Int64) {
        let untilMs = nowMs + (tile == nil ? TileProxy.holeKeptMs : TileProxy.keptMs)
        state.withLock { state in
            state.failures = 0
            let before = state.kept.updateValue(Kept(tile: tile, untilMs: untilMs), forKey: place)
            if before == nil { state.order.append(place) }
            state.bytes += TileProxy.size(tile) - (before.map { TileProxy.size($0.tile) } ?? 0)
            guard state.bytes > TileProxy.keptBytesMax else { return }
            // The older half goes, so that this is seldom done.
            for place in state.order.prefix(state.order.count / 2 + 1) {
                if let gone = state.kept.removeValue(forKey: place) { state.bytes -= TileProxy.size(gone.tile) }
            }
            state.order.removeFirst(state.order.count / 2 + 1)
        }
    }

    private static func size(_ tile: Tile?) -> Int { 100 + (tile?.content.count ?? 0) }

    private static func response(_ tile: Tile?) -> Response {
        BaseMap.response(tile.map { ($0.mediaType, $0.content) })
    }

    private static let away = Response.problem(
        503, type: "tiles-away", detail: "The base map's server cannot be had right now. Try again in a while."
    ).with("Retry-After", "30")
}
