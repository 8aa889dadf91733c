internal import Basics
package import Fleet

/// A vehicle's state, as maps and lists show it.
package enum VehicleState: String, CaseIterable, Sendable {
    case moving, idling, parked, silent

    /// A machine's reading says how it is for so long.
    package static let machineMs: Int64 = 15 * UTC.msPerMinute
    /// A vehicle without news for longer counts as silent.
    package static let silentMs: Int64 = 24 * 3_600_000
    /// A receiver that stands still is off by less.
    package static let movedMetres = 25.0

    /// The state of a car: whether its trip goes on, and by the last speed whether it moves.
    /// - Parameters:
    ///   - lastMs: its last reading.
    ///   - isOpen: the trip that holds it is not over.
    ///   - tripGapMs: without readings for longer a trip is over.
    package static func ofCar(
        lastMs: Int64?, isOpen: Bool, speedMilliKmh: Int32?, tripGapMs: Int64, nowMs: Int64
    ) -> VehicleState {
        guard let lastMs, nowMs - lastMs <= silentMs else { return .silent }
        guard isOpen, nowMs - lastMs <= tripGapMs else { return .parked }
        return (speedMilliKmh ?? 0) > 0 ? .moving : .idling
    }

    /// The state of a machine: it reports no speed, so the distance of its last two places tells whether it moves.
    /// - Parameters:
    ///   - isRunning: the engine ran at its last reading, as only who polls it can say.
    ///   - isAway: its gateway could not reach it last time.
    ///   - places: where it was, the latest first.
    package static func ofMachine(
        lastMs: Int64?, isRunning: Bool, isAway: Bool, places: [(ms: Int64, position: Position)], nowMs: Int64
    ) -> VehicleState {
        guard let lastMs, nowMs - lastMs <= silentMs, !isAway else { return .silent }
        guard nowMs - lastMs <= machineMs else { return .parked }
        if places.count > 1, places[0].ms - places[1].ms <= machineMs,
            places[0].position.metres(to: places[1].position) >= movedMetres
        {
            return .moving
        }
        return isRunning ? .idling : .parked
    }
}
