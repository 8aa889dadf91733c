internal import Fleet
internal import Foundation
public import Observe
public import Outside
internal import Synchronization

/// Looks addresses up on a thread of its own: the service may take seconds, and the server's threads must not.
public final class AddressDesk: Sendable {
    enum Answer: Sendable {
        case found(Position)
        case nothing
        /// The service is down, resting, or has too much to do.
        case away
    }

    static let waitingMax = 32
    private static let timeoutMs = 2_500

    private struct Question: Sendable {
        let addresses: [String]
        let then: @Sendable ([Answer]) -> Void
    }

    private struct State {
        var waiting: [Question] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let trouble = OncePer(periodMs: 30_000)

    public init(_ settings: GeocoderSettings, conninfo: String, log: Log) {
        // The thread keeps this alive until it is stopped.
        let thread = Thread { [self] in
            run(settings, conninfo, log)
            ended.signal()
        }
        thread.name = "addresses"
        thread.start()
    }

    /// To be called once.
    func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
        ended.wait()
    }

    /// `then` is called once, on the thread of this or at once.
    func look(_ addresses: [String], then: @escaping @Sendable ([Answer]) -> Void) {
        let isTaken = state.withLock { state in
            guard state.waiting.count < AddressDesk.waitingMax, !state.isStopped else { return false }
            state.waiting.append(Question(addresses: addresses, then: then))
            return true
        }
        guard isTaken else { return then(addresses.map { _ in .away }) }
        wake.signal()
    }

    private func run(_ settings: GeocoderSettings, _ conninfo: String, _ log: Log) {
        let geocoder: Geocoder?
        do {
            geocoder = try Geocoder(settings, database: SharedDatabase(conninfo: conninfo))
        } catch {
            log.error("addresses cannot be looked up", ["error": "\(error)"])
            geocoder = nil
        }
        while true {
            wake.wait()
            let (question, isStopped) = state.withLock { state in
                (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.isStopped)
            }
            if let question {
                question.then(question.addresses.map { answer($0, geocoder, log) })
            } else if isStopped {
                return
            }
        }
    }

    private func answer(_ address: String, _ geocoder: Geocoder?, _ log: Log) -> Answer {
        guard let geocoder else { return .away }
        do throws(ServiceError) {
            let place = try geocoder.search(address, nowMs: Clock.nowMs(), timeoutMs: AddressDesk.timeoutMs)
            return place.map { .found($0.position) } ?? .nothing
        } catch {
            if error.reason == .noAnswer { return .nothing }
            if let more = trouble.pass(error.reason.rawValue) {
                log.warning("an address was not looked up", ["error": "\(error)", "repeated": "\(more)"])
            }
            return .away
        }
    }
}
