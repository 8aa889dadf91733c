import Routing
import SimKit

/// Small seeded worlds: one or several vehicles, riders on board and waiting, measured or straight travel times.
struct World {
    var vehicles: [RideVehicle] = []
    var rides: [Ride] = []
    var rules = DispatchRules()
    var travel = TravelTimes(secondsPerMetre: 0.18)

    enum Limits: CaseIterable { case none, deadlines, windows, rideLimits, windowsAndRideLimits }

    var chance: SeededChance

    init(seed: UInt64, vehicles count: Int = 1, onBoard: Int, waiting: Int, limits: Limits = .none, isMeasured: Bool) {
        chance = SeededChance(seed: seed)
        (rules.iterations, rules.exactLabelsMax) = (0, 200_000)
        weigh()
        let ranks = (1...Int64(count * (onBoard + waiting) + 1)).shuffled(using: &chance)
        var next = 0
        for v in 0..<count {
            var vehicle = RideVehicle(id: "v\(v)", capacity: Int(chance.below(4)) + 3, place: place())
            var free = vehicle.capacity
            for boarded in 0..<onBoard + waiting {
                let isOnBoard = boarded < onBoard && free > 0
                let seats = isOnBoard ? min(free, Int(chance.below(3)) + 1) : Int(chance.below(3)) + 1
                if isOnBoard { free -= seats }
                var request = RideRequest(id: "r\(next)", passengers: seats, pickup: place(), dropoff: place())
                request.cancelLikelihood = Double(chance.below(35)) / 100
                request.overrideLikelihood = Double(chance.below(20)) / 100
                request.dropoffOverrideLikelihood = Double(chance.below(20)) / 100
                limit(&request, limits)
                let state: Ride.State =
                    isOnBoard
                    ? .onBoard(vehicle: vehicle.id, sinceMs: -chance.below(300_000)) : .assigned(vehicle: vehicle.id)
                rides.append(Ride(request: request, rank: ranks[next], requestedAtMs: 0, state: state))
                next += 1
            }
            vehicle.inService = true
            vehicles.append(vehicle)
        }
        rides.sort { $0.rank < $1.rank }
        if isMeasured { measure() }
    }

    private mutating func weigh() {
        switch chance.below(3) {
        case 0: break
        case 1:
            (rules.weights.wait, rules.weights.ride, rules.weights.order) = (0, 0, 20)
            (rules.weights.cancel, rules.weights.override, rules.weights.surge) = (0.5, 0.3, 1.25)
        default:
            (rules.weights.wait, rules.weights.ride, rules.weights.order) = (0.8, 0.5, 30)
            (rules.weights.cancel, rules.weights.override) = (0.4, 0.2)
        }
        // Riding may be dearer than waiting: then who is early is not always better off.
        if chance.once(in: 4) { rules.weights.ride = 2 }
        if chance.once(in: 2) { (rules.pickupServiceS, rules.dropoffServiceS) = (20, 15) }
    }

    private mutating func limit(_ request: inout RideRequest, _ limits: Limits) {
        switch limits {
        case .none: return
        case .deadlines: request.dropoffWindow = Window(openMs: 0, closeMs: 400_000 + chance.below(1_500_000))
        case .rideLimits: request.rideMsMax = 300_000 + chance.below(900_000)
        case .windows, .windowsAndRideLimits:
            if chance.once(in: 2) {
                let open = chance.below(900_000)
                request.pickupWindow = Window(openMs: open, closeMs: open + 300_000 + chance.below(1_200_000))
            }
            if chance.once(in: 2) {
                let open = chance.below(1_200_000)
                request.dropoffWindow = Window(openMs: open, closeMs: open + 600_000 + chance.below(1_800_000))
            }
            if limits == .windowsAndRideLimits { request.rideMsMax = 300_000 + chance.below(900_000) }
        }
    }

    mutating func place() -> CampusPoint {
        CampusPoint(xM: Double(chance.below(30_000)) / 10, yM: Double(chance.below(30_000)) / 10)
    }

    /// Asymmetric times that do not obey the triangle inequality.
    private mutating func measure() {
        var places: [CampusPoint] = vehicles.map(\.place)
        for ride in rides { places += [ride.request.pickup, ride.request.dropoff] }
        var seconds: [Double] = []
        for a in places {
            for b in places {
                seconds.append((travel.seconds(from: a, to: b) * (1 + Double(chance.below(100)) / 100)).rounded())
            }
        }
        travel = TravelTimes(secondsPerMetre: 0.18, sites: places.count, measuredS: seconds)!
        for v in vehicles.indices { vehicles[v].place.site = Int32(v) }
        for r in rides.indices {
            rides[r].request.pickup.site = Int32(vehicles.count + 2 * r)
            rides[r].request.dropoff.site = Int32(vehicles.count + 2 * r + 1)
        }
    }

    func schedule(_ v: Int, _ stops: [Stop]) -> Schedule {
        Schedule(vehicles[v], stops: stops, rides: rides, rules: rules, travel: travel, nowMs: 0)
    }

    /// The least cost of all orders of a vehicle's stops, by trying each; nil when none is feasible.
    func bruteForce(_ v: Int, _ mine: [Ride]) -> Double? {
        var best: Double?
        var left: [Stop] = mine.flatMap { ride in
            (ride.isOnBoard ? [] : [Stop(rank: ride.rank, kind: .pickup)]) + [Stop(rank: ride.rank, kind: .dropoff)]
        }
        var order: [Stop] = []
        let boarded = Set(mine.filter(\.isOnBoard).map(\.rank))
        func extend() {
            if left.isEmpty {
                let schedule = schedule(v, order)
                if schedule.isFeasible { best = min(best ?? .infinity, schedule.terms.total) }
                return
            }
            for index in left.indices {
                let stop = left[index]
                let isDue =
                    stop.kind == .pickup || boarded.contains(stop.rank)
                    || order.contains(Stop(rank: stop.rank, kind: .pickup))
                guard isDue else { continue }
                left.remove(at: index)
                order.append(stop)
                extend()
                order.removeLast()
                left.insert(stop, at: index)
            }
        }
        extend()
        return best
    }
}

func isNear(_ a: Double, _ b: Double) -> Bool { (a - b).magnitude <= 1e-9 * (1 + a.magnitude) }

extension CostTerms { var total: Double { travel + order + cancel + override + wait + ride } }
