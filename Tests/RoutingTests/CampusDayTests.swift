import Routing
import SimKit
import Testing

/// Whole seeded days with everything that can happen: what must hold after each event, and what a replay gives.
struct CampusDayTests {
    private struct Day {
        var simulation: CampusSimulation
        var chance: SeededChance
        var asked: [String] = []
        /// How each request ended.
        var ended: [String: String] = [:]
        var replayed: Campus
        var inserted = 0.0

        init(seed: UInt64) {
            chance = SeededChance(seed: seed)
            var rules = DispatchRules()
            rules.iterations = 10
            if seed % 3 == 1 {
                (rules.weights.order, rules.weights.cancel, rules.weights.override) = (5, 0.4, 0.3)
                (rules.otherVehiclePrice, rules.movedArrivalPrice) = (60, 0.2)
            }
            // Few states: the longer itineraries are ordered by insertion.
            if seed % 4 == 2 { rules.exactStatesMax = 27 } else { rules.exactStatesMax = 243 }
            rules.exactLabelsMax = 300
            replayed = Campus(rules: rules, travel: .kilometresPerHour(20))!
            simulation = CampusSimulation(campus: replayed, seed: seed)
        }

        mutating func place() -> CampusPoint {
            CampusPoint(xM: Double(chance.below(3_000)), yM: Double(chance.below(3_000)))
        }

        mutating func event(_ number: Int) -> DispatchEvent {
            let rides = simulation.campus.rides
            let vehicles = simulation.campus.vehicles
            func some<T>(_ all: [T], _ chance: inout SeededChance) -> T? { all.isEmpty ? nil : chance.pick(all) }
            switch chance.below(23) {
            case 0: return .entered(vehicle: "v\(chance.below(12))", capacity: Int(chance.below(5)) + 2, place: place())
            case 1: return .cancelled(request: some(rides, &chance)?.request.id ?? "none")
            case 2: return .overridden(request: some(rides, &chance)?.request.id ?? "none")
            case 3: return .left(vehicle: some(vehicles, &chance)?.id ?? "none")
            case 4: return .brokeDown(vehicle: some(vehicles, &chance)?.id ?? "none")
            case 5: return .surgeChanged(1 + Double(chance.below(5)) / 10)
            case 6: return .timePassed
            // Late, doubled and out of turn.
            case 7: return .pickedUp(request: some(rides, &chance)?.request.id ?? "none")
            case 8: return .droppedOff(request: some(rides, &chance)?.request.id ?? "none")
            case 20: return .fellSilent(vehicle: some(vehicles, &chance)?.id ?? "none")
            case 21: return .ended(request: some(rides, &chance)?.request.id ?? "none")
            case 22: return .handedOver(request: some(rides, &chance)?.request.id ?? "none")
            default:
                let id = chance.once(in: 15) ? some(asked, &chance) ?? "r\(number)" : "r\(number)"
                var request = RideRequest(
                    id: id, passengers: Int(chance.below(4)) + 1, pickup: place(), dropoff: place())
                request.cancelLikelihood = Double(chance.below(30)) / 100
                if chance.once(in: 6) {
                    let now = Int64(simulation.nowS * 1_000)
                    request.pickupWindow = Window(openMs: now + 60_000, closeMs: now + 900_000)
                }
                if chance.once(in: 8) { request.rideMsMax = 1_200_000 }
                return .requested(request)
            }
        }
    }

    @Test func days() throws {
        for seed in 0..<UInt64(Length.count(6, long: 10_000)) {
            try day(seed)
        }
    }

    private func day(_ seed: UInt64) throws {
        var day = Day(seed: seed)
        for v in 0..<4 { check(&day, .entered(vehicle: "v\(v)", capacity: 5, place: day.place()), seed) }
        for number in 0..<40 {
            let untilS = day.simulation.nowS + Double(day.chance.below(60))
            while let reached = day.simulation.next(untilS: untilS) { check(&day, reached, seed) }
            check(&day, day.event(number), seed)
        }
        // Everybody is brought home or given up in the end.
        check(&day, .entered(vehicle: "last", capacity: 8, place: day.place()), seed)
        for _ in 0..<2_000 {
            guard !day.simulation.campus.rides.isEmpty else { break }
            if let reached = day.simulation.next(untilS: day.simulation.nowS + 700) {
                check(&day, reached, seed)
            } else {
                check(&day, .timePassed, seed)
            }
        }
        #expect(day.simulation.campus.rides.isEmpty, "seed \(seed): somebody is lost")
        #expect(Set(day.ended.keys) == Set(day.asked), "seed \(seed): somebody is lost")
    }

