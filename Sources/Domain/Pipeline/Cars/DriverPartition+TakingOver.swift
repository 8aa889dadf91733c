public import Alerts
public import Fleet

/// Rows that a worker that takes the partition over finds in the database.
extension DriverPartition {
    /// Cars that said which trouble codes they have, also some that never reported.
    public mutating func know(scanned vehicles: [VehicleID]) { scanned.formUnion(vehicles) }

    /// Cars whose trouble codes wait, and since which record.
    public mutating func restore(codes: [VehicleID: Int64]) { self.codes = codes }

    /// Takes in what the database knows of cars that the partition has from number `first` on.
    ///
    /// - Parameters:
    ///   - people: of those whom somebody has driven or owned, or has been said to.
    ///   - open: what is told as open.
    ///   - contexts: of those with a state.
    public mutating func restore(
        _ carPartition: borrowing CarPartition, from first: Int, people: [People], records: [DriverRecord],
        open: [VehicleID: [ToldAlert]], contexts: [VehicleID: DriverContext]
    ) {
        while cars.count < first { cars.append(Car()) }
        for number in first..<max(first, carPartition.count) {
            cars.append(Car(standing: carPartition.lastMs(number) == .min ? .unknown : .unwatched))
        }
        watchAll(carPartition, from: first)
        for people in people {
            guard let number = carPartition.number(of: people.vehicle) else { continue }
            if people.isWatched {
                (cars[number].standing, cars[number].lastMs) = (.watched, carPartition.lastMs(number))
            }
            cars[number].ownedMs = people.ownedMs
        }
        nextDueMs = .min
        var open = open
        for record in records {
            guard let number = carPartition.number(of: record.vehicle) else { continue }
            let told = open.removeValue(forKey: record.vehicle) ?? []
            // Of a car that nobody drives its trouble codes may wait, and what was told of it to be taken back.
            let isLatest = record.waiting?.isLatest == true
            if record.live != nil || isLatest || record.waiting == nil && !told.isEmpty {
                (cars[number].standing, cars[number].lastMs) = (.watched, carPartition.lastMs(number))
            }
            waiting[number] = record.waiting
            if isLatest { continue }
            guard record.live != nil || record.waiting == nil && !told.isEmpty else { continue }
            let live = contexts[record.vehicle].flatMap { Live(record, told, $0) }
            // What waits elsewhere may end what is told as open there.
            if let live, live.lastMs >= cars[number].lastMs,
                live.told.all.count == (record.waiting == nil ? told.count : live.watch.open.count)
            {
                lives[number] = live
            } else {
                // It cannot be read, or a program from before went on without it.
                askAll(number, fromMs: min(live?.fromMs ?? .max, told.map(\.episode.openedMs).min() ?? .max))
            }
        }
        for (vehicle, told) in open {
            guard let number = carPartition.number(of: vehicle) else { continue }
            askAll(number, fromMs: told.map(\.episode.openedMs).min()!)
        }
    }

    /// People who have to do with a car.
    public struct People: Sendable {
        let vehicle: VehicleID
        /// Since when it is registered; `.max`: it is not.
        let ownedMs: Int64
        let isWatched: Bool
        public init(_ vehicle: VehicleID, ownedMs: Int64, isWatched: Bool) {
            (self.vehicle, self.ownedMs, self.isWatched) = (vehicle, ownedMs, isWatched)
        }
    }

    private mutating func askAll(_ number: Int, fromMs: Int64) {
        let lastMs = cars[number].lastMs
        ask(number, fromMs: min(fromMs, lastMs), untilMs: .max, offset: -1, isLate: true)
    }
}
