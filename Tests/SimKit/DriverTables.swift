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
    private var limits: [Int64: [InstallationLimits.Entry]] = [:]
    private(set) var spreads = CarSpreads()

    /// How many rows of cars each commit wrote.
    public private(set) var rowsWritten: [Int] = []

    mutating func write(_ changes: DriverPartition.Changes) {
        rowsWritten.append(changes.records.count + changes.gone.count)
        for alert in changes.alerts { told.alerts[alert.id] = alert }
        for transition in changes.transitions {
            told.transitions[transition.alert.episode.vehicle, default: []].append(
                "\(transition.id) \(transition.pushedMs) \(transition.alert.episode.worstValue ?? 0)")
        }
        for record in changes.records { records[record.vehicle] = record }
        for vehicle in changes.gone { records[vehicle] = nil }
        for entries in changes.limits { limits[entries[0].inForceMs] = entries }
        spreads = changes.spreads ?? spreads
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

    /// What the installation has set, and how far it has come.
    var installation: [InstallationLimits.Entry] { limits.values.flatMap(\.self) }

    /// Who drives a car, and what judges it, as the worker knows it.
    func context(_ vehicle: VehicleID, fromMs: Int64, _ drivers: DriverPartition) -> DriverContext {
        sayings.context(vehicle, fromMs: fromMs, installation: drivers.installation.rules(of: vehicle))
    }

    /// Cars whose trouble codes wait.
    var codes: [VehicleID: Int64] { records.compactMapValues(\.codesOffset) }

    /// Something of it waits, goes on or is open.
    func isAwake(_ vehicle: VehicleID) -> Bool {
        records[vehicle].map { $0.live != nil || $0.waiting != nil } ?? false
            || open.contains { $0.episode.vehicle == vehicle }
    }

    func know(scanned vehicles: [VehicleID], _ drivers: inout DriverPartition) {
        let scanned = Set(sayings.scanned)
        drivers.know(scanned: vehicles.filter(scanned.contains))
    }

    /// Of these cars, which `CarPartition` has from number `first` on where it knows them.
    func load(
        _ vehicles: [VehicleID], _ cars: borrowing CarPartition, from first: Int, into drivers: inout DriverPartition
    ) {
        let known = vehicles.filter { cars.number(of: $0) != nil }
        let records = known.compactMap { self.records[$0] }
        var contexts: [VehicleID: DriverContext] = [:]
        for record in records {
            guard let fromMs = record.fromMs else { continue }
            contexts[record.vehicle] = context(record.vehicle, fromMs: fromMs, drivers)
        }
        let watched = Set(sayings.watched)
        know(scanned: vehicles, &drivers)
        drivers.restore(
            cars, from: first,
            people: known.map {
                .init($0, ownedMs: sayings.drivers($0).ownedMs, isWatched: watched.contains($0))
            },
            records: records,
            open: Dictionary(grouping: open.filter { known.contains($0.episode.vehicle) }, by: \.episode.vehicle),
            contexts: contexts)
    }
}
