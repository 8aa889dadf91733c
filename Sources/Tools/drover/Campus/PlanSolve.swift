import App
import Basics
import Codecs
import Formats
import Foundation
import Reports
import Routing

/// The answer to one case, in the words of the file.
enum PlanAnswer {
    typealias NamedStop = (request: String, kind: StopKind)

    case tour(id: String, cost: Double?, order: [NamedStop])
    case assign(id: String, vehicle: String?, change: Double?)
    case fleet(id: String, cost: Double, itineraries: [(vehicle: String, order: [NamedStop])], unassigned: [String])

    var json: JSONValue {
        switch self {
        case .tour(let id, let cost, let order):
            .object([
                ("id", .text(id)), ("cost", .number(cost.map(PlanAnswer.text))),
                ("order", cost == nil ? .null : PlanAnswer.order(order)),
            ])
        case .assign(let id, let vehicle, let change):
            .object([
                ("id", .text(id)), ("vehicle", .optional(vehicle)), ("change", .number(change.map(PlanAnswer.text))),
            ])
        case .fleet(let id, let cost, let itineraries, let unassigned):
            .object([
                ("id", .text(id)), ("cost", .number(PlanAnswer.text(cost))),
                (
                    "itineraries",
                    .list(
                        itineraries.map {
                            .object([("vehicle", .text($0.vehicle)), ("order", PlanAnswer.order($0.order))])
                        })
                ),
                ("unassigned", .list(unassigned.map { .text($0) })),
            ])
        }
    }

    private static func order(_ stops: [NamedStop]) -> JSONValue {
        .list(stops.map { .list([.text($0.request), .text($0.kind == .pickup ? "pickup" : "dropoff")]) })
    }

    private static func text(_ cost: Double) -> String {
        Decimal.text(Decimal.scaled(cost, decimals: 6) ?? 0, decimals: 6)
    }

    static func table(_ answers: [PlanAnswer]) -> String {
        var table = Table(["case", "vehicle", "cost", "order"])
        for answer in answers {
            switch answer {
            case .tour(let id, let cost, let order):
                table.rows.append([id, nil, cost.map(text) ?? "infeasible", words(order)])
            case .assign(let id, let vehicle, let change):
                table.rows.append([id, vehicle ?? "none fits", change.map { "+" + text($0) }, nil])
            case .fleet(let id, let cost, let itineraries, let unassigned):
                table.rows.append([
                    id, nil, text(cost), unassigned.isEmpty ? nil : "no room: " + unassigned.joined(separator: " "),
                ])
                table.rows += itineraries.map { [id, $0.vehicle, nil, words($0.order)] }
            }
        }
        return table.text()
    }

    /// `+r1` is a pickup, `-r1` a drop-off.
    private static func words(_ order: [NamedStop]) -> String {
        order.map { ($0.kind == .pickup ? "+" : "-") + $0.request }.joined(separator: " ")
    }
}

extension PlanCases.Case {
    /// Cases are small: far more combinations than a live itinerary is given.
    private static let exactStatesMax = 100_000

    func solve(_ effort: PlanEffort) throws -> PlanAnswer {
        do {
            switch kind {
            case .tour:
                let vehicle = try some(vehicle, "vehicle")
                guard let best = try best(vehicle, with: nil, effort) else {
                    return .tour(id: id, cost: nil, order: [])
                }
                return .tour(id: id, cost: best.cost, order: best.order)
            case .assign: return try assign(effort)
            case .fleet: return try fleet(effort)
            }
        } catch let failure as Failure {
            throw Failure("case \(id): \(failure)")
        }
    }

    /// The vehicle whose best itinerary grows least; the first one of equals.
    private func assign(_ effort: PlanEffort) throws -> PlanAnswer {
        let request = try some(request, "request")
        var winner: (vehicle: String, change: Double)?
        for vehicle in try some(vehicles, "vehicles") {
            guard let before = try best(vehicle, with: nil, effort),
                let after = try best(vehicle, with: request, effort)
            else { continue }
            let change = after.cost - before.cost
            if winner == nil || change < winner!.change { winner = (vehicle.id, change) }
        }
        return .assign(id: id, vehicle: winner?.vehicle, change: winner?.change)
    }

