internal import Foundation
package import Sockets
internal import Synchronization
internal import Threads

/// Resolves host names on threads of its own and caches the results, so that a name whose servers do not answer delays only its own
/// vehicle. A name that can no longer be resolved keeps its last address.
package final class NameLookup: Sendable {
    package typealias Resolve = @Sendable (String) throws(SocketError) -> IPAddress

    package struct Finding: Equatable, Sendable {
        /// Nil: not known yet, or never found.
        package var address: IPAddress?
        /// Why the last try failed.
        package var fault: SocketError?

        package init(address: IPAddress? = nil) { self.address = address }
    }

    private struct Name {
        var finding = Finding()
        var isUnderway = false
        /// By the steady clock; nil: never.
        var askedMs: Int64?
        var isDoubtful: Bool { finding.fault != nil }
    }

    private struct State {
        var names: [String: Name] = [:]
        var waiting: [String] = []
        /// Names that failed last time wait by themselves.
        var doubtful: [String] = []
        var doubtfulUnderway = 0
        var hasNews = false
        var isStopped = false
    }

    static let threads = 8
    /// The others are for names that have not failed.
    private static let doubtfulMax = 2

    private let refreshMs: Int64
    private let resolve: Resolve
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter refreshMs: an answer as old as this is asked for anew, and used meanwhile.
    package init(
        refreshMs: Int64, resolve: @escaping Resolve = { host throws(SocketError) in try IPAddress.resolve(host) }
    ) {
        self.refreshMs = refreshMs
        self.resolve = resolve
    }

    package func start() {
        for _ in 0..<NameLookup.threads {
            WorkerThread.start("names") { [self] in run() }
        }
    }

    /// Threads that wait for an answer end when it comes; nobody waits for them.
    package func stop() {
        state.withLock { $0.isStopped = true }
        for _ in 0..<NameLookup.threads { wake.signal() }
    }

    /// The present result for a host; never waits.
    package func finding(of host: String, nowMs: Int64) -> Finding {
        if let address = IPAddress(host) { return Finding(address: address) }
        let (finding, isNew) = state.withLock { state in
            var name = state.names[host] ?? Name()
            let isDue = !name.isUnderway && name.askedMs.map { nowMs - $0 >= refreshMs } ?? true
            if isDue {
                name.isUnderway = true
                name.askedMs = nowMs
                if name.isDoubtful { state.doubtful.append(host) } else { state.waiting.append(host) }
                state.names[host] = name
            }
            return (name.finding, isDue)
        }
        if isNew { wake.signal() }
        return finding
    }

    /// Whether an address has changed since the last call.
    package func consumeChange() -> Bool {
        state.withLock { state in
            defer { state.hasNews = false }
            return state.hasNews
        }
    }

    /// Names that nobody asks for any more need no memory.
    func keep(only hosts: Set<String>) {
        state.withLock { state in state.names = state.names.filter { hosts.contains($0.key) || $0.value.isUnderway } }
    }

    private func run() {
        while true {
            wake.wait()
            if state.withLock({ $0.isStopped }) { return }
            while let host = next() { resolveAndStore(host) }
        }
    }

    private func next() -> String? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            guard !state.doubtful.isEmpty, state.doubtfulUnderway < NameLookup.doubtfulMax else { return nil }
            state.doubtfulUnderway += 1
            return state.doubtful.removeFirst()
        }
    }

    private func resolveAndStore(_ host: String) {
        let found = Result { () throws(SocketError) in try resolve(host) }
        state.withLock { state in
            guard var name = state.names[host] else { return }
            if name.isDoubtful { state.doubtfulUnderway -= 1 }
            name.isUnderway = false
            switch found {
            case .success(let address):
                if name.finding.address != address { state.hasNews = true }
                name.finding = Finding(address: address)
            case .failure(let fault): name.finding.fault = fault
            }
            state.names[host] = name
        }
    }
}
