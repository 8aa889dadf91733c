internal import Alerts
internal import Basics
internal import Fleet
internal import Trips

/// What people say, each at its place among the readings, or anywhere.
extension CarLog {
    /// Marks of most logs: at a reading, a millisecond beside one, between two, before the first, after the last; some of them
    /// twice.
    mutating func addMarks() {
        for _ in 0..<chance.below(8) {
            let (vehicle, reading) = aReading()
            let step = [0, 1, -1, chance.below(60_000) - 30_000, chance.below(1_200_000) - 600_000]
            let cut = reading.ts + step[Int(chance.below(5))]
            for _ in 0..<(chance.once(in: 5) ? 2 : 1) { put(.cut(vehicle, cut), of: vehicle, at: cut) }
        }
    }

    mutating func addPeople() {
        for number in 0..<2 + chance.below(12) {
            let (vehicle, reading) = aReading()
            let ts = reading.ts + [0, 1, -1, chance.below(600_000) - 300_000][Int(chance.below(4))]
            let (kind, by) = deed(ts)
            let isOfAll = kind.isOfAll
            let record = LoggedRecord.action(
                Action(id: "a\(number)", vehicle: isOfAll ? nil : vehicle, ts: ts, by: by, note: nil, kind: kind))
            if number == 0 { records.insert(record, at: 0) } else { put(record, of: vehicle, at: ts) }
            // Records come twice, as readings do.
            if chance.once(in: 12) { put(record, of: vehicle, at: ts) }
        }
        if chance.once(in: 2) { addInstallation() }
        // Somebody owns the first car from the beginning.
        let first = Action(
            id: "first", vehicle: VehicleID("car-0")!, ts: 1_700_000_000_000, by: "test", note: nil, kind: owner("jo"))
        records.insert(.action(first), at: 0)
        // That is said again, as it was or otherwise, of the same time or another.
        for _ in 0..<chance.below(4) {
            let (by, reading) = (chance.once(in: 3) ? account() : "jo", aReading().reading)
            let again = Action(
                id: chance.once(in: 2) && by == "jo" ? "first" : "again-\(by)", vehicle: first.vehicle,
                ts: chance.once(in: 2) ? first.ts : reading.ts, by: "test", note: nil, kind: owner(by))
            records.insert(.action(again), at: Int(chance.below(Int64(records.count + 1))))
        }
        for _ in 0..<chance.below(3) { sayAgain() }
    }

    /// Who is to drive a car is said again, of the same time or another.
    private mutating func sayAgain() {
        let assignments = records.compactMap { record -> Action? in
            guard case .action(let action) = record, case .assignment = action.kind else { return nil }
            return action
        }
        guard !assignments.isEmpty else { return }
        let (said, reading) = (assignments[Int(chance.below(Int64(assignments.count)))], aReading().reading)
        let isSame = chance.once(in: 2)
        let again = Action(
            id: isSame ? said.id : "again-\(said.id)", vehicle: said.vehicle, ts: isSame ? said.ts : reading.ts,
            by: said.by, note: nil, kind: said.kind)
        records.insert(.action(again), at: Int(chance.below(Int64(records.count + 1))))
    }

    /// What holds where nobody answers for a car: from before any reading, amid them or anywhere, also switched off again, as often as
    /// not in the order of the records. Of two of one time one counts.
    private mutating func addInstallation() {
        var ts = aReading().reading.ts
        for number in 0..<1 + chance.below(4) {
            ts =
                [ts, aReading().reading.ts, aReading().reading.ts + chance.below(600_000) - 300_000, 0][
                    Int(chance.below(4))]
            let limit = 30 + chance.below(8) * 15
            let text = chance.once(in: 4) ? #"{"alerts":false}"# : #"{"speed_limit_kmh":\#(limit),"wheel_limit_h":1}"#
            let record = LoggedRecord.action(
                Action(
                    id: "installation-\(number)", vehicle: nil, ts: ts, by: "test", note: nil,
                    kind: .settings(account: InstallationLimits.account, text: text)))
            if chance.once(in: 4) {
                records.insert(record, at: 0)
            } else {
                put(record, of: VehicleID("car-0")!, at: ts)
            }
            if chance.once(in: 8) { records.append(record) }
        }
    }

