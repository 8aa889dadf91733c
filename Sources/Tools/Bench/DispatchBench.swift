internal import Foundation
package import Routing

/// `drover bench dispatch`: the live dispatch of a campus over streams of requests, beside cheapest insertion in the same run.
package struct DispatchBench {
    private let stand: BenchEnvironment
    private let iterations: Int?
    private let streams: UInt64?
    private let warmUp: Int

    /// - Parameters:
    ///   - iterations: rounds of improvement after each event; nil: the usual ones.
    ///   - streams: how many seeds.
    ///   - warmUp: requests of a recorded stream before it is measured.
    package init(iterations: Int?, streams: UInt64?, warmUp: Int, on stand: BenchEnvironment) {
        self.iterations = iterations
        self.streams = streams
        self.warmUp = warmUp
        self.stand = stand
    }

    /// One vehicle's itinerary, to be ordered best.
    package typealias Case = (vehicle: RideVehicle, rides: [Ride], rules: DispatchRules, travel: TravelTimes)

    /// Only exact itineraries, of cases without limits, by how many stops they have.
    package static func exact(_ cases: [Case]) -> [Figure] { ExactBench().run(cases) }

    /// Vehicles, requests before and while it is measured, mean seconds between two.
    private static let sizes: [(vehicles: Int, warmUp: Int, measured: Int, gapS: Double)] = [
        (5, 20, 120, 55), (20, 80, 160, 10.5), (100, 420, 140, 1.8),
    ]

    /// - Parameter files: recorded streams; none: seeded ones.
    package func run(_ files: [String]) throws -> [Figure] {
        var rules = DispatchRules()
        if let iterations { rules.iterations = iterations }
        guard files.isEmpty else { return try files.flatMap { try stream($0, rules) } }
        let steps = try CampusPartitionSteps.medians().map {
            Figure(name: $0.name, value: $0.ms, unit: "ms", baseline: nil)
        }
        return steps + ExactBench().run()
            + DispatchBench.sizes.flatMap { seeded($0, streams ?? 10, rules) }
    }

    // MARK: Policies

    /// Where it costs least, the order of the others fixed; nothing is moved later.
    private static var insertion: DispatchRules {
        var rules = DispatchRules()
        rules.iterations = 0
        rules.exactStatesMax = 1
        return rules
    }

    /// Where the best itinerary grows least; nothing is moved later.
    private static var leastChange: DispatchRules {
        var rules = DispatchRules()
        rules.iterations = 0
        return rules
    }

    // MARK: Seeded streams

    private func seeded(
        _ size: (vehicles: Int, warmUp: Int, measured: Int, gapS: Double), _ streams: UInt64, _ rules: DispatchRules
    ) -> [Figure] {
        var all: [[StreamRun]] = [[], [], []]
        for seed in 1...streams {
            let events = SeededStream(
                vehicles: size.vehicles, requests: size.warmUp + size.measured, gapS: size.gapS
            ).events(seed: seed)
            for (index, policy) in [DispatchBench.insertion, DispatchBench.leastChange, rules].enumerated() {
                let run = StreamRun(
                    events, warmUp: size.warmUp, first: DispatchBench.leastChange, policy: policy, seed: seed)
                all[index].append(run)
            }
        }
        let name = "dispatch \(size.vehicles) vehicles"
        let decisions = StreamRun.sorted(all[1].map(\.decisionS))
        return [
            Figure(name: "\(name): decision p50", value: decisions.part(0.5) * 1e3, unit: "ms", baseline: nil),
            Figure(name: "\(name): decision p99", value: decisions.part(0.99) * 1e3, unit: "ms", baseline: nil),
        ] + figures(name, all[2], beside: all[0])
            + [
                Figure(
                    name: "\(name): J, least growth without improvement", value: mean(all[1].map(\.costS)), unit: "s",
                    baseline: mean(all[0].map(\.costS)))
            ]
    }

    /// Means over runs beside cheapest insertion on the same streams.
    private func figures(_ name: String, _ runs: [StreamRun], beside: [StreamRun]) -> [Figure] {
        func figure(_ what: String, _ unit: String, _ value: (StreamRun) -> Double) -> Figure {
            Figure(
                name: "\(name): \(what)", value: mean(runs.map(value)), unit: unit, baseline: mean(beside.map(value)))
        }
        let (ours, theirs) = (StreamRun.sorted(runs.map(\.decisionS)), StreamRun.sorted(beside.map(\.decisionS)))
        return [
            figure("J", "s", \.costS),
            figure("J per passenger", "s") { $0.costS / Double($0.passengers) },
            figure("drive", "s", \.driveS),
            figure("wait, mean", "s") { $0.waitS.mean },
            figure("wait, p95", "s") { $0.waitS.part(0.95) },
            figure("ride, mean", "s") { $0.rideS.mean },
            figure("ride, p95", "s") { $0.rideS.part(0.95) },
            figure("requests told another vehicle", "") { Double($0.otherVehicles) },
            figure("told arrivals moved", "s") { $0.movedArrivalS },
            Figure(
                name: "\(name): request and improvement p50", value: ours.part(0.5) * 1e3, unit: "ms",
                baseline: theirs.part(0.5) * 1e3),
            Figure(
                name: "\(name): request and improvement p99", value: ours.part(0.99) * 1e3, unit: "ms",
                baseline: theirs.part(0.99) * 1e3),
        ]
    }

    private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(1, values.count)) }

    // MARK: Recorded streams

    private func stream(_ path: String, _ rules: DispatchRules) throws -> [Figure] {
        let events = try DispatchStreamFile.read(path, stand.read(path))
        // One stream is chaos: another seed of the improvement tells how much.
        let runs = (1...(streams ?? 5)).map {
            StreamRun(events, warmUp: warmUp, first: DispatchBench.leastChange, policy: rules, seed: $0)
        }
        let beside = StreamRun(
            events, warmUp: warmUp, first: DispatchBench.leastChange, policy: DispatchBench.insertion, seed: 1)
        return figures(URL(fileURLWithPath: path).lastPathComponent, runs, beside: [beside])
    }
}

