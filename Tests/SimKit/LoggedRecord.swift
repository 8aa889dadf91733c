public import Fleet
public import Trips

/// A record of a partition of cars, as far as `CarPartition` and `DriverPartition` look at it.
public enum LoggedRecord: Sendable {
    case reading(VehicleID, CarReading)
    /// Closing: an import's last one, behind which nothing more comes of its readings.
    case tick(Int64, isClosing: Bool = false)
    /// Somebody sets a clock right that went ahead.
    case setBack(Int64)
    /// What people say; drivers' marks, too.
    case action(Action)
    /// A set of trip rules, and from when it shall be in force.
    case rules(TripRules, fromMs: Int64)

    /// The mark that cuts a drive there: even cuts by a start, odd ones by a stop a millisecond before.
    public static func cut(_ vehicle: VehicleID, _ cut: Int64) -> LoggedRecord {
        let isStart = cut % 2 == 0
        return .action(
            Action(
                id: "mark-\(vehicle.text)-\(cut)", vehicle: vehicle, ts: isStart ? cut : cut - 1, by: "driver",
                note: nil, kind: isStart ? .tripStart : .tripStop))
    }

    /// Nil: it is no mark.
    public var cut: (vehicle: VehicleID, ms: Int64)? { if case .action(let action) = self { action.cut } else { nil } }

    public var isReading: Bool { if case .reading = self { true } else { false } }
}

extension Action {
    /// Where it cuts its vehicle's drive; nil: it is no mark.
    public var cut: (vehicle: VehicleID, ms: Int64)? {
        switch kind {
        case .tripStart, .tripStop: vehicle.map { ($0, TripCuts.time(isStart: kind == .tripStart, at: ts)) }
        default: nil
        }
    }
}