    /// Takes an event; what must hold afterwards, holds.
    private func check(_ day: inout Day, _ event: DispatchEvent, _ seed: UInt64) {
        let before = day.simulation.campus
        let atMs = Int64((day.simulation.nowS * 1_000).rounded())
        for v in before.vehicles.indices { day.replayed.vehicles[v].place = before.vehicles[v].place }
        let decision = day.simulation.apply(event)
        let after = day.simulation.campus
        if let fault = after.fault { Issue.record("seed \(seed), \(event): \(fault)") }
        let isReplayed = day.replayed.replay(event, atMs: atMs, decision)
        #expect(isReplayed, "seed \(seed), \(event)")
        let isSame = day.replayed == after
        #expect(isSame, "seed \(seed), \(event): a replay is another campus")
        #expect(decision.costAfter <= decision.costPlaced + promised(decision, after.rules) + 1e-6, "seed \(seed)")
        note(&day, event, decision, before, seed)
        for choice in decision.choices {
            for (a, b) in zip(choice.options, choice.options.dropFirst()) {
                #expect(a.growth <= b.growth + 1e-6 * (1 + b.growth.magnitude), "seed \(seed)")
            }
            for option in choice.options where after.rules.movedArrivalPrice == 0 {
                #expect((option.terms.total - (option.after - option.before)).magnitude < 1e-6, "seed \(seed)")
            }
        }
    }

    /// The pass may accept dearer itineraries only to keep promises.
    private func promised(_ decision: Decision, _ rules: DispatchRules) -> Double {
        rules.otherVehiclePrice == 0 && rules.movedArrivalPrice == 0 ? 0 : .infinity
    }

    private func note(_ day: inout Day, _ event: DispatchEvent, _ decision: Decision, _ before: Campus, _ seed: UInt64)
    {
        func end(_ id: String, _ how: String) {
            #expect(before.ride(id) != nil, "seed \(seed): \(id) \(how), but was not here")
            // A request that ended may be asked for again under its name; otherwise it ends once.
            let earlier = day.ended.updateValue(how, forKey: id)
            #expect(earlier == nil, "seed \(seed): \(id) ends twice")
        }
        for id in decision.expired { end(id, "expired") }
        if case .ignored = decision.outcome { return }
        switch event {
        case .requested(let request):
            day.asked.append(request.id)
            day.ended[request.id] = nil
        case .cancelled(let id): end(id, "cancelled")
        case .droppedOff(let id): end(id, "served")
        case .ended(let id): end(id, "ended")
        default: break
        }
        for vehicle in day.simulation.campus.vehicles where vehicle.isSilent && vehicle.stops.contains(where: isPickup)
        {
            Issue.record("seed \(seed): somebody waits for \(vehicle.id), and nobody knows where it is")
        }
        for ride in day.simulation.campus.rides where ride.vehicle.map({ ride.refusedBy.contains($0) }) ?? false {
            Issue.record("seed \(seed): \(ride.request.id) went back to a vehicle that refused it")
        }
    }

    private func isPickup(_ stop: Stop) -> Bool { stop.kind == .pickup }

    @Test func theSameDayGivesTheSameDecisions() {
        func decisions(_ seed: UInt64) -> [Decision] {
            var day = Day(seed: seed)
            return (0..<40).map { number in
                while let reached = day.simulation.next(untilS: day.simulation.nowS + 20) {
                    _ = day.simulation.apply(reached)
                }
                return day.simulation.apply(
                    number < 3 ? .entered(vehicle: "v\(number)", capacity: 4, place: day.place()) : day.event(number))
            }
        }
        #expect(decisions(3) == decisions(3))
    }

    @Test func packedStatesComeBackAndDamagedOnesAreRefused() throws {
        var day = Day(seed: 8)
        for v in 0..<4 { _ = day.simulation.apply(.entered(vehicle: "v\(v)", capacity: 5, place: day.place())) }
        for number in 0..<40 {
            while let reached = day.simulation.next(untilS: day.simulation.nowS + 20) {
                _ = day.simulation.apply(reached)
            }
            _ = day.simulation.apply(day.event(number))
        }
        let (campus, packed) = (day.simulation.campus, day.simulation.campus.packed())
        #expect(!campus.rides.isEmpty)
        #expect(try Campus(packed: packed) == campus)
        for length in 0..<packed.count {
            #expect(throws: Campus.PackedFault.self) { try Campus(packed: Array(packed[..<length])) }
        }
        // A damaged byte is refused or gives a campus that can be; it never ends the process.
        for place in 0..<packed.count {
            var damaged = packed
            damaged[place] ^= UInt8(day.chance.below(255) + 1)
            guard let other = try? Campus(packed: damaged) else { continue }
            #expect(other.fault == nil)
        }
    }
}
