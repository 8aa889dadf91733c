import Fleet
import Reports
import Testing

@Suite struct VehicleStateTests {
    static let now: Int64 = 1_790_000_000_000
    static let minute: Int64 = 60_000
    static let hour: Int64 = 3_600_000

    @Test(
        arguments: [
            ("never heard of", nil, false, nil, .silent), ("drives", minute, true, 1, .moving),
            ("stands with the engine on", minute, true, 0, .idling), ("tells no speed", minute, true, nil, .idling),
            ("trip is over", minute, false, 50_000, .parked),
            ("trip is over, which no tick has said yet", 5 * minute + 1, true, 50_000, .parked),
            ("just within the gap", 5 * minute, true, 50_000, .moving), ("a day ago", 24 * hour, false, 0, .parked),
            ("longer ago", 24 * hour + 1, true, 50_000, .silent),
        ] as [(String, Int64?, Bool, Int32?, VehicleState)])
    func car(_ name: String, agoMs: Int64?, isOpen: Bool, speed: Int32?, wanted: VehicleState) {
        let state = VehicleState.ofCar(
            lastMs: agoMs.map { Self.now - $0 }, isOpen: isOpen, speedMilliKmh: speed, tripGapMs: 5 * Self.minute,
            nowMs: Self.now)
        #expect(state == wanted, "\(name)")
    }

    /// Whether it runs and whether it does not answer; metres northwards and time between its last two places, where it told two.
    @Test(
        arguments: [
            ("runs and stands", minute, true, false, (3, minute), .idling),
            ("works", minute, true, false, (200, minute), .moving),
            ("works, uploaded by a phone", minute, false, false, (200, minute), .moving),
            ("was carried elsewhere since yesterday", minute, false, false, (9_000, 24 * hour), .parked),
            ("stands", minute, false, false, nil, .parked),
            ("worked a while ago", 15 * minute + 1, true, false, (200, minute), .parked),
            ("does not answer", minute, true, true, (200, minute), .silent),
            ("was not heard of for a day", 24 * hour + 1, false, false, nil, .silent),
        ] as [(String, Int64, Bool, Bool, (Double, Int64)?, VehicleState)])
    func machine(
        _ name: String, agoMs: Int64, isRunning: Bool, isAway: Bool, moved: (metres: Double, ms: Int64)?,
        wanted: VehicleState
    ) {
        let here = Position(latitude: 420_000_000, longitude: -930_000_000)
        var places: [(ms: Int64, position: Position)] = [(Self.now - agoMs, here)]
        if let moved = moved {
            // A degree of latitude is 111.195 km on this sphere.
            let before = Position(
                latitude: here.latitude - Int32(moved.metres / 111_195 * 1e7), longitude: here.longitude)
            places.append((Self.now - agoMs - moved.ms, before))
        }
        let state = VehicleState.ofMachine(
            lastMs: Self.now - agoMs, isRunning: isRunning, isAway: isAway, places: places, nowMs: Self.now)
        #expect(state == wanted, "\(name)")
    }
}
