import App
import Basics
import Bench
import Codecs
import Fleet
import Formats
import Reports

/// `drover bench engine`: how fast records go through the whole worker, beside a bare consumer in the same run.
/// `drover bench load`: how soon an alert can be read under a steady load, and what memory does.
/// `drover bench accuracy`: how far trips are off what their recordings say by other means.
/// `drover bench dispatch`: how soon and how well rides are given to vehicles.
/// `drover bench campus`: how long a rider waits for the committed decision, over mutual TLS.
/// `drover bench sightings`: how fast sightings are loaded, and what analysts ask of them.
/// `drover bench scale`: what a vehicle costs, for fleets of growing size.
/// `drover bench relay`: how long a record takes from a commit to its topic.
/// `drover bench joins`: members that join and leave a group at once: whether a process ends by a signal.
/// `drover bench backlog`: how long a machine's late readings take, and what the others feel of it.
/// `drover bench peers`: ours and other engines on one job.
extension Command {
    static let bench = Command(
        name: "bench",
        operands:
            "engine|load|backlog|scale|relay|joins|dispatch|campus|sightings|peers|accuracy [FILE…]|all [options]",
        summary: "Measures on servers of its own in a temporary folder. Build in release first.",
        options: [
            .init("--records", "N", "engine, sightings: how many records (default 1000000); backlog: (default 100000)"),
            .init(
                "--vehicles", "N", "engine: of how many cars, at 1 Hz (default 1000); scale: (default 1000 to 1000000)"),
            .init("--late", "SHARE", "scale: percent of the records that come after all others (default 1)"),
            .init("--bad", "SHARE", "scale: percent that nobody can decode (default 0.1)"),
            .init(
                "--brokers", "HOST:PORT",
                "engine, load, joins: a broker without drover topics (default: the embedded one)"),
            .init(
                "--rate", "N", "load: records a second, and as many cars (default 50000); campus: requests (default 50)"
            ),
            .init("--backlog-rate", "N", "backlog: its readings a second (default 5000)"),
            .init("--order", "O", "backlog: in_order, newest_first or scattered (default: all three)"),
            .init("--seconds", "S", "load: for how long (default 30); campus: (default 60)"),
            .init("--commits", "N", "relay: how many commits, one by one (default 1000)"),
            .init("--joins", "N", "joins: how many (default 2000)"),
            .init("--member", "SEED", "joins: in this process only, which prints how long leaving took"),
            .init(
                "--stream", "FILE",
                "dispatch: a recorded stream of events (default: seeded ones of 5, 20, 100 vehicles)"),
            .init("--cases", "FILE", "dispatch: only exact itineraries, of the cases of one vehicle in this file"),
            .init("--streams", "N", "dispatch: how many seeds (default 10; 5 of a recorded stream)"),
            .init("--warm-up", "N", "dispatch: requests of a recorded stream before it is measured (default 0)"),
            .init("--iterations", "N", "dispatch: rounds of improvement after each event (default 100)"),
            .init("--gap", "S", "accuracy: hole limit in seconds (default 15)"),
            .init("--format", "F", "table or json (default table)"),
            .init("--save", "FILE", "also write the figures to a file, with the machine and its load (JSON)"),
        ] + SettingsSource.options,
        example: "drover bench engine --vehicles 100000 --format json",
        run: { arguments in
            guard let name = arguments.operands.first else { throw UsageError("name a bench, or all") }
            let format = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            if name == "joins", let seed = try arguments.integer("--member", in: 0...1_000_000_000) {
                let settings = try SettingsSource.load(
                    arguments, overrides: SettingsSource.ownBroker(arguments.text("--brokers") ?? "127.0.0.1:9092"))
                Out.result(
                    try JoinsBench.member(
                        settings.kafka(clientID: "drover-bench"), joins: joins(arguments), seed: UInt64(seed)))
                return .done
            }
            let before = BenchFile.load
            let stand = BenchEnvironment(arguments)
            let benches = try benches(arguments, on: stand)
            guard name == "all" || benches.contains(where: { $0.name == name }),
                arguments.operands.count == 1 || name == "accuracy"
            else {
                throw UsageError("name one bench: \(benches.map(\.name).joined(separator: ", ")) or all")
            }
            var parts: [(name: String, figures: [Figure])] = []
            for bench in benches where name == "all" || bench.name == name {
                if name == "all", bench.name == "peers", let lacks = PeersBench(on: stand).lacks {
                    Out.note("peers are left out: \(lacks)")
                    continue
                }
                parts.append((bench.name, try bench.run()))
                // What has been measured is not lost when the next one fails.
                if let path = arguments.text("--save") { try BenchFile.write(parts, loadBefore: before, to: path) }
            }
            let figures = parts.flatMap(\.figures)
            Out.result(
                format ? JSONValue.list(figures.map(\.json)).rendered(indent: true) : Figure.table(figures).text())
            return .done
        })
    private typealias Bench = (name: String, run: () throws -> [Figure])

