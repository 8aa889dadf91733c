import Routing
import Testing

/// What each kind of event does to a small campus.
struct CampusTests {
    private func campus(_ rules: DispatchRules = DispatchRules(), vehicles: Int) -> Campus {
        var campus = Campus(rules: rules, travel: .kilometresPerHour(20))!
        for v in 0..<vehicles {
            _ = campus.apply(
                .entered(vehicle: "v\(v)", capacity: 4, place: CampusPoint(xM: Double(v) * 1_000, yM: 0)), atMs: 0,
                seed: 0)
        }
        return campus
    }

    private static func request(_ id: String, from: Double, to: Double, passengers: Int = 1) -> RideRequest {
        RideRequest(
            id: id, passengers: passengers, pickup: CampusPoint(xM: from, yM: 0), dropoff: CampusPoint(xM: to, yM: 0))
    }

    @Test func aRequestGoesToTheVehicleThatIsThere() {
        var campus = campus(vehicles: 3)
        let decision = campus.apply(.requested(Self.request("a", from: 1_900, to: 500)), atMs: 1_000, seed: 1)
        #expect(decision.outcome == .assigned(vehicle: "v2"))
        let choice = decision.choices[0]
        #expect(choice.request == "a" && choice.options[0].vehicle == "v2" && choice.options[0].isProven)
        // 100 m and 1,400 m at 20 km/h, driven, waited and ridden by one.
        #expect(isNear(choice.options[0].terms.travel, 1_500 * 0.18) && isNear(choice.options[0].terms.wait, 18))
        #expect(isNear(choice.options[0].growth, 2 * 1_500 * 0.18))
        #expect(choice.options.count + choice.boundedOut == 3)
        #expect(decision.itineraries.map(\.vehicle) == ["v2"])
    }

    @Test func ofEqualVehiclesTheOneThatCameFirstHasIt() {
        var campus = campus(vehicles: 0)
        for id in ["z", "b", "a"] {
            _ = campus.apply(.entered(vehicle: id, capacity: 4, place: CampusPoint(xM: 0, yM: 0)), atMs: 0, seed: 0)
        }
        let decision = campus.apply(.requested(Self.request("r", from: 100, to: 900)), atMs: 0, seed: 5)
        #expect(decision.outcome == .assigned(vehicle: "z"))
    }

    @Test func aRefusedRequestNeverGoesBack() {
        var campus = campus(vehicles: 2)
        _ = campus.apply(.requested(Self.request("a", from: 100, to: 900)), atMs: 0, seed: 1)
        #expect(campus.apply(.overridden(request: "a"), atMs: 1, seed: 2).outcome == .assigned(vehicle: "v1"))
        #expect(campus.apply(.overridden(request: "a"), atMs: 2, seed: 3).outcome == .queued(place: 1))
        for seed in 4..<20 { _ = campus.apply(.timePassed, atMs: 3, seed: UInt64(seed)) }
        #expect(campus.ride("a")?.vehicle == nil)
        _ = campus.apply(.entered(vehicle: "new", capacity: 1, place: CampusPoint(xM: 0, yM: 0)), atMs: 4, seed: 30)
        #expect(campus.ride("a")?.vehicle == "new")
    }

    @Test func whoFindsNoVehicleWaitsInLineAndIsGivenUpAfterTenMinutes() {
        var campus = campus(vehicles: 0)
        let asked = ["a", "b"].map { Self.request($0, from: 0, to: 1) }
        #expect(campus.apply(.requested(asked[0]), atMs: 0, seed: 1).outcome == .queued(place: 1))
        #expect(campus.apply(.requested(asked[1]), atMs: 60_000, seed: 2).outcome == .queued(place: 2))
        #expect(campus.apply(.timePassed, atMs: 600_000, seed: 3).expired == [])
        #expect(campus.apply(.timePassed, atMs: 600_001, seed: 4).expired == ["a"])
        let entered = campus.apply(
            .entered(vehicle: "v", capacity: 1, place: CampusPoint(xM: 0, yM: 0)), atMs: 600_002, seed: 5)
        #expect(entered.choices.map(\.request) == ["b"] && campus.ride("b")?.vehicle == "v")
    }

