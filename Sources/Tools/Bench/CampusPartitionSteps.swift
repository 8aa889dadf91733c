internal import Dispatch
internal import Fleet
internal import Pipeline

/// The cost of a record of a busy campus in the worker: the decision and all that is kept beside it, without the database.
package struct CampusPartitionSteps {
    private static let vehicles = 100
    private static let outstanding = 1_000
    private static let beginMs: Int64 = 1_790_000_000_000

    private var campuses = CampusPartition(clockMs: 0, decidesFrom: 0)
    private var offset: Int64 = 0

    /// The median of each kind of record.
    package static func medians() throws -> [(name: String, ms: Double)] {
        var bench = CampusPartitionSteps()
        try bench.fill()
        let name = "campus of \(outstanding) rides and \(vehicles) vehicles on the log"
        let kinds: [(String, Int, (Int) -> RideRecord.Kind)] = [
            ("position", 2_000, { .position(vehicle: "v\($0 % vehicles)", place: place(), speedMmPerS: 9_000) }),
            ("sign of life", 2_000, { .riderSign(rider: "p\($0 % outstanding)") }),
            ("pickup, no improvement", 100, { pickup(outstanding + $0) }),
        ]
        return try kinds.map { kind, count, make in
            var times: [Double] = []
            for number in 0..<count {
                let record = make(number)
                let began = DispatchTime.now().uptimeNanoseconds
                try bench.say(record)
                times.append(Double(DispatchTime.now().uptimeNanoseconds - began) / 1e6)
                _ = bench.campuses.drainChanges()
            }
            times.sort()
            return ("\(name): \(kind), p50", times[count / 2])
        }
    }

    private mutating func fill() throws {
        var ground = CampusSettings(
            name: "The square",
            boundary: [(0, 0), (300_000, 0), (300_000, 300_000), (0, 300_000)].map {
                Position(latitude: 389_000_000 + $0.0, longitude: -770_000_000 + $0.1)
            })
        ground.numbers = [.iterations: 0]
        try say(.campus(ground))
        for v in 0..<CampusPartitionSteps.vehicles {
            try say(
                .inService(
                    .init(
                        vehicle: "v\(v)", driver: "d\(v)", person: .init(name: "Driver", photo: nil), capacity: 6,
                        place: CampusPartitionSteps.place())))
        }
        for number in 0..<CampusPartitionSteps.outstanding { try say(CampusPartitionSteps.pickup(number)) }
        _ = campuses.drainChanges()
    }

    private mutating func say(_ kind: RideRecord.Kind) throws {
        let ts = CampusPartitionSteps.beginMs + offset
        try campuses.accept(
            RideRecord(id: "x\(offset)", campus: "c", ts: ts, by: "bench", kind: kind), offset: offset, atMs: ts)
        offset += 1
    }

    private static func place() -> Position {
        Position(
            latitude: 389_000_000 + Int32.random(in: 0..<300_000),
            longitude: -770_000_000 + Int32.random(in: 0..<300_000))
    }

    private static func pickup(_ number: Int) -> RideRecord.Kind {
        .pickup(
            .init(request: "request-\(number)", rider: "p\(number)", passengers: 1, from: place(), to: place()))
    }
}