    private func fleet(_ effort: PlanEffort) throws -> PlanAnswer {
        let (vehicles, requests) = (try some(vehicles, "vehicles"), try some(requests, "requests"))
        if let busy = vehicles.first(where: { $0.onboard?.isEmpty == false || $0.open?.isEmpty == false }) {
            throw Failure("vehicle \(busy.id) has stops already: a whole fleet is planned from empty vehicles")
        }
        var rides: [Ride] = []
        for (index, open) in requests.enumerated() {
            rides.append(
                Ride(
                    request: try request(of: open), rank: open.rank ?? Int64(index + 1), requestedAtMs: 0,
                    state: .queued(sinceMs: 0)))
        }
        try order(&rides)
        let fleet = try vehicles.map { try ride(vehicle: $0) }
        guard Set(fleet.map(\.id)).count == fleet.count else { throw Failure("two vehicles have one id") }
        guard
            let plan = FleetPlan(
                vehicles: fleet, rides: rides, rules: try rules(), travel: try travel(), seed: effort.seed)
        else { throw Failure("a value is out of its range") }
        effort.spend(on: plan)
        return .fleet(
            id: id, cost: plan.cost,
            itineraries: plan.itineraries.map { ($0.vehicle, $0.stops.map { named($0, rides) }) },
            unassigned: plan.unassigned.map { rank in rides.first { $0.rank == rank }!.request.id })
    }

    private func best(
        _ vehicle: PlanCases.Vehicle, with extra: PlanCases.Open?, _ effort: PlanEffort
    ) throws -> (cost: Double, order: [PlanAnswer.NamedStop])? {
        let rides = try rides(vehicle, with: extra)
        let planner = ItineraryPlanner(rules: try rules(), travel: try travel())
        do {
            let best = try planner.best(try ride(vehicle: vehicle), rides)
            return (best.cost, best.stops.map { named($0, rides) })
        } catch let fault as ItineraryPlanner.Fault {
            switch fault {
            case .infeasible: return nil
            case .invalid: throw Failure("a value is out of its range (vehicle \(vehicle.id))")
            case .tooLarge:
                throw Failure(
                    "vehicle \(vehicle.id) has too many stops for a proven order: at most 8 open requests or so")
            }
        }
    }

    /// The parts of a case of one vehicle.
    func parts() throws -> (RideVehicle, [Ride], DispatchRules, TravelTimes) {
        let vehicle = try some(vehicle, "vehicle")
        return (try ride(vehicle: vehicle), try rides(vehicle, with: nil), try rules(), try travel())
    }

    private func rides(_ vehicle: PlanCases.Vehicle, with extra: PlanCases.Open?) throws -> [Ride] {
        var rides = try (vehicle.onboard ?? []).map { try ride(of: $0, on: vehicle.id) }
        for open in (vehicle.open ?? []) + (extra.map { [$0] } ?? []) {
            rides.append(
                Ride(
                    request: try request(of: open), rank: try some(open.rank, "rank of \(open.request)"),
                    requestedAtMs: 0,
                    state: .assigned(vehicle: vehicle.id)))
        }
        try order(&rides)
        return rides
    }

    private func named(_ stop: Stop, _ rides: [Ride]) -> PlanAnswer.NamedStop {
        (rides.first { $0.rank == stop.rank }!.request.id, stop.kind)
    }

    private func order(_ rides: inout [Ride]) throws {
        rides.sort { $0.rank < $1.rank }
        for (a, b) in zip(rides, rides.dropFirst()) where a.rank == b.rank {
            throw Failure("\(a.request.id) and \(b.request.id) have one rank. Number requests by age, from 1")
        }
    }

    // MARK: Reading

    private func rules() throws -> DispatchRules {
        var rules = DispatchRules()
        rules.exactStatesMax = PlanCases.Case.exactStatesMax
        rules.exactLabelsMax = 1_000_000
        if let weights {
            rules.weights.travel = weights.travel
            rules.weights.wait = weights.wait
            rules.weights.ride = weights.ride
            rules.weights.order = weights.order
            rules.weights.cancel = weights.cancel
            rules.weights.override = weights.override
            rules.weights.surge = weights.surge
        }
        rules.pickupServiceS = service_s?.pickup ?? 0
        rules.dropoffServiceS = service_s?.dropoff ?? 0
        return rules
    }

