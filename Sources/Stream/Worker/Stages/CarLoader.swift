internal import Alerts
package import Fleet
package import Pipeline
package import Postgres
package import Storage
internal import Trips

/// Cars of a partition into memory, with their drivers' alerts: those that have to be there when it is taken over, and later those
/// that are asked for.
package struct CarLoader {
    private let partition: Int32
    private let selection: VehicleSelection
    private let connection: Connection
    /// Settings of accounts by records from this offset on are left out; nil: none are.
    private let offset: Int64?

    package init(
        _ partition: Int32, of selection: VehicleSelection = .all, before offset: Int64? = nil,
        on connection: Connection
    ) { (self.partition, self.selection, self.offset, self.connection) = (partition, selection, offset, connection) }

    private static let pageMax = 20_000

    /// When the partition is taken over. Of some alone all are loaded, of all those that are not idle. Returns of how many the state
    /// could not be read.
    package func loadAll(into cars: inout CarPartition, _ drivers: inout DriverPartition) throws -> Int {
        let before = selection.isOnly ? offset : nil
        drivers.restore(
            installation: try InstallationLimitsStore.load(partition, on: connection),
            try CarSpreadStore.load(partition, before: before, on: connection), before: before)
        let unreadable = try load(since: selection.isOnly ? .min : cars.idleBeforeMs, into: &cars, &drivers)
        if selection.isOnly {
            let others = selection.vehicles.filter { cars.number(of: $0) == nil }
            try load(others.sorted(), into: &cars, &drivers)
            cars.knowsNew(others)
        }
        drivers.restore(
            codes: try DriverRecordStore.codes(of: partition, on: connection).filter { selection.includes($0.key) })
        return unreadable
    }

    /// Those that are not in memory and said something at `sinceMs` or later, and those of which something waits or is open.
    @discardableResult
    package func load(since sinceMs: Int64, into cars: inout CarPartition, _ drivers: inout DriverPartition) throws
        -> Int
    {
        var (last, unreadable, left) = ("", 0, 0)
        while true {
            let page = try CarStore.page(
                after: last, most: CarLoader.pageMax, sinceMs: sinceMs, of: partition, selection, on: connection)
            left += page.count { !$0.isMeant }
            let vehicles = page.filter { $0.isMeant && cars.number(of: $0.vehicle) == nil }.map(\.vehicle)
            unreadable += try load(vehicles, into: &cars, &drivers)
            if page.count == CarLoader.pageMax {
                last = page[page.count - 1].vehicle.text
                continue
            }
            // Where none is left out, one that is not in memory is new.
            cars.holds(since: left == 0 ? .min : sinceMs)
            return unreadable
        }
    }

    /// Precondition: none of them is in memory.
    @discardableResult
    package func load(_ vehicles: [VehicleID], into cars: inout CarPartition, _ drivers: inout DriverPartition) throws
        -> Int
    {
        let vehicles = vehicles.filter(selection.includes)
        guard !vehicles.isEmpty else { return 0 }
        let first = cars.count
        let unreadable = try loadCars(vehicles, into: &cars)
        drivers.know(scanned: try DriverContextStore.scanned(of: vehicles, on: connection))
        // Of one that never reported nothing else is known.
        let known = vehicles.filter { cars.number(of: $0) != nil }
        let records = known.isEmpty ? [] : try DriverRecordStore.records(of: known, on: connection)
        drivers.restore(
            cars, from: first, people: known.isEmpty ? [] : try DriverContextStore.people(of: known, on: connection),
            records: records,
            open: known.isEmpty ? [:] : try DriverAlertStore.open(of: known, on: connection),
            contexts: try DriverContextStore.contexts(
                of: records.compactMap { record in record.fromMs.map { (record.vehicle, $0) } }, partition: partition,
                before: offset, drivers.installation, on: connection))
        return unreadable
    }

    /// Returns of how many the state could not be read.
    private func loadCars(_ vehicles: [VehicleID], into cars: inout CarPartition) throws -> Int {
        var unreadable = 0
        for car in try CarStore.cars(vehicles, of: partition, on: connection) {
            if cars.load(vehicle: car.vehicle, state: car.state, isOpen: car.isOpen, cuts: car.cuts) {
                guard car.wasCut else { continue }
                let part = try CarStore.trip(car.vehicle, startMs: car.tripStartMs!, on: connection)
                cars.cut(vehicle: car.vehicle, at: part.startMs, totals: part.totals)
            } else {
                unreadable += 1
                if car.isOpen { try rebuild(car, &cars) }
            }
        }
        return unreadable
    }

    /// Folds the car's latest trip again.
    private func rebuild(_ car: CarStore.StoredCar, _ cars: inout CarPartition) throws {
        let trip = try CarStore.latestTrip(car.vehicle, startMs: car.tripStartMs!, on: connection)
        cars.rebuild(
            vehicle: car.vehicle, readings: trip.readings, part: trip.part, before: trip.before, day: trip.day)
    }
}
