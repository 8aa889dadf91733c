import Fleet
import Reports
import Testing

@Suite struct VehicleStateTests {
    static let now: Int64 = 1_790_000_000_000
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000

    struct Car: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let agoMs: Int64?
        let isOpen: Bool
        let speed: Int32?
        let expect: VehicleState
        init(_ name: String, _ agoMs: Int64?, _ isOpen: Bool, _ speed: Int32?, _ expect: VehicleState) {
            (testDescription, self.agoMs, self.isOpen, self.speed, self.expect) = (name, agoMs, isOpen, speed, expect)
        }
    }

    @Test(arguments: [
        Car("never heard of", nil, false, nil, .silent),
        Car("drives", minute, true, 1, .moving),
        Car("stands with the engine on", minute, true, 0, .idling),
        Car("tells no speed", minute, true, nil, .idling),
        Car("trip is over", minute, false, 50_000, .parked),
        Car("trip is over, which no tick has said yet", 5 * minute + 1, true, 50_000, .parked),
        Car("just within the gap", 5 * minute, true, 50_000, .moving),
        Car("a day ago", 24 * hour, false, 0, .parked),
        Car("longer ago", 24 * hour + 1, true, 50_000, .silent),
    ])
    func car(_ car: Car) {
        let state = VehicleState.ofCar(
            lastMs: car.agoMs.map { Self.now - $0 }, isOpen: car.isOpen, speedMilliKmh: car.speed,
            tripGapMs: 5 * Self.minute, nowMs: Self.now)
        #expect(state == car.expect)
    }

    struct Machine: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let agoMs: Int64
        let isRunning, isAway: Bool
        /// Metres northwards and time between its last two places; nil: it told one at most.
        let moved: (metres: Double, ms: Int64)?
        let expect: VehicleState
        init(
            _ name: String, _ agoMs: Int64, running: Bool = false, away: Bool = false,
            moved: (metres: Double, ms: Int64)? = nil, _ expect: VehicleState
        ) {
            (testDescription, self.agoMs, isRunning, isAway) = (name, agoMs, running, away)
            (self.moved, self.expect) = (moved, expect)
        }
    }

    @Test(arguments: [
        Machine("runs and stands", minute, running: true, moved: (3, minute), .idling),
        Machine("works", minute, running: true, moved: (200, minute), .moving),
        Machine("works, uploaded by a phone", minute, moved: (200, minute), .moving),
        Machine("was carried elsewhere since yesterday", minute, moved: (9_000, 24 * hour), .parked),
        Machine("stands", minute, .parked),
        Machine("worked a while ago", 15 * minute + 1, running: true, moved: (200, minute), .parked),
        Machine("does not answer", minute, running: true, away: true, moved: (200, minute), .silent),
        Machine("was not heard of for a day", 24 * hour + 1, .silent),
    ])
    func machine(_ machine: Machine) {
        let here = Position(latitude: 420_000_000, longitude: -930_000_000)
        var places: [(ms: Int64, position: Position)] = [(Self.now - machine.agoMs, here)]
        if let moved = machine.moved {
            // A degree of latitude is 111.195 km on this sphere.
            let before = Position(
                latitude: here.latitude - Int32(moved.metres / 111_195 * 1e7), longitude: here.longitude)
            places.append((Self.now - machine.agoMs - moved.ms, before))
        }
        let state = VehicleState.ofMachine(
            lastMs: Self.now - machine.agoMs, isRunning: machine.isRunning, isAway: machine.isAway, places: places,
            nowMs: Self.now)
        #expect(state == machine.expect)
    }
}
