import DepotRoutes
import Foundation
import SimKit

/// Where the benchmarks and their reference answers are, and small sets by seed.
enum Kit {
    static let liLim = Repository.shared.appending(path: "pdptw-li-lim")
    static let dialARide = Repository.shared.appending(path: "darp-cordeau")
    static let hasShared = Repository.hasShared("pdptw-li-lim")

    static func names(_ folder: URL) -> [String] {
        let files =
            (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "instances").path)) ?? []
        return files.sorted().map { String($0.dropLast(4)) }
    }

    static func problem(_ folder: URL, _ name: String) throws -> DepotProblem {
        let bytes = try Data(contentsOf: folder.appending(path: "instances/\(name).txt"))
        return try DepotFile.read([UInt8](bytes), name: name)
    }

    /// Rows of a CSV file by the first column.
    static func table(_ url: URL) throws -> [String: [String: String]] {
        let lines = try String(contentsOf: url, encoding: .utf8).split(whereSeparator: \.isNewline)
            .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        return Dictionary(
            uniqueKeysWithValues: lines.dropFirst().map { ($0[0], Dictionary(uniqueKeysWithValues: zip(lines[0], $0))) }
        )
    }

    /// A set of a few requests with windows that bind, and with longest rides and routes when asked for.
    static func small(_ count: Int, rides: Bool, seed: UInt64) -> DepotProblem {
        var chance = SeededChance(seed: seed)
        func coordinate() -> Double { Double(chance.below(1_001)) / 10 }
        var nodes = [DepotProblem.Node(x: 50, y: 50, earliest: 0, latest: 1_000, service: 0)]
        var requests: [DepotProblem.Request] = []
        for index in 0..<count {
            for isDropoff in [false, true] {
                let begin = Double(chance.below(isDropoff ? 600 : 400)) + (isDropoff ? 150 : 0)
                nodes.append(
                    .init(
                        x: coordinate(), y: coordinate(), earliest: chance.once(in: 2) ? begin : 0,
                        latest: isDropoff ? 850 : begin + 200, service: Double(chance.below(10))))
            }
            requests.append(.init(pickup: 2 * index + 1, dropoff: 2 * index + 2, load: 1 + Int(chance.below(3))))
        }
        let problem = DepotProblem(
            nodes: nodes, requests: requests, vehiclesMax: count, capacity: 4,
            rideMax: rides ? 160 + Double(chance.below(100)) : .infinity,
            durationMax: rides ? 500 + Double(chance.below(200)) : .infinity,
            objective: rides ? .distance : .fewestRoutes)
        return problem.unservable.isEmpty ? problem : small(count, rides: rides, seed: seed &+ 1_000_003)
    }
}
