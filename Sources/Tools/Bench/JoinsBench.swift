internal import Basics
internal import Foundation
package import Kafka
internal import Synchronization

/// Members that join a group and leave it at once, many at a time, in processes of their own: whether a process ends by a signal, how many
/// clients had to be given up, and how long leaving takes. With a broker whose `group.initial.rebalance.delay.ms` is 0 joins are answered
/// while members leave.
package struct JoinsBench {
    private static let processes = 4
    private static let joinsOfOne = 100
    private static let topic = "bench-joins"

    private let joins: Int
    private let stand: BenchEnvironment

    package init(joins: Int, on stand: BenchEnvironment) {
        self.joins = joins
        self.stand = stand
    }

    package func run(brokers: String?) throws -> [Figure] { try stand.servers(brokers) { try measure($0.kafka) } }

    /// What one process did: the milliseconds that each leaving took.
    private struct Outcome: Codable {
        var leftMs: [Double]
        var givenUp: Int
    }

    /// Joins and leaves in this process, and prints what it took.
    package static func member(_ kafka: KafkaSettings, joins: Int, seed: UInt64) throws -> String {
        var random = SplitMix64(seed: seed)
        var outcome = Outcome(leftMs: [], givenUp: 0)
        for number in 0..<joins {
            var consumer: Consumer? = try Consumer(
                kafka, group: "bench-joins", instanceID: nil, sessionTimeoutMs: 6_000, batchMax: 10)
            try consumer?.subscribe([topic])
            // From before the group answers to after its first assignment.
            let end = ContinuousClock.now + .milliseconds(Int(random.next() % (number % 4 == 0 ? 400 : 60)))
            while ContinuousClock.now < end { _ = try consumer?.poll(timeoutMs: 5) }
            let began = ContinuousClock.now
            consumer = nil
            outcome.leftMs.append((ContinuousClock.now - began) / .milliseconds(1))
        }
        outcome.givenUp = Consumer.givenUp
        return String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self)
    }

    private func measure(_ kafka: KafkaSettings) throws -> [Figure] {
        do {
            try Admin(kafka).createTopics(
                [NewTopic(name: JoinsBench.topic, partitions: 8, replication: 1, config: [:])], timeoutMs: 30_000)
        } catch { stand.note("the topic is there already: \(error)") }
        let runs = (joins + JoinsBench.joinsOfOne - 1) / JoinsBench.joinsOfOne
        let next = Atomic<Int>(0)
        let ended = Mutex<(outcomes: [Outcome], aborts: Int, failures: [String])>(([], 0, []))
        let progress = stand.progress(runs)
        DispatchQueue.concurrentPerform(iterations: JoinsBench.processes) { _ in
            while true {
                let number = next.add(1, ordering: .relaxed).oldValue
                guard number < runs else { return }
                do {
                    let (outcome, signal) = try JoinsBench.start(kafka.brokers, seed: number)
                    ended.withLock {
                        if let outcome { $0.outcomes.append(outcome) }
                        if signal { $0.aborts += 1 }
                    }
                } catch { ended.withLock { $0.failures.append("\(error)") } }
            }
        }
        progress(nil)
        let all = ended.withLock { $0 }
        if let failure = all.failures.first { throw BenchFailure("bench joins: \(failure)") }
        let left = all.outcomes.flatMap(\.leftMs).sorted()
        func quantile(_ percent: Int) -> Double {
            left.isEmpty ? 0 : left[min(left.count - 1, left.count * percent / 100)]
        }
        return [
            Figure(name: "joins", value: Double(left.count), unit: "joins", baseline: nil),
            Figure(name: "joins_aborts", value: Double(all.aborts), unit: "processes", baseline: nil),
            Figure(
                name: "joins_given_up", value: Double(all.outcomes.map(\.givenUp).reduce(0, +)), unit: "clients",
                baseline: nil),
            Figure(name: "joins_leaving_p50", value: quantile(50), unit: "ms", baseline: nil),
            Figure(name: "joins_leaving_p99", value: quantile(99), unit: "ms", baseline: nil),
        ]
    }

    /// - Returns: what it printed, and whether a signal ended it.
    private static func start(_ brokers: String, seed: Int) throws -> (Outcome?, Bool) {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "bench", "joins", "--member", "\(seed)", "--joins", "\(joinsOfOne)", "--brokers", brokers,
        ]
        process.standardOutput = pipe
        try process.run()
        let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        if process.terminationReason == .uncaughtSignal { return (nil, true) }
        guard process.terminationStatus == 0 else {
            throw BenchFailure("a member ended with \(process.terminationStatus); what it wrote stands above")
        }
        return (try JSONDecoder().decode(Outcome.self, from: text), false)
    }
}
