internal import Basics
internal import Codecs
public import Fleet
public import Pipeline
public import Trips

/// The tables of cars in memory, with the answers and the fence of the real store: the oracle of what is written when.
public struct CarTables: Sendable {
    public struct Revised<Row: Equatable & Sendable>: Equatable, Sendable {
        public var row: Row
        public var revision: Int32
        public init(row: Row, revision: Int32 = 0) { (self.row, self.revision) = (row, revision) }
    }
    public struct TripRow: Equatable, Sendable {
        public var trip: Trip
        public var isOpen: Bool
        public init(_ trip: Trip, isOpen: Bool) { (self.trip, self.isOpen) = (trip, isOpen) }
    }

    /// Where a trip began; nil: its first minute has no place.
    public struct Start: Equatable, Sendable {
        public var place: Position?
        public init(_ place: Position?) { self.place = place }
    }

    public var starts: [VehicleID: [Int64: Start]] = [:]
    public var minutes: [VehicleID: [Int64: Revised<VehicleMinute>]] = [:]
    public var trips: [VehicleID: [Int64: Revised<TripRow>]] = [:]
    public var days: [VehicleID: [Int64: Revised<DriveTotals>]] = [:]
    public var states: [VehicleID: [Int64: [UInt8]]] = [:]
    public var vehicles: Set<VehicleID> = []
    /// Cuts by drivers' marks.
    public var cuts: [VehicleID: Set<Int64>] = [:]
    /// Sets of trip rules by the time from which they are in force.
    public var rules: [Int64: TripRules] = [:]
    public var progress = CarProgress(nextOffset: 0, replayFrom: 0, replayClockMs: 0)
    /// Minute rows written, rows of the same key counted again.
    public var minutesWritten = 0
    /// Keys that stood twice in one write, which PostgreSQL refuses (ON CONFLICT ... a second time).
    public private(set) var doubled: [String] = []

    public init() {}

    /// What a reader sees: rows by key, without what is only kept beside them.
    public struct Results: Equatable, Sendable {
        public var minutes: [VehicleID: [Int64: VehicleMinute]] = [:]
        public var trips: [VehicleID: [Int64: TripRow]] = [:]
        public var days: [VehicleID: [Int64: DriveTotals]] = [:]
        public var starts: [VehicleID: [Int64: Start]] = [:]
        public init() {}
    }
    public var results: Results {
        var results = Results()
        results.minutes = minutes.mapValues { $0.mapValues(\.row) }
        results.trips = trips.mapValues { $0.mapValues(\.row) }.filter { !$0.value.isEmpty }
        results.days = days.mapValues { $0.mapValues(\.row) }
        results.starts = starts.filter { !$0.value.isEmpty }
        return results
    }

    /// The packed state beside each car's latest trip, without the offset that it begins with: as `drover verify` compares.
    public var latestStates: [VehicleID: [UInt8]] {
        var latest: [VehicleID: [UInt8]] = [:]
        for (vehicle, trips) in trips {
            guard let last = trips.keys.max(), let state = states[vehicle]?[last] else { continue }
            latest[vehicle] = Array(state.drop { $0 >= 0x80 }.dropFirst())
        }
        return latest
    }

    public mutating func write(_ rows: CarRows, of partition: borrowing CarPartition) {
        func id(_ car: Int32) -> VehicleID { VehicleID(String(decoding: partition.vehicle(car), as: UTF8.self))! }
        for car in rows.vehicles { vehicles.insert(id(car)) }
        note("minute", rows.minutes.map { "\(id($0.car)) \($0.startMs)" })
        note("trip", rows.trips.map { "\(id($0.car)) \($0.trip.startMs)" })
        let starting = rows.minutes.filter(\.beginsTrip)
        note("start", starting.map { "\(id($0.car)) \($0.tripStartMs)" })
        for (car, start) in rows.droppedTrips { starts[id(car)]?[start] = nil }
        for row in starting { starts[id(row.car), default: [:]][row.tripStartMs] = Start(row.startPlace) }
        note("day", rows.days.map { "\(id($0.car)) \($0.dayMs)" })
        for (car, start) in rows.droppedMinutes { minutes[id(car)]?[start] = nil }
        for row in rows.minutes {
            let samples = Array(rows.bytes[row.samples])
            let readings = try! PackedSamples.decode(samples, minuteMs: row.startMs)
            let minute = VehicleMinute(
                startMs: row.startMs, tripStartMs: row.tripStartMs, totals: row.totals, readings: readings)
            let revision = max(minutes[id(row.car)]?[row.startMs]?.revision ?? 0, row.correction.revision)
            minutes[id(row.car), default: [:]][row.startMs] = Revised(row: minute, revision: revision)
            minutesWritten += 1
        }
        for (car, start) in rows.droppedTrips { trips[id(car)]?[start] = nil }
        for row in rows.trips {
            let start = row.trip.startMs
            let revision = max(trips[id(row.car)]?[start]?.revision ?? 0, row.correction.revision)
            trips[id(row.car), default: [:]][start] = Revised(
                row: TripRow(row.trip, isOpen: row.isOpen), revision: revision)
            states[id(row.car), default: [:]][start] = row.state.map {
                Array(rows.bytes[$0])
            }
        }
        for row in rows.days {
            let revision = max(days[id(row.car)]?[row.dayMs]?.revision ?? 0, row.correction.revision)
            days[id(row.car), default: [:]][row.dayMs] = Revised(row: row.totals, revision: revision)
        }
    }