    /// Two drive one car at one time, each in pieces that adjoin. A piece that comes late joins two drives, and moves the begin of
    /// the later one.
    mutating func addDrives() {
        let (vehicle, reading) = aReading()
        let lengthMs: Int64 = [900_000, 3 * 3_600_000, UTC.msPerDay][Int(chance.below(3))]
        for by in ["jo", "al"] {
            var fromMs = reading.ts - chance.below(3) * lengthMs / 2
            let count = 2 + chance.below(4)
            let lateNumber = chance.below(2 * count)
            for number in 0..<count {
                let untilMs = fromMs + chance.below(lengthMs)
                let piece = LoggedRecord.action(
                    Action(
                        id: "\(by)-\(number)", vehicle: vehicle, ts: untilMs, by: by, note: nil,
                        kind: .driving(fromMs: fromMs)))
                if number == lateNumber { records.append(piece) } else { put(piece, of: vehicle, at: fromMs) }
                fromMs = untilMs + [0, 1, chance.below(300_000), 300_000, 300_001][Int(chance.below(5))]
            }
            let limit = #"{"speed_limit_kmh":\#(by == "jo" ? 60 : 180)}"#
            let settings = Action.Kind.settings(account: by, text: limit)
            records.insert(
                .action(Action(id: "limit-\(by)", vehicle: nil, ts: 0, by: "test", note: nil, kind: settings)), at: 0)
        }
    }

    private mutating func deed(_ ts: Int64) -> (Action.Kind, by: String) {
        switch chance.below(12) {
        case 0...2:
            let fromMs = ts - [0, 10_000, chance.below(1_000_000)][Int(chance.below(3))]
            return (.driving(fromMs: fromMs), account())
        case 3, 4: return (.assignment(driver: chance.once(in: 4) ? nil : account()), "test")
        case 5: return (owner(chance.once(in: 4) ? nil : account()), "test")
        case 6: return (chance.once(in: 2) ? .tripStart : .tripStop, "driver")
        case 7, 8: return (.scan(scan()), "gateway")
        default:
            let limit = 60 + chance.below(10) * 15
            // Hours at the wheel end by the pause in force: a shorter one may come while the car stands.
            let wheel =
                chance.once(in: 3)
                ? #","wheel_limit_h":\#(1 + chance.below(3)),"wheel_pause_min":\#(5 + 5 * chance.below(12))"# : ""
            return (.settings(account: account(), text: #"{"speed_limit_kmh":\#(limit)\#(wheel)}"#), "test")
        }
    }

    private mutating func account() -> String { ["jo", "al", "kim"][Int(chance.below(3))] }

    private func owner(_ account: String?) -> Action.Kind {
        var registration = Action.Registration()
        registration.car = Action.Car()
        registration.car!.account = account
        return .registration(registration)
    }

    /// Some are not answered, and some answer one request twice.
    private mutating func scan() -> Action.HealthScan {
        let request = chance.once(in: 3) ? "request-\(chance.below(2))" : nil
        var scan = Action.HealthScan(request: request, isDone: !chance.once(in: 4), text: "")
        guard scan.isDone else { return scan }
        for code in ["P0101", "P0133", "U0001"] where chance.once(in: 2) {
            if chance.once(in: 3) { scan.pending.append(code) } else { scan.stored.append(code) }
        }
        return scan
    }

    mutating func aReading() -> (vehicle: VehicleID, reading: CarReading) {
        readings[Int(chance.below(Int64(readings.count)))]
    }

    /// Half of the time where a record of that time belongs.
    private mutating func put(_ record: LoggedRecord, of vehicle: VehicleID, at ts: Int64) {
        let isAtItsPlace = chance.once(in: 2)
        let anywhere = Int(chance.below(Int64(records.count + 1)))
        let place = records.firstIndex {
            if case .reading(vehicle, let other) = $0 { other.ts >= ts } else { false }
        }
        records.insert(record, at: isAtItsPlace ? place ?? records.count : anywhere)
    }
}
