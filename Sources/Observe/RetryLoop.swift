/// Work that never gives up: what fails is begun again after a wait that grows. Each kind of trouble is told once, not at each
/// try, and so is its end.
public final class RetryLoop {
    private let cannot, again: String
    private let log: Log
    private var backOff: BackOff
    private var trouble: String?

    /// - Parameters:
    ///   - cannot: what does not work now, and what becomes of what waits.
    ///   - again: said when it works again.
    public init(_ boundsMs: ClosedRange<Int64>, cannot: String, again: String, log: Log) {
        (self.cannot, self.again, self.log) = (cannot, again, log)
        backOff = BackOff(boundsMs)
    }

    /// Returns when `shouldStop` says so.
    /// - Parameters:
    ///   - serve: works until `shouldStop` says so or something fails; says `isWell` when something went well.
    ///   - kind: of which kind of trouble an error is.
    public func run(shouldStop: () -> Bool, kind: (any Error) -> String, serve: () throws -> Void) {
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
        if trouble == kind {
            log.debug("still in trouble", ["of": "\(kind)", "error": "\(error)"])
        } else {
            trouble = kind
            log.error(cannot, ["of": "\(kind)", "error": "\(error)"])
        }
        backOff.wait(shouldStop)
    }

    /// The next wait is short again.
    public func isWell() {
        backOff.reset()
        isOver()
    }

    /// What was in trouble works, though nothing was done yet: the next wait stays as long as it is.
    public func isOver() {
        guard let trouble else { return }
        self.trouble = nil
        log.info(again, ["after_trouble_with": "\(trouble)"])
    }
}
