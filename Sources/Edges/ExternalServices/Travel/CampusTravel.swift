package import Fleet
internal import Foundation
internal import Postgres
internal import Storage

/// Measures the ways between the campus's vehicles, its open stops and the new ones before a pickup is pushed. The result goes onto the
/// log before the pickup: the decision, and every replay of it, calls no service.
///
/// Safe from any thread: one measures at a time, and whoever would wait too long goes without.
package final class CampusTravel: @unchecked Sendable {
    /// The number of nearest vehicles: with the pickup and the drop-off they fit into one request at OSRM's own limit.
    static let vehiclesMax = 20
    static let stopsMax = 36

    // The client and its session are used under the lock only.
    private let lock = NSLock()
    private let client: TravelService
    private let database: SharedDatabase
    private let source: String?
    private let waitMs: Int

    /// - Parameter waitMs: the most that a pickup waits for it.
    package init(_ settings: TravelSettings, database: SharedDatabase, waitMs: Int) throws {
        self.database = database
        self.waitMs = waitMs
        client = try TravelService(settings, database: database)
        source = settings.service.map { $0.address.name + "/" + settings.profile }
    }

    /// Nil: there is no service, it gave no answer in time, or it knows none of these ways. Decisions go by distance then.
    package func measured(campus: String, pickup: RideRecord.Pickup, nowMs: Int64) -> RideRecord? {
        guard let source, lock.lock(before: Date(timeIntervalSinceNow: Double(waitMs) / 1_000)) else { return nil }
        defer { lock.unlock() }
        guard let places = try? database.run("travel", { try self.places(campus, pickup, $0) }) else { return nil }
        let table = client.table(
            from: places.vehicles + places.stops, to: places.stops, atMs: nowMs, nowMs: nowMs, timeoutMs: waitMs)
        let ms = table.legs.map { leg -> Int64? in
            guard leg.method != .distance, (0...RideRecord.Travel.msMax).contains(leg.durationMs) else { return nil }
            return leg.durationMs
        }
        guard ms.contains(where: { $0 != nil }) else { return nil }
        let travel = RideRecord.Travel(source: source, from: places.vehicles + places.stops, to: places.stops, ms: ms)
        return RideRecord(
            id: "travel-" + UUID().uuidString.lowercased(), campus: campus, ts: nowMs, by: "", kind: .travel(travel))
    }

    private func places(
        _ campus: String, _ pickup: RideRecord.Pickup, _ connection: Connection
    ) throws -> (vehicles: [Position], stops: [Position]) {
        let vehicles = try CampusQueries.vehicles(of: campus, on: connection)
        let stops = try CampusQueries.openRides(of: campus, on: connection).flatMap { ride in
            ride.isOnBoard ? [ride.to] : [ride.to, ride.from]
        }
        let ends = [pickup.from, pickup.to]
        let near = CampusTravel.nearest(stops.filter { !ends.contains($0) }, to: ends, CampusTravel.stopsMax)
        return (CampusTravel.nearest(vehicles, to: [pickup.from], CampusTravel.vehiclesMax), ends + near)
    }

    /// Each place once.
    static func nearest(_ places: [Position], to ends: [Position], _ most: Int) -> [Position] {
        var seen: Set<Position> = []
        let each = places.filter { seen.insert($0).inserted }
        func metres(_ place: Position) -> Double { ends.map { place.metres(to: $0) }.min()! }
        return Array(each.map { (metres($0), $0) }.sorted { $0.0 < $1.0 }.prefix(most).map(\.1))
    }
}