/// The best order of one itinerary, with the processor time that it takes.
private struct ExactBench {
    func run() -> [Figure] {
        [(8, 2, 3), (10, 2, 4), (12, 2, 5), (12, 0, 6), (14, 0, 7)].map { stops, onBoard, waiting in
            let micros = (0..<60).map { microseconds(seed: UInt64($0), onBoard, waiting) }.sorted()
            return Figure(
                name: "exact itinerary, \(stops) stops (\(onBoard) on board, \(waiting) waiting), median",
                value: micros[micros.count / 2], unit: "µs", baseline: nil)
        }
    }

    func run(_ cases: [DispatchBench.Case]) -> [Figure] {
        var micros: [Int: [Double]] = [:]
        for (vehicle, rides, rules, travel) in cases {
            let stops = rides.reduce(0) { $0 + ($1.isOnBoard ? 1 : 2) }
            let timer = ExactItineraryTimer(vehicle: vehicle, rides: rides, rules: rules, travel: travel)
            micros[stops, default: []].append(microseconds(timer))
        }
        return micros.sorted { $0.key < $1.key }.map { stops, times in
            Figure(
                name: "exact itinerary, \(stops) stops, median of \(times.count)",
                value: times.sorted()[times.count / 2], unit: "µs", baseline: nil)
        }
    }

    private func microseconds(seed: UInt64, _ onBoard: Int, _ waiting: Int) -> Double {
        let stream = SeededStream(vehicles: 1, requests: onBoard + waiting, gapS: 1).events(seed: seed)
        guard case .entered(_, _, let place) = stream[0].event else { return .nan }
        var rides: [Ride] = []
        for timed in stream.dropFirst() {
            guard case .requested(var request) = timed.event else { continue }
            let isOnBoard = rides.count < onBoard
            if isOnBoard { request.passengers = min(request.passengers, 2) }
            rides.append(
                Ride(
                    request: request, rank: Int64(rides.count + 1), requestedAtMs: 0,
                    state: isOnBoard ? .onBoard(vehicle: "v1", sinceMs: 0) : .assigned(vehicle: "v1")))
        }
        let timer = ExactItineraryTimer(
            vehicle: RideVehicle(id: "v1", capacity: 6, place: place), rides: rides, rules: DispatchRules(),
            travel: .kilometresPerHour(20))
        return microseconds(timer)
    }

    /// The least of some runs: what the search takes when nothing disturbs it.
    private func microseconds(_ timer: ExactItineraryTimer) -> Double {
        (0..<20).map { _ in
            let start = ProcessorClock.seconds
            timer.solve()
            return (ProcessorClock.seconds - start) * 1e6
        }.min()!
    }
}
