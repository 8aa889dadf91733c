package import Fleet
internal import Pipeline
internal import Routing

/// The outcome of the rides requested in some hours.
package struct CampusFigures: Equatable, Sendable {
    package var requests = 0
    package var served = 0
    package var cancelled = 0
    package var expired = 0
    package var refused = 0
    /// Seconds of each ride that was picked up, and of each that was dropped off.
    package var waitingS: [Double] = []
    package var ridingS: [Double] = []
    /// The way of those who were dropped off, straight from pickup to drop-off at the speed of when they asked.
    package var directS = 0.0
    package var driveS = 0.0
    package var otherVehicles = 0
    package var movedArrivalS = 0.0
    package var overrides = 0

    /// Riding over the straight way; nil: nobody was dropped off.
    package var detour: Double? { directS > 0 ? ridingS.reduce(0, +) / directS : nil }

    /// - Parameter share: 0.5 is the median; nil: there are none.
    package static func quantile(_ share: Double, of values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        // Nearest rank, as PostgreSQL's percentile_disc.
        return sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]
    }
}

/// Repeats a day with new decisions. Vehicles drive exactly as planned, along straight lines at the campus's speed, and stand at stops as
/// long as its settings say; requests, cancellations, refusals and changes of service happen at their recorded times, whichever vehicle
/// has the request then.
package struct CampusBacktest {
    private let day: CampusDay
    private let changed: [CampusSettings.Key: Int64]
    private var settings: CampusSettings
    private var area: CampusArea
    private var simulation: CampusSimulation
    private var learned: CampusDispatcher.Learned
    private let startMs: Int64
    /// Riders with something outstanding, by request.
    private var riders: [String: String] = [:]
    private var asked: Set<String> = []
    private var direct: [String: Double] = [:]
    private var figures = CampusFigures()

    /// The time after the last record in which riders on board may still be dropped off.
    private static let afterS = 7_200.0

    /// Nil: the campus was not published by the end of the span.
    package init?(_ day: CampusDay, changed: [CampusSettings.Key: Int64]) {
        guard let start = day.start, let area = CampusArea(boundary: start.settings.boundary) else { return nil }
        self.day = day
        self.changed = changed
        self.area = area
        learned = start.learned
        settings = start.settings
        settings.numbers.merge(changed) { $1 }
        startMs = max(start.campus.nowMs, day.events.first?.atMs ?? day.spanMs.lowerBound)
        var campus = start.campus
        campus.forgetAllMeasured()
        simulation = CampusSimulation(campus: campus, seed: 1, startMs: startMs)
        for ride in start.rides.values { riders[ride.pickup.request] = ride.pickup.rider }
        asked = Set(start.rides.keys)
        simulation.setRules(settings.rules(surge: 1))
    }

    /// Runs the whole span.
    package static func run(_ day: CampusDay, changed: [CampusSettings.Key: Int64] = [:]) -> CampusFigures? {
        guard var trial = CampusBacktest(day, changed: changed) else { return nil }
        // The results of a record follow it with the same offset.
        let events = day.events.filter { $0.atMs < day.spanMs.upperBound }
        for (_, atMs, event) in events {
            trial.drive(untilS: Double(atMs - trial.startMs) / 1_000)
            trial.apply(event, atMs)
        }
        trial.drive(untilS: max(trial.simulation.nowS, 0) + afterS)
        return trial.closed()
    }

    private mutating func drive(untilS: Double) {
        guard untilS > simulation.nowS else { return }
        while let event = simulation.next(untilS: untilS) { decide(event) }
    }

    private var nowMs: Int64 { startMs + Int64((simulation.nowS * 1_000).rounded()) }

    private mutating func decide(_ event: DispatchEvent) {
        let place: RideRequest? =
            switch event {
            case .pickedUp(let id), .cancelled(let id), .overridden(let id): simulation.campus.ride(id)?.request
            case .requested, .droppedOff, .entered, .left, .brokeDown, .fellSilent, .ended, .handedOver, .moved,
                .rulesChanged, .surgeChanged, .travelTimesChanged, .timesMeasured, .timePassed:
                nil
            }
        let decision = simulation.apply(event)
        for id in decision.expired {
            riders[id] = nil
            if direct.removeValue(forKey: id) != nil { figures.expired += 1 }
        }
        if case .ignored = decision.outcome { return }
        switch event {
        case .pickedUp:
            guard let place else { return }
            learned.likelihoods.waited(at: place.pickup, cancelled: false, atMs: nowMs)
            learned.offered(place, refused: false, nowMs)
        case .cancelled(let id):
            if let place { learned.likelihoods.waited(at: place.pickup, cancelled: true, atMs: nowMs) }
            riders[id] = nil
            if direct.removeValue(forKey: id) != nil { figures.cancelled += 1 }
        case .overridden:
            if let place { learned.offered(place, refused: true, nowMs) }
            figures.overrides += 1
        case .droppedOff(let id): riders[id] = nil
        case .requested, .entered, .left, .brokeDown, .fellSilent, .ended, .handedOver, .moved, .rulesChanged,
            .surgeChanged, .travelTimesChanged, .timesMeasured, .timePassed:
            break
        }
    }

    private mutating func apply(_ event: CampusDay.Event, _ atMs: Int64) {
        switch event {
        case .pickup(let pickup): ask(pickup)
        case .cancel(let request):
            if simulation.campus.ride(request) != nil { decide(.cancelled(request: request)) }
        case .override(let request): decide(.overridden(request: request))
        case .entered(let entered):
            // It is where the trial has driven it to.
            if let known = simulation.campus.vehicle(entered.vehicle) {
                guard !known.inService || known.capacity != entered.capacity else { return }
                decide(.entered(vehicle: entered.vehicle, capacity: entered.capacity, place: known.place))
            } else {
                let place = area.point(entered.place)
                decide(.entered(vehicle: entered.vehicle, capacity: entered.capacity, place: place))
            }
        case .left(let vehicle):
            if simulation.campus.vehicle(vehicle)?.inService ?? false { decide(.left(vehicle: vehicle)) }
        case .brokeDown(let vehicle): decide(.brokeDown(vehicle: vehicle))
        case .fellSilent(let vehicle): decide(.fellSilent(vehicle: vehicle))
        case .heardOf(let vehicle):
            // It is where the trial has driven it to.
            if let known = simulation.campus.vehicle(vehicle) { decide(.moved(vehicle: vehicle, place: known.place)) }
        case .settings(let said): change(said)
        case .surge(let surge): decide(.surgeChanged(surge))
        case .speed(let secondsPerMetre): decide(.travelTimesChanged(TravelTimes(secondsPerMetre: secondsPerMetre)))
        case .timePassed: decide(.timePassed)
        }
    }

    /// Applies the rules by which the worker refuses.
    private mutating func ask(_ pickup: RideRecord.Pickup) {
        guard asked.insert(pickup.request).inserted else { return }
        figures.requests += 1
        let (from, to) = (area.point(pickup.from), area.point(pickup.to))
        guard !riders.values.contains(pickup.rider),
            area.allows(from, to, reachM: Double(settings[.reachM]) / 1_000)
        else {
            figures.refused += 1
            return
        }
        var request = RideRequest(id: pickup.request, passengers: pickup.passengers, pickup: from, dropoff: to)
        request.cancelLikelihood = learned.likelihoods.cancel(at: from, nowMs: nowMs)
        request.overrideLikelihood = learned.likelihoods.override(at: from, nowMs: nowMs)
        request.dropoffOverrideLikelihood = learned.likelihoods.override(at: to, nowMs: nowMs)
        (riders[pickup.request], direct[pickup.request]) = (
            pickup.rider, simulation.campus.travel.seconds(from: from, to: to)
        )
        decide(.requested(request))
        guard simulation.campus.ride(pickup.request) == nil else { return }
        (riders[pickup.request], direct[pickup.request]) = (nil, nil)
        figures.refused += 1
    }

    private mutating func change(_ said: CampusSettings) {
        guard said.placesBase == nil, let area = CampusArea(boundary: said.boundary) else { return }
        settings = said
        self.area = area
        settings.numbers.merge(changed) { $1 }
        learned.likelihoods.setHalfLife(settings.halfLifeMs, nowMs: nowMs)
        decide(.rulesChanged(settings.rules(surge: simulation.campus.rules.weights.surge)))
    }

    private func closed() -> CampusFigures {
        var figures = figures
        for (id, directS) in direct.sorted(by: { $0.key < $1.key }) {
            guard let trip = simulation.trips[id], let pickedUpS = trip.pickedUpS else { continue }
            figures.waitingS.append(pickedUpS - trip.requestedS)
            guard let droppedOffS = trip.droppedOffS else { continue }
            figures.served += 1
            figures.ridingS.append(droppedOffS - pickedUpS)
            figures.directS += directS
        }
        figures.driveS = simulation.driveS
        figures.otherVehicles = simulation.otherVehicles
        figures.movedArrivalS = simulation.movedArrivalS
        return figures
    }
}

