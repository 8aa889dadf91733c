internal import Basics
internal import Glibc
internal import Routing

/// A seeded stream of requests: Poisson arrivals in a square plane, parties of one to three (mostly one), vehicles with six seats.
struct SeededStream: Sendable {
    struct Timed: Equatable, Sendable {
        var atS: Double
        var event: DispatchEvent
        init(atS: Double, event: DispatchEvent) { (self.atS, self.event) = (atS, event) }
    }

    var vehicles: Int
    var requests: Int
    /// Mean seconds between two requests; 0: all at once.
    var gapS: Double
    var sideM = 3_000.0
    /// Nobody asks to be driven less far than this.
    var leastM = 330.0

    private static let parties = [1, 1, 1, 1, 2, 2, 3]

    init(vehicles: Int, requests: Int, gapS: Double) {
        self.vehicles = vehicles
        self.requests = requests
        self.gapS = gapS
    }

    func events(seed: UInt64) -> [Timed] {
        var chance = SearchChance(seed: seed)
        func metres() -> Double { (chance.unit() * sideM * 10).rounded() / 10 }
        func place() -> CampusPoint { CampusPoint(xM: metres(), yM: metres()) }
        var events = (0..<vehicles).map { v in
            Timed(atS: 0, event: .entered(vehicle: "v\(v + 1)", capacity: 6, place: place()))
        }
        var atS = 0.0
        for r in 0..<requests {
            atS += -gapS * log(1 - chance.unit())
            var (from, to) = (place(), place())
            while hypot(from.xM - to.xM, from.yM - to.yM) <= leastM { (from, to) = (place(), place()) }
            let request = RideRequest(
                id: "r\(r + 1)", passengers: SeededStream.parties[chance.below(7)], pickup: from, dropoff: to)
            events.append(Timed(atS: atS, event: .requested(request)))
        }
        return events
    }
}
