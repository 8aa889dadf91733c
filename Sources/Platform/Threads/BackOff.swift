internal import Glibc
internal import Telemetry

/// The waiting time of a loop before it retries: doubled after each failure, reset after success.
public struct BackOff: Sendable {
    private let boundsMs: ClosedRange<Int64>
    /// How long the next wait is.
    public private(set) var ms: Int64

    public init(_ boundsMs: ClosedRange<Int64>) { (self.boundsMs, ms) = (boundsMs, boundsMs.lowerBound) }

    /// It went well.
    public mutating func reset() { ms = boundsMs.lowerBound }

    /// It failed again.
    public mutating func lengthen() { ms = min(ms * 2, boundsMs.upperBound) }

    /// Waits, and longer the next time.
    public mutating func wait(_ shouldStop: () -> Bool) {
        BackOff.pause(ms, shouldStop)
        lengthen()
    }

    /// How long something of its own waits after so many tries.
    public static func ms(afterTries tries: Int, within boundsMs: ClosedRange<Int64>) -> Int64 {
        min(boundsMs.lowerBound << Int64(min(tries, 20)), boundsMs.upperBound)
    }

    /// A wait that ends early when the loop is to stop. It asks often: who watches the loop sees that it turns.
    public static func pause(_ ms: Int64, _ shouldStop: () -> Bool) {
        let deadline = Clock.steadyMs() + ms
        while !shouldStop(), Clock.steadyMs() < deadline {
            // A loop that stops later than others waits on during shutdown.
            if StopFlag.wait(timeoutMs: Int(min(ms, 100))), !shouldStop() { usleep(20_000) }
        }
    }
}
