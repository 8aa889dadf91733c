package import Postgres
internal import Storage
package import Trips

extension TripRules {
    /// The rules that a car's trip was folded by; these where none are on record.
    package func ofTrip(of vehicle: String, atMs startMs: Int64, on connection: Connection) throws -> TripRules {
        try TripRuleStore.rules(of: vehicle, atMs: startMs, on: connection) ?? self
    }
}
