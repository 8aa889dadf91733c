import Fleet
import Foundation
import Itineraries
import Reports
import Wire

/// `drover plan FILE`: the best itineraries for requests that are all known, no server needed.
extension Command {
    static let plan = Command(
        name: "plan", operands: "FILE… [options]",
        summary:
            "Plans itineraries for requests that are all known: cases of one vehicle, of one more ride, of a whole fleet.",
        options: [
            .init(
                "--budget", "S", "whole fleets: seconds of processor time to improve the plan, like 20s (default 5s)"),
            .init("--iterations", "N", "rounds instead of time: the same seed then gives the same plan on any machine"),
            .init("--seed", "N", "of the improvement (default 1)"),
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
                let bytes = try Files.read(path)
                // The one place where a file says what it is.
                switch PlanFile(bytes) {
                case .cases:
                    let answers = try PlanCases.read(bytes).map { try $0.solve(effort) }
                    Out.result(isJSON ? answers.map { $0.json.rendered() + "\n" }.joined() : PlanAnswer.table(answers))
                case .unknown:
                    throw Failure("is not a file of cases (JSON with \"cases\"). Check that it is the right file")
                }
            } catch let error as UsageError {
                throw error
            } catch {
                Out.note("\(path): \(error)")
                failed = true
            }
        }
        return failed ? .failed : .done
    }
}

/// What a file is, by its first character that is not a blank.
enum PlanFile {
    case cases, unknown

    init(_ bytes: [UInt8]) {
        let first = bytes.first { !" \t\r\n".utf8.contains($0) }
        self = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .cases : .unknown
    }
}

/// How long a plan is improved.
struct PlanEffort: Sendable {
    enum Limit: Sendable { case seconds(Double), rounds(Int) }
    let limit: Limit
    let seed: UInt64

    init(_ arguments: Arguments) throws {
        seed = UInt64(try arguments.integer("--seed", in: 0...Int64.max) ?? 1)
        if let rounds = try arguments.integer("--iterations", in: 0...1_000_000_000) {
            guard !arguments.has("--budget") else { throw UsageError("give --budget or --iterations, not both") }
            limit = .rounds(Int(rounds))
            return
        }
        let text = arguments.text("--budget") ?? "5s"
        guard let seconds = Double(text.hasSuffix("s") ? String(text.dropLast()) : text),
            (0.001...86_400).contains(seconds)
        else { throw UsageError("--budget \(text): must be seconds, like 20s, 0.001s to 86400s") }
        limit = .seconds(seconds)
    }

    private static let slice = 200

    /// Improves in slices until the effort is spent.
    func spend(on plan: FleetPlan) {
        switch limit {
        case .rounds(let rounds):
            plan.improve(rounds: rounds, from: 0, to: 1)
        case .seconds(let seconds):
            let start = ProcessorTime.seconds()
            var spent = 0.0
            while spent < 1 {
                // Small slices of a short budget: the clock must be looked at often enough.
                plan.improve(rounds: PlanEffort.slice, from: spent, to: min(spent + 1e-6, 0.999_999))
                spent = (ProcessorTime.seconds() - start) / seconds
            }
            plan.improve(rounds: 0, from: 1, to: 1)
        }
    }
}

enum ProcessorTime {
    /// Of this thread since it began.
    static func seconds() -> Double {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
