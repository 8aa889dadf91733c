public import Fleet

/// The clock was moved wrongly, and is set back: what it ended of the last day is judged again. That is noted of some cars with the record,
/// at the end of its cycle, and of the others at ticks (`CarSpread`). One that it has not come to goes on as it is.
extension DriverPartition {
    /// Nothing more is taken before the first cars are noted.
    public mutating func setBack(clockMs: Int64, offset: Int64) {
        guard offset >= storedOffset else { return }
        setBackTo = (clockMs, offset)
        (isFull, nextDueMs) = (true, .min)
    }

    /// The clock that a record of this cycle sets back.
    public mutating func dequeueSetBack() -> (spread: CarSpread, clockMs: Int64)? {
        defer { setBackTo = nil }
        return setBackTo.map { (CarSpread(clockMs: $0.clockMs, askedOffset: $0.offset), $0.clockMs) }
    }

    /// - Parameter rest: what its first piece has left.
    public mutating func begin(_ rest: CarSpread?) {
        guard let rest else { return }
        spreads.add(rest)
        changedSpreads = spreads
    }

    /// - Parameter rest: what a piece of the first one has left.
    public mutating func advanceSpread(to rest: CarSpread) {
        spreads.advance(to: rest)
        changedSpreads = spreads
    }

    /// The first one has come to all cars.
    public mutating func finishSpread() {
        spreads.finish()
        changedSpreads = spreads
    }

    /// How many cars something may come to now.
    public func room(_ size: SpreadSize) -> SpreadRoom {
        SpreadRoom(cars: size.cars, waiting: max(size.least, size.waiting - waiting.count))
    }

    /// Those of the cars that follow in the order of their names to which it comes now, and which of them must be in memory.
    public func next(
        of cars: [StoredCar], _ spread: CarSpread, _ carPartition: borrowing CarPartition, _ room: inout SpreadRoom,
        clockMs: Int64
    ) -> (cars: ArraySlice<StoredCar>, recalled: [VehicleID]) {
        var (count, recalled): (Int, [VehicleID]) = (0, [])
        for car in cars {
            let number = carPartition.number(of: car.vehicle)
            let lastMs = number.map { carPartition.lastMs($0) } ?? car.lastMs
            let isAsked = spread.isAbout(car, lastMs: lastMs, installation)
            if isAsked || number.map({ isAhead($0, clockMs) }) ?? false {
                guard room.letIn() else { break }
                if number == nil { recalled.append(car.vehicle) }
            }
            count += 1
        }
        return (cars.prefix(count), recalled)
    }

    /// It says that something came when the clock was ahead.
    private func isAhead(_ number: Int, _ clockMs: Int64) -> Bool {
        max(waiting[number]?.arrivedMs ?? .min, lives[number]?.arrivedMs ?? .min) > clockMs
    }

    /// It comes to these cars. Those of which something is judged again are in memory.
    ///
    /// - Parameter offset: of the record or tick.
    public mutating func note(
        _ cars: ArraySlice<StoredCar>, _ spread: CarSpread, _ carPartition: borrowing CarPartition, clockMs: Int64,
        offset: Int64
    ) {
        for car in cars {
            guard let number = carPartition.number(of: car.vehicle) else { continue }
            let lastMs = carPartition.lastMs(number)
            if spread.isAbout(car, lastMs: lastMs, installation) {
                know(number, lastMs: lastMs)
                let askedMs = lives[number]?.lastMs ?? lastMs
                ask(number, fromMs: askedMs, untilMs: askedMs, offset: offset, isLate: true)
            }
            if isAhead(number, clockMs) { cameBy(clockMs, number) }
        }
    }

    private mutating func cameBy(_ clockMs: Int64, _ number: Int) {
        waiting[number]?.arrivedMs.lower(to: clockMs)
        lives[number]?.arrivedMs.lower(to: clockMs)
        changed.insert(number)
        nextDueMs = .min
    }
}

extension Int64 {
    fileprivate mutating func lower(to most: Int64) { self = Swift.min(self, most) }
}