    private func travel() throws -> TravelTimes {
        guard let matrix = matrix_s else {
            let speed = try some(speed_kmh, "matrix_s or speed_kmh")
            guard (0.1...1_000).contains(speed) else { throw Failure("speed_kmh is \(speed), must be 0.1 to 1000") }
            return .kilometresPerHour(speed)
        }
        guard matrix.allSatisfy({ $0.count == matrix.count }),
            let travel = TravelTimes(secondsPerMetre: 0, sites: matrix.count, measuredS: matrix.flatMap { $0 })
        else {
            throw Failure(
                "matrix_s must have as many columns as rows, at most \(TravelTimes.sitesMax), and seconds from 0 to \(Int(TravelTimes.longestS))"
            )
        }
        return travel
    }

    private func ride(vehicle: PlanCases.Vehicle) throws -> RideVehicle {
        let at = vehicle.x_m.flatMap { x in vehicle.y_m.map { PlanCases.Point(x_m: x, y_m: $0) } }
        return RideVehicle(
            id: vehicle.id, capacity: vehicle.capacity,
            place: try place(vehicle.location, at, "location of \(vehicle.id)"))
    }

    private func ride(of group: PlanCases.OnBoard, on vehicle: String) throws -> Ride {
        let place = try place(group.dropoff, nil, "dropoff of \(group.request)")
        var request = RideRequest(id: group.request, passengers: group.pax, pickup: place, dropoff: place)
        request.overrideLikelihood = group.p_override ?? 0
        request.dropoffOverrideLikelihood = request.overrideLikelihood
        request.dropoffWindow = try window(group.dropoff_window, group.request)
        request.rideMsMax = try group.ride_s_max.map { try milliseconds($0, group.request) }
        let ridden = try milliseconds(group.ridden_s ?? 0, group.request)
        return Ride(
            request: request, rank: group.rank, requestedAtMs: 0, state: .onBoard(vehicle: vehicle, sinceMs: -ridden))
    }

    private func request(of open: PlanCases.Open) throws -> RideRequest {
        var request = RideRequest(
            id: open.request, passengers: open.pax,
            pickup: try place(open.pickup, open.from, "pickup of \(open.request)"),
            dropoff: try place(open.dropoff, open.to, "dropoff of \(open.request)"))
        request.cancelLikelihood = open.p_cancel ?? 0
        request.overrideLikelihood = open.p_override ?? 0
        request.dropoffOverrideLikelihood = request.overrideLikelihood
        request.pickupWindow = try window(open.pickup_window, open.request)
        request.dropoffWindow = try window(open.dropoff_window, open.request)
        request.rideMsMax = try open.ride_s_max.map { try milliseconds($0, open.request) }
        return request
    }

    private func place(_ index: Int?, _ point: PlanCases.Point?, _ what: String) throws -> CampusPoint {
        if let matrix = matrix_s {
            let index = try some(index, what)
            guard matrix.indices.contains(index) else {
                throw Failure("\(what) is \(index), must be 0 to \(matrix.count - 1), a row of matrix_s")
            }
            return CampusPoint(site: Int32(index))
        }
        let point = try some(point, what)
        return CampusPoint(xM: point.x_m, yM: point.y_m)
    }

    private func window(_ seconds: [Double]?, _ request: String) throws -> Window? {
        guard let seconds else { return nil }
        guard seconds.count == 2 else { throw Failure("a window of \(request) must be [open, close] in seconds") }
        return Window(openMs: try milliseconds(seconds[0], request), closeMs: try milliseconds(seconds[1], request))
    }

    private func milliseconds(_ seconds: Double, _ request: String) throws -> Int64 {
        guard seconds.magnitude <= 1e9 else { throw Failure("\(request): \(seconds) seconds are too many") }
        return Int64((seconds * 1_000).rounded())
    }

    private func some<T>(_ value: T?, _ what: String) throws -> T {
        guard let value else { throw Failure("has no \(what)") }
        return value
    }
}