extension CampusDay {
    /// The figures of the actual decisions and drives.
    package var figures: CampusFigures {
        var figures = CampusFigures()
        figures.requests = rides.count
        figures.overrides = overrides
        figures.driveS = driveS
        figures.otherVehicles = otherVehicles
        figures.movedArrivalS = movedArrivalS
        guard let start, let area = CampusArea(boundary: start.settings.boundary) else { return figures }
        let travel = TravelTimes(secondsPerMetre: start.campus.travel.secondsPerMetre)
        for ride in rides.values.sorted(by: { $0.pickup.request < $1.pickup.request }) {
            switch ride.state {
            case .done:
                figures.served += 1
                if let pickupMs = ride.pickupMs, let dropoffMs = ride.dropoffMs {
                    figures.ridingS.append(Double(dropoffMs - pickupMs) / 1_000)
                    figures.directS += travel.seconds(
                        from: area.point(ride.pickup.from), to: area.point(ride.pickup.to))
                }
            case .cancelled, .ended: figures.cancelled += 1
            case .expired: figures.expired += 1
            case .refused: figures.refused += 1
            case .queued, .assigned, .onBoard: break
            }
            if ride.state == .done || ride.state == .onBoard, let pickupMs = ride.pickupMs {
                figures.waitingS.append(Double(pickupMs - ride.requestedMs) / 1_000)
            }
        }
        return figures
    }
}