    @Test func aBreakdownLeavesThoseOnBoardAsNewPickupsWhereItStands() {
        var campus = campus(vehicles: 2)
        _ = campus.apply(.requested(Self.request("a", from: 0, to: 900)), atMs: 0, seed: 1)
        _ = campus.apply(.pickedUp(request: "a"), atMs: 1, seed: 2)
        _ = campus.apply(.requested(Self.request("b", from: 10, to: 800)), atMs: 1, seed: 2)
        _ = campus.apply(.moved(vehicle: "v0", place: CampusPoint(xM: 300, yM: 5)), atMs: 2, seed: 3)
        let decision = campus.apply(.brokeDown(vehicle: "v0"), atMs: 3, seed: 4)
        #expect(campus.vehicle("v0") == nil && campus.fault == nil)
        #expect(campus.ride("a")?.vehicle == "v1" && campus.ride("b")?.vehicle == "v1")
        #expect(campus.ride("a")?.request.pickup == CampusPoint(xM: 300, yM: 5))
        #expect(decision.choices.map(\.request) == ["a", "b"])
    }

    @Test func outOfServiceDropsThoseOnBoardAndTakesNobodyElse() {
        var campus = campus(vehicles: 1)
        _ = campus.apply(.requested(Self.request("a", from: 0, to: 900)), atMs: 0, seed: 1)
        _ = campus.apply(.pickedUp(request: "a"), atMs: 1, seed: 2)
        _ = campus.apply(.requested(Self.request("b", from: 10, to: 800)), atMs: 1, seed: 3)
        _ = campus.apply(.left(vehicle: "v0"), atMs: 2, seed: 4)
        #expect(campus.vehicle("v0")?.stops == [Stop(rank: 1, kind: .dropoff)])
        #expect(campus.ride("b")?.vehicle == nil && campus.fault == nil)
        _ = campus.apply(.droppedOff(request: "a"), atMs: 3, seed: 5)
        #expect(campus.vehicles.isEmpty && campus.rides.map(\.request.id) == ["b"])
    }