    /// In the order of `drover bench all`.
    private static func benches(_ arguments: Arguments, on stand: BenchEnvironment) throws -> [Bench] {
        let records = Int(try arguments.integer("--records", in: 1_000...50_000_000) ?? 1_000_000)
        let vehicles = Int(try arguments.integer("--vehicles", in: 1...5_000_000) ?? 1_000)
        let commits = Int(try arguments.integer("--commits", in: 10...1_000_000) ?? 1_000)
        let brokers = arguments.text("--brokers")
        return [
            ("sightings", { try SightingsBench(records: records, on: stand).run() }),
            ("load", { try loadBench(arguments, on: stand).run(brokers: brokers) }),
            ("engine", { try EngineBench(records: records, vehicles: vehicles, on: stand).run(brokers: brokers) }),
            ("backlog", { try backlogBench(arguments, records: records, on: stand).run() }),
            ("scale", { try scaleBench(arguments, vehicles: vehicles, on: stand).run() }),
            ("relay", { try RelayBench(commits: commits, on: stand).run() }),
            ("joins", { try JoinsBench(joins: try joins(arguments), on: stand).run(brokers: brokers) }),
            ("dispatch", { try dispatchBench(arguments, on: stand) }),
            ("campus", { try campusBench(arguments, on: stand) }),
            ("peers", { try PeersBench(on: stand).run() }),
            (
                "accuracy",
                {
                    try AccuracyBench(gapS: try arguments.integer("--gap", in: 1...600), on: stand)
                        .run(Array(arguments.operands.dropFirst()))
                }
            ),
        ]
    }

    private static func joins(_ arguments: Arguments) throws -> Int {
        Int(try arguments.integer("--joins", in: 1...1_000_000) ?? 2_000)
    }

    private static func loadBench(_ arguments: Arguments, on stand: BenchEnvironment) throws -> LoadBench {
        LoadBench(
            rate: Int(try arguments.integer("--rate", in: 100...1_000_000) ?? 50_000),
            seconds: Int(try arguments.integer("--seconds", in: 5...86_400) ?? 30), on: stand)
    }

    private static func backlogBench(
        _ arguments: Arguments, records: Int, on stand: BenchEnvironment
    ) throws -> BacklogBench {
        let known = Dictionary(uniqueKeysWithValues: BacklogBench.Order.allCases.map { ($0.rawValue, [$0]) })
        let order = arguments.text("--order")
        guard let orders = order.map({ known[$0] }) ?? BacklogBench.Order.allCases else {
            throw UsageError(
                "--order \(order ?? ""): unknown. It is one of "
                    + BacklogBench.Order.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return BacklogBench(
            count: arguments.text("--records") == nil ? 100_000 : records,
            rate: Int(try arguments.integer("--backlog-rate", in: 100...100_000) ?? 5_000), orders: orders, on: stand)
    }

    private static func scaleBench(_ arguments: Arguments, vehicles: Int, on stand: BenchEnvironment) throws
        -> ScaleBench
    {
        ScaleBench(
            sizes: arguments.text("--vehicles") == nil ? [1_000, 10_000, 100_000, 1_000_000] : [vehicles],
            lateThousandths: try thousandths(arguments, "--late") ?? 10,
            badThousandths: try thousandths(arguments, "--bad") ?? 1, on: stand)
    }

    private static func dispatchBench(_ arguments: Arguments, on stand: BenchEnvironment) throws -> [Figure] {
        if let path = arguments.text("--cases") {
            let cases = try PlanCases.read(try Files.read(path)).filter { $0.kind == .tour }
            return DispatchBench.exact(try cases.map { try $0.parts() })
        }
        return try DispatchBench(
            iterations: try arguments.integer("--iterations", in: 0...1_000_000).map { Int($0) },
            streams: try arguments.integer("--streams", in: 1...1_000).map { UInt64($0) },
            warmUp: Int(try arguments.integer("--warm-up", in: 0...1_000_000) ?? 0), on: stand
        ).run(arguments.texts("--stream"))
    }

    private static func campusBench(_ arguments: Arguments, on stand: BenchEnvironment) throws -> [Figure] {
        let bench = CampusBench(
            rate: Int(try arguments.integer("--rate", in: 1...1_000) ?? 50),
            seconds: Int(try arguments.integer("--seconds", in: 5...3_600) ?? 60), on: stand)
        return try CampusBenchServers.with(arguments) { try bench.run($0, owner: $1, address: $2, folder: $3) }
    }
}

/// A share that was typed in percent.
private func thousandths(_ arguments: Arguments, _ option: String) throws -> Int? {
    guard let text = arguments.text(option) else { return nil }
    guard let share = Decimal.scaled(text.utf8, decimals: 1), (0...1_000).contains(share) else {
        throw UsageError("\(option) must be a share in percent from 0 to 100, like 2.5")
    }
    return Int(share)
}
