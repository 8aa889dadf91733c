/// The message when a box or an adapter could not be reached: one sentence, after the same time, whatever the reason. Otherwise whoever
/// may register an address could use us to scan ports. Pure.
package struct Unanswered<Request: Hashable> {
    private let afterMs: Int64
    private var asked: [Request: Int64] = [:]
    private var failed: Set<Request> = []

    package init(afterMs: Int64) { self.afterMs = afterMs }

    package static func sentence(_ device: String) -> String {
        "No answer from the \(device) at that address. Is it on and in reach, its registration right and enabled, and its "
            + "network one that boxes and adapters may be in here? Whoever runs this installation finds the reason in "
            + "the gateway's log"
    }

    package mutating func asked(_ request: Request, nowMs: Int64) { asked[request] = nowMs }
    package mutating func answered(_ request: Request) { asked[request] = nil }

    /// The request failed: the answer is due after its time.
    package mutating func failed(_ request: Request) { failed.insert(request) }

    /// The answers that are due now.
    package mutating func due(nowMs: Int64) -> [Request] {
        guard !failed.isEmpty else { return [] }
        let due = failed.filter { nowMs - (asked[$0] ?? nowMs - afterMs) >= afterMs }
        for request in due { asked[request] = nil }
        failed.subtract(due)
        return Array(due)
    }
}
