import App
import Codecs
import Fleet
import Foundation
import Reports
import Routing

internal import Formats
import Foundation
import Reports
import Routing

/// `drover plan FILE`: the best itineraries for requests that are all known, no server needed.
extension Command {
    static let plan = Command(
        name: "plan", operands: "FILE… [options]",
        summary:
            "Plans for requests that are all known: a vehicle, one more ride, a fleet.",
        options: [
            .init("--budget", "TIME", "how long to search: 500ms, 20s, 5m (default 5s)"),
            .init(
                "--iterations", "N",
                "rounds instead of time: the same seed then gives the same plan on any machine; 0: the requests "
                    + "put in one after the other, and nothing improved"),
            .init("--seed", "N", "what chance begins with (default 1)"),
            .init("--clock", "C", "what the budget counts: wall or processor (default wall)"),
            .init("--format", "F", "table or json: a line a case (default table)"),
        ],
        example: "drover plan cases.json --budget 20s --seed 7 --format json",
        run: runPlan)

    private static func runPlan(_ arguments: Arguments) throws -> ExitCode {
        let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
        let effort = try PlanEffort(arguments)
        var failed = false
        for path in try arguments.files() {
            do {
                let answers = try PlanCases.read(try Files.read(path)).map { try $0.solve(effort) }
                Out.result(isJSON ? answers.map { $0.json.rendered() + "\n" }.joined() : PlanAnswer.table(answers))
            } catch {
                Out.note("\(path): \(error)")
                failed = true
            }
        }
        return failed ? .failed : .done
    }
}

/// How long a plan is improved.
struct PlanEffort: Sendable {
    /// Nil: as long as is usual for what is planned.
    private let budgetSeconds: Double?
    private let iterations: Int?
    private let clock: PlanClock
    let seed: UInt64

    init(_ arguments: Arguments) throws {
        seed = UInt64(try arguments.integer("--seed", in: 0...Int64.max) ?? 1)
        let clocks = Dictionary(uniqueKeysWithValues: PlanClock.allCases.map { ($0.rawValue, $0) })
        clock = try arguments.one("--clock", of: clocks, standard: "wall")
        iterations = try arguments.integer("--iterations", in: 0...1_000_000_000).map { Int($0) }
        guard iterations == nil || !arguments.has("--budget") else {
            throw UsageError("give --budget or --iterations, not both")
        }
        budgetSeconds = try PlanEffort.budget(arguments)
    }

    /// Seconds; a number alone is in seconds.
    private static func budget(_ arguments: Arguments) throws -> Double? {
        guard let text = arguments.text("--budget") else { return nil }
        let digits = text.prefix { $0.isNumber || $0 == "." }
        let units: [Substring: Double] = ["": 1, "s": 1, "ms": 0.001, "m": 60]
        guard let value = Double(digits), let unit = units[text.dropFirst(digits.count)],
            (0.001...86_400).contains(value * unit)
        else { throw UsageError("--budget \(text): must be a time like 500ms, 20s or 5m, 1ms to 1440m") }
        return value * unit
    }

    private static let slice = 200

    /// Improves in slices until the effort is spent.
    func spend(on plan: FleetPlan) {
        if let iterations { return plan.improve(rounds: iterations, from: 0, to: 1) }
        let (start, seconds) = (clock.seconds, budgetSeconds ?? 5)
        var spent = 0.0
        while spent < 1 {
            // Small slices of a short budget: the clock must be looked at often enough.
            plan.improve(rounds: PlanEffort.slice, from: spent, to: min(spent + 1e-6, 0.999_999))
            spent = (clock.seconds - start) / seconds
        }
        plan.improve(rounds: 0, from: 1, to: 1)
    }
}

/// The clock that a budget is counted by: time that passes, or time that this process gets.
enum PlanClock: String, CaseIterable, Sendable {
    case wall, processor

    var seconds: Double {
        var time = timespec()
        _ = unsafe clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