    private mutating func note(_ table: String, _ keys: [String]) {
        guard Set(keys).count < keys.count else { return }
        doubled += Dictionary(grouping: keys, by: { $0 }).filter { $0.value.count > 1 }.keys.sorted().map {
            "\(table) \($0)"
        }
    }

    /// What a worker has in memory that takes the partition over: all cars.
    public func partition(rules: TripRules) -> CarPartition {
        var partition = partition(rules: rules, idleMs: CarPartition.idleMs)
        for vehicle in vehicles.sorted() { load(vehicle, into: &partition) }
        return partition
    }

    /// Without a car.
    func partition(rules: TripRules, idleMs: Int64) -> CarPartition {
        let entries = self.rules.map { TripRuleTimeline.Entry(fromMs: $0.key, rules: $0.value) }
        return CarPartition(rules: TripRuleTimeline(base: rules, entries), progress: progress, idleMs: idleMs)
    }

    func load(_ vehicle: VehicleID, into partition: inout CarPartition) {
        let last = trips[vehicle]?.max { $0.key < $1.key }
        precondition(last == nil || states[vehicle]?[last!.key] != nil, "the latest trip has a state")
        partition.load(
            vehicle: vehicle, state: last.flatMap { states[vehicle]?[$0.key] },
            isOpen: last?.value.row.isOpen ?? false,
            cuts: cuts[vehicle, default: []].filter { $0 >= UTC.minute(of: last?.value.row.trip.endMs ?? 0) })
    }

    /// It said something at that time or later.
    func reported(_ vehicle: VehicleID, since ms: Int64) -> Bool {
        days[vehicle]?.keys.contains { $0 >= UTC.day(of: ms) } ?? false
    }

    public func histories(_ queries: [HistoryQuery]) -> [VehicleID: CarHistory] {
        Dictionary(uniqueKeysWithValues: queries.map { ($0.vehicle, history($0)) })
    }

    private func history(_ query: HistoryQuery) -> CarHistory {
        let touched = trips[query.vehicle, default: [:]].values
            .filter { $0.row.trip.endMs >= query.fromMs && $0.row.trip.startMs <= query.toMs }
            .sorted { $0.row.trip.startMs < $1.row.trip.startMs }
        let starts = Set(touched.map(\.row.trip.startMs))
        let all = minutes[query.vehicle, default: [:]].values.sorted { $0.row.startMs < $1.row.startMs }
        let from = min(query.fromMs, touched.first?.row.trip.startMs ?? .max)
        let to = max(query.toMs, touched.last?.row.trip.endMs ?? .min)
        var history = CarHistory()
        for minute in all.map(\.row) where !starts.contains(minute.tripStartMs) && minute.startMs != query.openMs {
            let day = UTC.day(of: minute.startMs)
            guard day >= UTC.day(of: from), day <= UTC.day(of: to) else { continue }
            history.otherMinutesOfDay[day] = (history.otherMinutesOfDay[day] ?? DriveTotals()) + minute.totals
        }
        history.trips = touched.map { .init($0.row.trip, isOpen: $0.row.isOpen, revision: $0.revision) }
        history.minutes = all.filter { starts.contains($0.row.tripStartMs) }.map {
            .init($0.row, revision: $0.revision)
        }
        history.days = days[query.vehicle, default: [:]].mapValues { .init($0.row, revision: $0.revision) }
        history.next = trips[query.vehicle, default: [:]].values.map(\.row.trip)
            .filter { $0.startMs > touched.last?.row.trip.startMs ?? query.toMs }.min { $0.startMs < $1.startMs }
        if let first = touched.first?.row.trip, first.isFromBefore, first.carry.isEmpty {
            let beforeMs = all.map(\.row.tripStartMs).filter { $0 < first.startMs }.max()
            history.before = all.filter { $0.row.tripStartMs == beforeMs }.flatMap(\.row.readings)
        }
        history.lastMinuteMs = all.map(\.row.startMs).filter { $0 != query.openMs }.max()
        let span = (from - UTC.msPerMinute)...to
        history.cuts = cuts[query.vehicle, default: []].filter { span.contains($0) }.sorted()
        return history
    }
}

extension CarTables.Results {
    /// The first one, for people.
    public func difference(from other: Self) -> String {
        for (vehicle, minutes) in other.minutes {
            for (start, minute) in minutes where self.minutes[vehicle]?[start] != minute {
                let got = self.minutes[vehicle]?[start]
                return "minute \(vehicle) \(start): \(got?.readings.count ?? 0) readings for \(minute.readings.count), "
                    + "trip \(got?.tripStartMs ?? 0) for \(minute.tripStartMs)"
            }
        }
        for vehicle in Set(other.trips.keys).union(trips.keys) where trips[vehicle] != other.trips[vehicle] {
            func text(_ trips: [Int64: CarTables.TripRow]?) -> [String] {
                (trips ?? [:]).values.map { "\($0.trip.startMs)-\($0.trip.endMs) \($0.isOpen ? "open" : "over")" }
                    .sorted()
            }
            return "trips of \(vehicle): \(text(trips[vehicle])) for \(text(other.trips[vehicle]))"
        }
        for (vehicle, days) in other.days where self.days[vehicle] != days { return "days of \(vehicle)" }
        if starts != other.starts { return "starts of trips: \(starts) for \(other.starts)" }
        return "rows that should not be there"
    }
}