    @Test("Nobody is promised a vehicle that nobody has heard of; who waits for it gets another, who rides stays")
    func aSilentVehicleIsNotPlannedWith() throws {
        var campus = campus(vehicles: 2)
        _ = campus.apply(.requested(Self.request("a", from: 0, to: 900)), atMs: 0, seed: 1)
        _ = campus.apply(.pickedUp(request: "a"), atMs: 1, seed: 2)
        _ = campus.apply(.requested(Self.request("b", from: 10, to: 800)), atMs: 1, seed: 3)
        #expect(campus.ride("a")?.vehicle == "v0" && campus.ride("b")?.vehicle == "v0")
        _ = campus.apply(.fellSilent(vehicle: "v0"), atMs: 2, seed: 4)
        #expect(campus.ride("a")?.vehicle == "v0" && campus.ride("b")?.vehicle == "v1" && campus.fault == nil)
        #expect(try Campus(packed: campus.packed()) == campus)
        _ = campus.apply(.requested(Self.request("c", from: 0, to: 900)), atMs: 3, seed: 5)
        #expect(campus.ride("c")?.vehicle == "v1")
        #expect(
            campus.apply(.fellSilent(vehicle: "v0"), atMs: 4, seed: 6).itineraries.isEmpty, "said again it is no news")
        _ = campus.apply(.fellSilent(vehicle: "v1"), atMs: 5, seed: 7)
        #expect(campus.ride("c")?.vehicle == nil)
        _ = campus.apply(.moved(vehicle: "v0", place: CampusPoint(xM: 0, yM: 0)), atMs: 6, seed: 8)
        _ = campus.apply(.timePassed, atMs: 7, seed: 9)
        #expect(campus.ride("c")?.vehicle == "v0" && campus.fault == nil)
    }

    @Test("A ride ends, or another vehicle takes it, wherever the rider is") func aRideIsEndedOrHandedOver() {
        var campus = campus(vehicles: 2)
        _ = campus.apply(.requested(Self.request("a", from: 0, to: 900)), atMs: 0, seed: 1)
        _ = campus.apply(.pickedUp(request: "a"), atMs: 1, seed: 2)
        _ = campus.apply(.moved(vehicle: "v0", place: CampusPoint(xM: 300, yM: 5)), atMs: 2, seed: 3)
        _ = campus.apply(.handedOver(request: "a"), atMs: 3, seed: 4)
        #expect(campus.ride("a")?.vehicle == "v1" && campus.ride("a")?.refusedBy == ["v0"] && campus.fault == nil)
        #expect(campus.ride("a")?.request.pickup == CampusPoint(xM: 300, yM: 5))
        _ = campus.apply(.handedOver(request: "a"), atMs: 4, seed: 5)
        #expect(campus.ride("a")?.vehicle == nil, "neither of them again")
        #expect(campus.apply(.handedOver(request: "a"), atMs: 5, seed: 6).outcome == .ignored(.notAssigned))
        _ = campus.apply(.ended(request: "a"), atMs: 6, seed: 7)
        #expect(campus.rides.isEmpty && campus.fault == nil)
        _ = campus.apply(.requested(Self.request("b", from: 0, to: 900)), atMs: 7, seed: 8)
        _ = campus.apply(.pickedUp(request: "b"), atMs: 8, seed: 9)
        let vehicle = campus.ride("b")!.vehicle!
        _ = campus.apply(.left(vehicle: vehicle), atMs: 9, seed: 10)
        _ = campus.apply(.ended(request: "b"), atMs: 10, seed: 11)
        #expect(campus.rides.isEmpty && campus.vehicle(vehicle) == nil && campus.fault == nil)
    }

    @Test(
        "What cannot be is said and changes nothing",
        arguments: [
            (.requested(request("a", from: 0, to: 1)), .repeated),
            (.requested(request("x", from: 0, to: 1, passengers: 0)), .invalid),
            (.requested(request("x", from: .nan, to: 1)), .invalid),
            (.requested(request("", from: 0, to: 1)), .invalid), (.cancelled(request: "x"), .unknownRequest),
            (.cancelled(request: "on"), .onBoard), (.overridden(request: "on"), .onBoard),
            (.pickedUp(request: "on"), .onBoard), (.droppedOff(request: "a"), .notOnBoard),
            (.droppedOff(request: "x"), .unknownRequest), (.fellSilent(vehicle: "x"), .unknownVehicle),
            (.ended(request: "x"), .unknownRequest), (.handedOver(request: "x"), .unknownRequest),
            (.left(vehicle: "x"), .unknownVehicle), (.brokeDown(vehicle: "x"), .unknownVehicle),
            (.moved(vehicle: "v0", place: CampusPoint(xM: .infinity, yM: 0)), .invalid),
            (.entered(vehicle: "v0", capacity: 1, place: CampusPoint(xM: 0, yM: 0)), .capacityBelowLoad),
            (.entered(vehicle: "w", capacity: 0, place: CampusPoint(xM: 0, yM: 0)), .invalid),
            (.surgeChanged(-1), .invalid), (.surgeChanged(.nan), .invalid),
            (.travelTimesChanged(TravelTimes(secondsPerMetre: -1)), .invalid),
        ] as [(DispatchEvent, DispatchFault)])
    func refusals(event: DispatchEvent, fault: DispatchFault) {
        var campus = campus(vehicles: 1)
        _ = campus.apply(.requested(Self.request("on", from: 0, to: 900, passengers: 3)), atMs: 0, seed: 1)
        _ = campus.apply(.pickedUp(request: "on"), atMs: 0, seed: 1)
        _ = campus.apply(.requested(Self.request("a", from: 500, to: 1_500)), atMs: 0, seed: 2)
        let before = campus
        #expect(campus.apply(event, atMs: 5, seed: 9).outcome == .ignored(fault))
        #expect(campus == before)
    }

    @Test func aPriceKeepsPeopleWithTheVehicleTheyWereTold() {
        // Many requests in one corner, then a vehicle that comes closer: without a price some of them move to it.
        func moves(_ price: Double) -> Int {
            var rules = DispatchRules()
            rules.otherVehiclePrice = price
            var campus = campus(rules, vehicles: 1)
            for r in 0..<6 {
                _ = campus.apply(
                    .requested(Self.request("r\(r)", from: 2_000 + Double(r) * 50, to: 100)), atMs: 0, seed: UInt64(r))
            }
            let place = CampusPoint(xM: 2_100, yM: 0)
            return campus.apply(.entered(vehicle: "near", capacity: 4, place: place), atMs: 0, seed: 50).moved.filter {
                $0.vehicleBefore != $0.vehicleAfter
            }.count
        }
        #expect(moves(0) > 0 && moves(1_000_000) == 0)
    }
}
