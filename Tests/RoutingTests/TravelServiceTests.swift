import Routing
import Testing

struct TravelServiceTests {
    @Test func aMeasuredPairCountsOneWayAndTheRestIsTheStraightLine() throws {
        var travel = try #require(TravelTimes(secondsPerMetre: 0.5, sites: 2))
        let (a, b) = (CampusPoint(xM: 0, yM: 0, site: 0), CampusPoint(xM: 30, yM: 40, site: 1))
        #expect(travel.seconds(from: a, to: b) == 25)
        let isTaken = travel.measure(77, from: 0, to: 1)
        #expect(isTaken && travel.seconds(from: a, to: b) == 77 && travel.seconds(from: b, to: a) == 25)
        // A place of another table, or of none, has no measured times here.
        #expect(travel.seconds(from: a, to: CampusPoint(xM: 30, yM: 40, site: 9)) == 25)
        #expect(travel.seconds(from: a, to: CampusPoint(xM: 30, yM: 40)) == 25)
    }

    @Test(
        "What is out of range is refused", arguments: [(-1.0, 0, 1), (.nan, 0, 1), (2e6, 0, 1), (5, 2, 0), (5, 0, -1)])
    func refused(seconds: Double, from: Int, to: Int) throws {
        var travel = try #require(TravelTimes(secondsPerMetre: 0.5, sites: 2))
        let before = travel
        let isTaken = travel.measure(seconds, from: from, to: to)
        #expect(!isTaken && travel.measuredS.count == before.measuredS.count && travel.measuredS.allSatisfy(\.isNaN))
        #expect(TravelTimes(secondsPerMetre: 1, sites: 2, measuredS: [0, seconds.magnitude + 1, 0]) == nil)
    }

    @Test func aTickWithNobodyInLineDecidesNothing() {
        var campus = Campus(rules: DispatchRules(), travel: .kilometresPerHour(20))!
        _ = campus.apply(.entered(vehicle: "v", capacity: 4, place: CampusPoint(xM: 0, yM: 0)), atMs: 0, seed: 0)
        let before = campus.vehicles
        let decision = campus.apply(.timePassed, atMs: 9_000, seed: 1)
        #expect(decision == Decision(outcome: .done) && campus.vehicles == before && campus.nowMs == 9_000)
    }
}
