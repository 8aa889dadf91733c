internal import Basics
public import Fleet
public import Trips

/// Cars as the database knows them, into memory.
extension CarPartition {
    /// A car as the database knows it: the packed state beside its latest trip, whether that is open, and all cuts since
    /// the minute that it ends in. Returns false when the state cannot be read; the car is then folded again from its
    /// stored minutes when it next reports.
    @discardableResult
    public mutating func load(
        vehicle: VehicleID, state bytes: [UInt8]?, isOpen: Bool, cuts times: [Int64] = []
    ) -> Bool {
        let number = unsafe Array(vehicle.text.utf8).withUnsafeBytes { unsafe keys.add($0) }
        var car = Car()
        defer {
            precondition(number == cars.count)
            cars.append(car)
        }
        if !times.isEmpty { cuts[number] = TripCuts(times) }
        guard let bytes else { return true }
        guard let state = try? CarState(bytes, rules: rules), let trip = state.drive.trip else {
            // Later than any reading: whatever comes takes the late path, which reads the stored minutes.
            car.lastMs = .max
            return false
        }
        car.lastMs = trip.endMs
        car.isOpen = isOpen
        car.skipBefore = state.nextOffset
        chains.append(bytes, to: &car.state)
        return true
    }

    /// The car's latest trip begins where its row says: an upgrade cut it, and the packed state still is of the whole.
    public mutating func cut(vehicle: VehicleID, at startMs: Int64, totals: DriveTotals) {
        guard let number = number(of: vehicle), !cars[number].state.isEmpty else { return }
        var state = state(number, &scratch)
        state.drive.cut(at: startMs, totals: totals)
        keep(state, number)
    }

    /// A car whose state could not be read and whose latest trip is open, which the clock may end before the car reports
    /// again: the state is made from that trip's stored readings and the stored sums of the day that it reached.
    ///
    /// - Parameters:
    ///   - part: the stored trip, where it is from before.
    ///   - before: the readings of the trip before it, where `part` has no carry.
    public mutating func rebuild(
        vehicle: VehicleID, readings: [CarReading], part: Trip?, before: [CarReading], day: DriveTotals
    ) {
        let start = part.map { Drive.resumed($0, before: before, rules: rules) }
        let (_, _, drive) = Drive.whole(readings.unioned(), from: start, rules: rules)
        guard let number = unsafe Array(vehicle.text.utf8).withUnsafeBytes({ unsafe keys.find($0) }),
            let trip = drive.trip
        else { return }
        var state = CarState(rules: rules)
        (state.drive, state.dayMs, state.day) = (drive, UTC.day(of: trip.endMs), day)
        keep(state, number)
        (cars[number].lastMs, cars[number].isOpen) = (trip.endMs, true)
    }
}
