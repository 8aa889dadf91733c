internal import Foundation
public import Telemetry

/// A question to an external server, asked on a thread of its own and only while somebody wants to know: at most once a second, over a
/// connection that the thread keeps. Callers wait for a moment and no longer, for the server may not answer at all.
public final class BackgroundProbe: @unchecked Sendable {
    // Everything that changes is under the condition's lock.
    public typealias Asker = () throws -> String

    private static let freshMs: Int64 = 1_000
    private static let waitS = 0.9
    /// An answer that is older says nothing any more.
    private static let keptMs: Int64 = 10_000

    private let name: String
    private let make: @Sendable () -> Asker
    private let condition = NSCondition()
    private var last: (finding: Health.Finding, atMs: Int64)?
    private var askedMs: Int64?
    private var hasThread = false
    private var isStopped = false

    /// - Parameters:
    ///   - name: of the thread; at most 15 bytes.
    ///   - make: makes, on the thread, what asks: it answers in words for people or throws. The error's own words are shown.
    public init(_ name: String, _ make: @escaping @Sendable () -> Asker) { (self.name, self.make) = (name, make) }

    public func finding() -> Health.Finding {
        condition.lock()
        defer { condition.unlock() }
        let beganMs = Clock.steadyMs()
        if let last, beganMs - last.atMs < BackgroundProbe.freshMs { return last.finding }
        if askedMs == nil { askedMs = beganMs }
        if !hasThread {
            hasThread = true
            // It keeps this alive until it is stopped.
            WorkerThread.start(name) { [self] in run() }
        }
        condition.broadcast()
        let deadline = Date(timeIntervalSinceNow: BackgroundProbe.waitS)
        while askedMs != nil, condition.wait(until: deadline) {}
        let nowMs = Clock.steadyMs()
        if let last, nowMs - last.atMs < BackgroundProbe.keptMs { return last.finding }
        return .ill("has not answered for \((nowMs - (askedMs ?? beganMs)) / 1_000) s")
    }

    /// The thread ends after what it is asking.
    public func stop() {
        condition.lock()
        isStopped = true
        condition.broadcast()
        condition.unlock()
    }

    private func run() {
        let ask = make()
        condition.lock()
        defer { condition.unlock() }
        while !isStopped {
            guard askedMs != nil else {
                condition.wait()
                continue
            }
            condition.unlock()
            let finding: Health.Finding
            do { finding = .well(try ask()) } catch { finding = .ill("\(error)") }
            condition.lock()
            last = (finding, Clock.steadyMs())
            askedMs = nil
            condition.broadcast()
        }
    }
}
