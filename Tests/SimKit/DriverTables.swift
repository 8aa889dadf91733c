public import Alerts
public import Fleet
internal import Pipeline

/// The tables of drivers' alerts in memory, with the answers of the real store.
public struct DriverTables: Sendable {
    /// What people were told, in its order, by car.
    public struct Told: Equatable, Sendable {
        public var alerts: [String: ToldAlert] = [:]
        /// With the record that caused each, and the worst value then.
        public var transitions: [VehicleID: [String]] = [:]
    }

    public private(set) var told = Told()
    /// How many stretches were judged at ticks.
    public internal(set) var turns = 0
    var sayings = DriverSayings()
    private var records: [VehicleID: DriverRecord] = [:]

    mutating func write(_ changes: DriverBook.Changes) {
        for alert in changes.alerts { told.alerts[alert.id] = alert }
        for transition in changes.transitions {
            told.transitions[transition.alert.episode.vehicle, default: []].append(
                "\(transition.id) \(transition.pushedMs) \(transition.alert.episode.worstValue ?? 0)")
        }
        for record in changes.records { records[record.vehicle] = record }
        for vehicle in changes.gone { records[vehicle] = nil }
    }

    /// What stands as told.
    public var episodes: [VehicleID: [Episode]] {
        Dictionary(grouping: told.alerts.values.filter { !$0.isWithdrawn }.map(\.episode), by: \.vehicle).mapValues {
            $0.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
        }
    }

    // MARK: What the worker asks

    /// What is told of a car's values in a span, or was first.
    func told(of vehicle: VehicleID, _ span: ClosedRange<Int64>) -> ToldAlerts {
        told(of: vehicle) {
            $0.episode.parameter != .troubleCode
                && (span.contains($0.episode.openedMs) || span.contains($0.firstOpenedMs))
        }
    }

    func toldCodes(of vehicle: VehicleID) -> ToldAlerts {
        told(of: vehicle) { $0.episode.parameter == .troubleCode }
    }

    private func told(of vehicle: VehicleID, _ isMeant: (ToldAlert) -> Bool) -> ToldAlerts {
        ToldAlerts(
            told.alerts.values.filter { $0.episode.vehicle == vehicle && isMeant($0) }.sorted {
                ($0.episode.openedMs, $0.id) < ($1.episode.openedMs, $1.id)
            })
    }

    func openSinceMs(of vehicle: VehicleID) -> Int64? {
        open.filter { $0.episode.vehicle == vehicle }.map(\.episode.openedMs).min()
    }

    /// What is told as open of cars' values.
    private var open: [ToldAlert] {
        told.alerts.values.filter {
            !$0.isWithdrawn && $0.episode.resolvedMs == nil && $0.episode.parameter != .troubleCode
        }.sorted { ($0.episode.openedMs, $0.id) < ($1.episode.openedMs, $1.id) }
    }

    /// A book as a worker makes it that takes the partition over.
    func book(_ cars: borrowing CarBook, storedOffset: Int64) -> DriverBook {
        var drivers = DriverBook(storedOffset: storedOffset)
        var contexts: [VehicleID: DriverContext] = [:]
        for record in records.values {
            if let fromMs = record.fromMs { contexts[record.vehicle] = sayings.context(record.vehicle, fromMs: fromMs) }
        }
        drivers.restore(
            cars, watched: sayings.watched.map { ($0, sayings.drivers($0).ownedMs) },
            scanned: sayings.scanned, records: records.values.sorted { $0.vehicle < $1.vehicle },
            open: Dictionary(grouping: open, by: \.episode.vehicle), contexts: contexts)
        return drivers
    }
}
