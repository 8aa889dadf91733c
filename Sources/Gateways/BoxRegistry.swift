internal import Fleet
internal import Foundation
internal import Observe
internal import Postgres
internal import Sockets
internal import Synchronization

/// A box that is to be polled, as it is registered.
struct BoxRegistration: Equatable, Sendable {
    let vehicle: VehicleID
    /// Nil: what the box says of itself.
    let model: String?
    let address: Address
    let port: UInt16
    /// Nil: plain TCP.
    let certificateSHA256: String?
}

/// Somebody waits for what this box has.
struct PollRequest: Hashable {
    let vehicle: VehicleID
    let id: String
}

/// Reads again and again from PostgreSQL which boxes to poll, on a thread of its own: the database and names that are
/// looked up may take their time. While the database is away the last list holds.
final class BoxRegistry: Sendable {
    private struct State {
        var boxes: [BoxRegistration]?
        var requests: [PollRequest] = []
        var isStopped = false
    }

    private let conninfo: String
    private let intervalS: Int64
    private let plain: [CIDR]
    private let log: Log
    private let refused: Gauge
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let lines = OncePer(periodMs: 3_600_000, keysMax: 10_000)

    init(conninfo: String, intervalS: Int64, plain: [CIDR], refused: Gauge, log: Log) {
        (self.conninfo, self.intervalS, self.plain, self.refused, self.log) = (conninfo, intervalS, plain, refused, log)
    }

    /// Requests to poll that are open, each once.
    func takeRequests() -> [PollRequest] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// The list that was read since the last call; nil: none.
    func take() -> [BoxRegistration]? {
        state.withLock { state in
            defer { state.boxes = nil }
            return state.boxes
        }
    }

    func start() {
        let thread = Thread { [self] in
            run()
            ended.signal()
        }
        thread.name = "registry"
        thread.start()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wake.signal()
        ended.wait()
    }

    private func run() {
        var (connection, isTroubled): (Connection?, Bool) = (nil, false)
        var addresses: [String: Address] = [:]
        var (seen, nextMs): (Set<PollRequest>, Int64) = ([], 0)
        while !state.withLock({ $0.isStopped }) {
            do {
                let session = try connection ?? Connection(conninfo: conninfo, applicationName: "drover-gateway")
                connection = session
                if Clock.steadyMs() >= nextMs {
                    let boxes = try read(session, &addresses)
                    state.withLock { $0.boxes = boxes }
                    nextMs = Clock.steadyMs() + intervalS * 1_000
                }
                let open = try requests(session)
                state.withLock { $0.requests += open.subtracting(seen) }
                seen = open
                if isTroubled { log.info("registrations are read again") }
                isTroubled = false
            } catch {
                connection = nil
                if !isTroubled {
                    log.error(
                        "registrations cannot be read; boxes known so far are polled on",
                        ["error": "\(error)", "setting": "postgres.gateway_url"])
                }
                isTroubled = true
            }
            // In trouble it is tried sooner: at its start a gateway polls nobody without the list.
            _ = wake.wait(timeout: .now() + .seconds(isTroubled ? 3 : BoxRegistry.requestsS))
        }
    }

    /// A person waits.
    private static let requestsS = 1

    private func requests(_ session: Connection) throws -> Set<PollRequest> {
        let rows = try session.query(
            "SELECT vehicle, request_id FROM drover.poll_request WHERE answered_at IS NULL AND expires_at > now() LIMIT 1000"
        )
        return Set(
            try rows.compactMap { row in
                try row.text(0).flatMap { VehicleID($0) }.map { PollRequest(vehicle: $0, id: try row.text(1)!) }
            })
    }

    private func read(_ session: Connection, _ addresses: inout [String: Address]) throws -> [BoxRegistration] {
        let rows = try session.query(
            """
            SELECT vehicle, model, host, port, certificate_sha256 FROM drover.registration
            WHERE kind = 'machine' AND host IS NOT NULL AND NOT is_disabled ORDER BY vehicle
            """)
        var (boxes, refusedCount): ([BoxRegistration], Int) = ([], 0)
        for row in rows {
            guard let vehicle = try row.text(0).flatMap({ VehicleID($0) }), let host = try row.text(2),
                let port = try row.int(3)
            else { continue }
            guard let address = resolve(host, vehicle, &addresses) else { continue }
            let box = BoxRegistration(
                vehicle: vehicle, model: try row.text(1), address: address, port: UInt16(port),
                certificateSHA256: try row.text(4))
            if isAllowed(box) { boxes.append(box) } else { refusedCount += 1 }
        }
        refused.set(refusedCount)
        return boxes
    }

    /// A name that cannot be looked up now keeps the address that it had.
    private func resolve(_ host: String, _ vehicle: VehicleID, _ addresses: inout [String: Address]) -> Address? {
        do throws(SocketError) {
            let address = try Address.resolve(host)
            addresses[host] = address
            return address
        } catch {
            if lines.pass("name " + vehicle.text) != nil {
                log.warning("a box's name is not found", ["vehicle": "\(vehicle)", "error": "\(error)"])
            }
            return addresses[host]
        }
    }

    private func isAllowed(_ box: BoxRegistration) -> Bool {
        if box.certificateSHA256 != nil || plain.contains(where: { $0.contains(box.address) }) { return true }
        if lines.pass("plain \(box.vehicle) \(box.address)") != nil {
            log.error(
                "plain TCP to this address is not allowed: the box is not polled. Pin its certificate"
                    + " (certificate_sha256 of its registration) or add its network to gateway.plain_tcp_cidrs",
                ["vehicle": "\(box.vehicle)", "address": "\(box.address)"])
        }
        return false
    }
}
