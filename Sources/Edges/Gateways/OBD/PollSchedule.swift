/// The polling plan of a car: a cycle of steps that starts over after the last one. The values of one step make one reading. It is written
/// as text, so that another rhythm is another setting.
package struct PollSchedule: Equatable, Sendable {
    /// From the beginning of one step to that of the next.
    package let stepMs: Int64
    /// The requests of each step, in their order. Of a request's parameters the first that the car supports is asked.
    let steps: [[[UInt8]]]

    /// Two requests a second, the limit of many adapters, in a cycle of ten seconds: speed and engine speed, air flow
    /// (MAF, or else manifold pressure and intake temperature, from which it is derived), module voltage, coolant.
    package static let standardText = "1000 ms: 0D 1-10; 0C 1,3,5,7,9; 10/0B 2,4; 10/0F 8; 42 6; 05 10"
    package static let standard = try! PollSchedule(standardText)

    private static let stepsMax = 3_600
    private static let requestsMax = 20

    /// `1000 ms: 0D 1-10; 10/0B 2,4`: the length of a step, then parameters with their steps, the first being 1.
    package init(_ text: String) throws(PollScheduleFault) {
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2 else {
            throw PollScheduleFault("must begin with the length of a step, like `1000 ms:`")
        }
        let length = halves[0].split(separator: " ")
        guard length.count == 2, length[1] == "ms", let stepMs = Int64(length[0]), (50...600_000).contains(stepMs)
        else {
            throw PollScheduleFault("`\(halves[0])`: a step is 50 to 600000 ms long, like `1000 ms`")
        }
        var steps: [[[UInt8]]] = []
        for row in halves[1].split(separator: ";") {
            let words = row.split(separator: " ")
            guard words.count == 2 else {
                throw PollScheduleFault("`\(row)` must be parameter and steps, like `0D 1-10`")
            }
            let choices = try words[0].split(separator: "/").map { name throws(PollScheduleFault) in
                guard name.utf8.count == 2, let pid = UInt8(name, radix: 16), pid % 0x20 != 0 else {
                    throw PollScheduleFault("`\(name)` is no parameter: two hexadecimal digits, like 0D")
                }
                return pid
            }
            for step in try PollSchedule.numbers(words[1]) {
                while steps.count < step { steps.append([]) }
                steps[step - 1].append(choices)
                guard steps[step - 1].count <= PollSchedule.requestsMax else {
                    throw PollScheduleFault("step \(step) has more than \(PollSchedule.requestsMax) requests")
                }
            }
        }
        guard !steps.isEmpty else { throw PollScheduleFault("asks for nothing") }
        self.stepMs = stepMs
        self.steps = steps
    }

    /// `1-10`, `2,4,8`.
    private static func numbers(_ text: Substring) throws(PollScheduleFault) -> [Int] {
        var numbers: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
            guard (1...2).contains(ends.count), let first = ends.first, let last = ends.last, first >= 1, first <= last,
                last <= stepsMax
            else { throw PollScheduleFault("`\(part)` is no step: 1 to \(stepsMax), like 1-10 or 2,4") }
            numbers += first...last
        }
        return numbers
    }

    /// For one car: each step's parameters.
    package func plan(supported: Set<UInt8>) -> [[UInt8]] {
        steps.map { requests in requests.compactMap { choices in choices.first { supported.contains($0) } } }
    }
}

/// The fault in a schedule's text, and the correct form.
package struct PollScheduleFault: Error, Equatable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
