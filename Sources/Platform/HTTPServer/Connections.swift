internal import CMicrohttpd
internal import Glibc
internal import Synchronization

/// Every open connection's phase and deadline. The C library only notices silence; a client that sends or reads a byte now and then would
/// stay for ever, so connections are cut when a phase takes too long.
final class Connections: Sendable {
    enum Phase { case resting, receiving, handling, sending, streaming }

    private struct Entry {
        let descriptor: Int32
        let address: String
        var phase: Phase
        var deadlineMs: Int64
        /// However much arrives meanwhile.
        var lastMs = Int64.max
        /// Bytes of the socket when it became idle; nil when the bytes since then are known.
        var restedBytes: UInt64?
    }

    /// Address of the library's connection object: one for each as long as it is open.
    typealias ID = UInt

    private let entries = Mutex<[ID: Entry]>([:])
    private let limits: Limits

    init(_ limits: Limits) { self.limits = limits }

    func opened(_ id: ID, descriptor: Int32, address: String) {
        let deadline = deadlineMs(.resting)
        entries.withLock {
            $0[id] = Entry(
                descriptor: descriptor, address: address, phase: .resting, deadlineMs: deadline, restedBytes: 0)
        }
    }

    /// Called before the library closes the descriptor, so that `cutLate` never meets a number in its second life.
    func closed(_ id: ID) {
        entries.withLock { _ = $0.removeValue(forKey: id) }
    }

    /// - Parameter moreMs: than this phase takes at most.
    func entered(_ phase: Phase, _ id: ID, moreMs: Int64 = 0) {
        let deadline = deadlineMs(phase) + moreMs
        let last = Connections.nowMs() + Int64(max(limits.receiveMs, limits.receiveInAllMs))
        entries.withLock { entries in
            guard var entry = entries[id] else { return }
            entry.phase = phase
            entry.deadlineMs = deadline
            entry.lastMs = last
            entry.restedBytes = phase == .resting ? drover_bytes_received(entry.descriptor) : nil
            entries[id] = entry
        }
    }

    /// Extends the deadline by the bytes of a body: a steady sender on a thin line has time as long as its body is accepted. Bytes that
    /// came fast buy no later time: a sender of megabytes that then trickles is cut like one that trickles from the start.
    func received(_ count: Int, _ id: ID) {
        let rested = Connections.nowMs() + Int64(limits.receiveMs)
        entries.withLock { entries in
            // One that was cut has no deadline any more.
            guard let entry = entries[id], entry.deadlineMs < .max else { return }
            let earned = entry.deadlineMs + Connections.patienceMs(count)
            entries[id]?.deadlineMs = min(earned, rested, entry.lastMs)
        }
    }

    /// How long this many bytes take on the slowest accepted line, 16 kB/s.
    static func patienceMs(_ bytes: Int) -> Int64 { Int64(bytes) / 16 }

    func address(_ id: ID) -> String { entries.withLock { $0[id]?.address } ?? "?" }

    /// Requests being received, handled or answered.
    var inFlight: Int { entries.withLock { $0.values.count { $0.phase != .resting } } }

    /// The library sees the end of each stream and closes in its own time.
    func cutAll() {
        entries.withLock { entries in
            for (id, entry) in entries {
                _ = shutdown(entry.descriptor, Int32(SHUT_RDWR))
                entries[id]?.deadlineMs = .max
            }
        }
    }

    func cutLate() {
        let now = Connections.nowMs()
        let received = now + Int64(limits.receiveMs)
        entries.withLock { entries in
            // The library tells of a request when its first line is here: when that began is seen by what has arrived.
            for (id, entry) in entries where entry.deadlineMs < .max {
                guard let rested = entry.restedBytes, drover_bytes_received(entry.descriptor) > rested else { continue }
                (entries[id]!.deadlineMs, entries[id]!.restedBytes) = (received, nil)
            }
            for (id, entry) in entries where entry.deadlineMs <= now {
                // The library sees the end of the stream and closes in its own time.
                _ = shutdown(entry.descriptor, Int32(SHUT_RDWR))
                entries[id]?.deadlineMs = .max
            }
        }
    }

    private func deadlineMs(_ phase: Phase) -> Int64 {
        let now = Connections.nowMs()
        return switch phase {
        // The beginning of a request line that arrived together with the previous request is not visible, so idle time is bounded as well.
        case .resting: now + Int64(max(limits.idleMs, limits.receiveMs))
        case .receiving: now + Int64(limits.receiveMs)
        // A client that does not read a stream is cut by the library, which notices silence, or when too much waits.
        case .handling, .streaming: .max
        case .sending: now + Int64(limits.sendMs)
        }
    }

    static func nowMs() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
