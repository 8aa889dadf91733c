internal import Foundation
internal import Routing

/// One stream driven to its end by one policy.
struct StreamRun {
    /// Processor time of each request's decision, seconds.
    var decisionS: [Double] = []
    /// Driving, and waiting and riding of each passenger, from the end of the warm-up.
    var costS = 0.0
    var driveS = 0.0
    var passengers = 0
    var waitS: [Double] = []
    var rideS: [Double] = []
    var otherVehicles = 0
    var movedArrivalS = 0.0

    init(_ events: [SeededStream.Timed], warmUp: Int, first: DispatchRules, policy: DispatchRules, seed: UInt64) {
        guard let campus = Campus(rules: warmUp > 0 ? first : policy, travel: .kilometresPerHour(20)) else {
            preconditionFailure("the bench's own rules are in their range")
        }
        var simulation = CampusSimulation(campus: campus, seed: seed)
        var (requests, fromS, droveS) = (0, 0.0, 0.0)
        for timed in events {
            while let reached = simulation.next(untilS: timed.atS) { _ = simulation.apply(reached) }
            let isRequest = if case .requested = timed.event { true } else { false }
            if isRequest { requests += 1 }
            if isRequest, requests == warmUp + 1 {
                fromS = simulation.nowS
                droveS = simulation.driveS
                simulation.setRules(policy)
            }
            let start = ProcessorClock.seconds
            _ = simulation.apply(timed.event)
            if isRequest, requests > warmUp { decisionS.append(ProcessorClock.seconds - start) }
        }
        while let reached = simulation.next(untilS: .greatestFiniteMagnitude) { _ = simulation.apply(reached) }
        driveS = simulation.driveS - droveS
        costS = driveS
        for trip in simulation.trips.values.sorted(by: { $0.requestedS < $1.requestedS }) {
            guard let pickedUpS = trip.pickedUpS, let droppedOffS = trip.droppedOffS, droppedOffS > fromS else {
                continue
            }
            costS += Double(trip.passengers) * (droppedOffS - max(trip.requestedS, fromS))
            passengers += trip.passengers
            waitS.append(pickedUpS - trip.requestedS)
            rideS.append(droppedOffS - pickedUpS)
        }
        waitS.sort()
        rideS.sort()
        otherVehicles = simulation.otherVehicles
        movedArrivalS = simulation.movedArrivalS
    }

    static func sorted(_ runs: [[Double]]) -> [Double] { runs.flatMap { $0 }.sorted() }
}

extension [Double] {
    var mean: Double { isEmpty ? 0 : reduce(0, +) / Double(count) }
    /// The value below which a part of a sorted list lies.
    func part(_ part: Double) -> Double { isEmpty ? 0 : self[Swift.min(count - 1, Int(Double(count) * part))] }
}
