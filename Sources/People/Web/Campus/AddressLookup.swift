package import ExternalServices
internal import Fleet
package import Telemetry

/// Looks addresses up on a thread of its own: the service may take seconds.
package final class AddressLookup: Sendable {
    enum Answer: Sendable {
        case found(Position)
        case nothing
        /// The service is down, resting, or has too much to do.
        case away
    }

    static let waitingMax = 32
    private static let timeoutMs = 2_500

    private let log: Log
    private let trouble = Throttle(periodMs: 30_000)
    private let thread: SerialWorker<Geocoder?>

    package init(_ settings: GeocoderSettings, conninfo: String, log: Log) {
        self.log = log
        thread = SerialWorker("addresses", waitingMax: AddressLookup.waitingMax) {
            do {
                return try Geocoder(settings, database: SharedDatabase(conninfo: conninfo))
            } catch {
                log.error("addresses cannot be looked up", ["error": "\(error)"])
                return nil
            }
        }
    }

    /// Call once.
    func stop() { thread.stop() }

    /// `then` is called once, on the thread of this or at once.
    func look(_ addresses: [String], then: @escaping @Sendable ([Answer]) -> Void) {
        let isTaken = thread.enqueue { [self] geocoder in then(addresses.map { answer($0, geocoder) }) }
        if !isTaken { then(addresses.map { _ in .away }) }
    }

    private func answer(_ address: String, _ geocoder: Geocoder?) -> Answer {
        guard let geocoder else { return .away }
        do throws(ServiceError) {
            let place = try geocoder.search(address, nowMs: Clock.nowMs(), timeoutMs: AddressLookup.timeoutMs)
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
