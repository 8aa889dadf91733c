public import Fleet
public import Pipeline
public import Trips

/// The tables of cars in memory, with the answers that the real store gives: an oracle for the order of arrival.
public struct CarTables: Equatable, Sendable {
    public var minutes: [VehicleID: [Int64: VehicleMinute]] = [:]
    public var trips: [VehicleID: [Int64: CarChange.TripRow]] = [:]
    public var days: [VehicleID: [Int64: DriveTotals]] = [:]

    public init() {}

    public mutating func write(_ change: CarChange) {
        for minute in change.minutes { minutes[change.vehicle, default: [:]][minute.startMs] = minute }
        for start in change.droppedTripStarts { trips[change.vehicle]?[start] = nil }
        for row in change.trips { trips[change.vehicle, default: [:]][row.trip.startMs] = row }
        for (day, totals) in change.days { days[change.vehicle, default: [:]][day] = totals }
    }

    /// Closing by the clock: what the worker does when a tick passes.
    public mutating func close(clockMs: Int64, rules: TripRules) {
        for (vehicle, rows) in trips {
            for (start, row) in rows where clockMs > row.trip.endMs + rules.tripGapMs {
                trips[vehicle]?[start]?.isOpen = false
            }
        }
    }

    public func history(_ query: HistoryQuery) -> CarHistory {
        let rows = trips[query.vehicle, default: [:]].values.map(\.trip)
        let touched = rows.filter { $0.endMs >= query.fromMs && $0.startMs <= query.toMs }
        let starts = Set(touched.map(\.startMs))
        let all = minutes[query.vehicle, default: [:]].values.sorted { $0.startMs < $1.startMs }
        let from = min(query.fromMs, touched.map(\.startMs).min() ?? .max)
        let to = max(query.toMs, touched.map(\.endMs).max() ?? .min)
        var others: [Int64: DriveTotals] = [:]
        for minute in all where !starts.contains(minute.tripStartMs) {
            let day = UTC.day(of: minute.startMs)
            guard day >= UTC.day(of: from), day <= UTC.day(of: to) else { continue }
            others[day] = (others[day] ?? DriveTotals()) + minute.totals
        }
        return CarHistory(
            minutes: all.filter { starts.contains($0.tripStartMs) }, otherMinutesOfDay: others,
            lastMs: rows.map(\.endMs).max())
    }
}
