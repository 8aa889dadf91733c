public import Telemetry

/// Logs a failure once per cause, not once per attempt, and logs its end.
public struct FailureLog: Sendable {
    private let cannot, again: String
    private let level: Log.Level
    private let log: Log
    private var trouble: String?

    /// - Parameters:
    ///   - cannot: what does not work now, and what becomes of what waits.
    ///   - again: said when it works again.
    ///   - log: carries what else is to be said of it.
    public init(cannot: String, again: String, level: Log.Level = .error, log: Log) {
        self.cannot = cannot
        self.again = again
        self.level = level
        self.log = log
    }

    public var isInTrouble: Bool { trouble != nil }

    /// - Parameter kind: of which kind the trouble is; empty: there is one only.
    public mutating func failed(_ error: String, of kind: String = "") {
        let what: Log.Fields = kind.isEmpty ? ["error": "\(error)"] : ["of": "\(kind)", "error": "\(error)"]
        if trouble == kind {
            log.debug("still in trouble", what)
        } else {
            trouble = kind
            log.log(level, cannot, what)
        }
    }

    /// The operation works again.
    public mutating func isOver() {
        guard let trouble else { return }
        self.trouble = nil
        log.info(again, trouble.isEmpty ? [:] : ["after_trouble_with": "\(trouble)"])
    }
}

/// Work that never gives up: what fails is begun again after a wait that grows.
public final class RetryLoop {
    private var backOff: BackOff
    private var trouble: FailureLog

    /// - Parameters:
    ///   - cannot: what does not work now, and what becomes of what waits.
    ///   - again: said when it works again.
    public init(_ boundsMs: ClosedRange<Int64>, cannot: String, again: String, log: Log) {
        backOff = BackOff(boundsMs)
        trouble = FailureLog(cannot: cannot, again: again, log: log)
    }

    /// Returns when `shouldStop` says so.
    /// - Parameters:
    ///   - serve: works until `shouldStop` says so or something fails; says `isWell` when something went well.
    ///   - kind: of which kind of trouble an error is.
    public func run(shouldStop: () -> Bool, kind: (any Error) -> String = { _ in "" }, serve: () throws -> Void) {
        while !shouldStop() {
            do {
                try serve()
            } catch {
                failed(kind(error), "\(error)", shouldStop)
            }
        }
    }

    /// Tells of it and waits.
    public func failed(_ kind: String, _ error: String, _ shouldStop: () -> Bool) {
        trouble.failed(error, of: kind)
        backOff.wait(shouldStop)
    }

    /// The next wait is short again.
    public func isWell() {
        backOff.reset()
        trouble.isOver()
    }

    /// The operation works again, but nothing was done yet: the next wait stays as long as before.
    public func isOver() { trouble.isOver() }
}
