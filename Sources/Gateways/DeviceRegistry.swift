internal import Fleet
internal import Foundation
internal import Observe
internal import Postgres
internal import Sockets
internal import Synchronization

/// A box or an adapter that is to be polled, as it is registered.
struct DeviceRegistration: Equatable, Sendable {
    enum Kind: String, Sendable { case machine, car }

    let kind: Kind
    let vehicle: VehicleID
    /// Nil: what a box says of itself; of a car, unknown.
    let model: String?
    let address: Address
    let port: UInt16
    /// Nil: plain TCP.
    let certificateSHA256: String?
    /// What a car supports, as it said last; nil: never, or a machine.
    var supported: [String]?
    /// Trouble codes that the latest scan found; nil: never scanned.
    var codes: Int?

    /// Reached in the same way.
    func isAtPlace(of other: DeviceRegistration) -> Bool {
        address == other.address && port == other.port && certificateSHA256 == other.certificateSHA256
    }
}

/// Somebody waits for what this box has, or for this car's health.
struct DeviceRequest: Hashable {
    let kind: DeviceRegistration.Kind
    let vehicle: VehicleID
    let id: String
}

/// Reads again and again from PostgreSQL which boxes and adapters to poll, on a thread of its own: the database may
/// take its time. While it is away the last list holds.
final class DeviceRegistry: Sendable {
    private struct State {
        var devices: [DeviceRegistration.Kind: [DeviceRegistration]] = [:]
        var requests: [DeviceRegistration.Kind: [DeviceRequest]] = [:]
        var isStopped = false
    }

    /// A row of the table, its host not yet looked up.
    private struct Row {
        let kind: DeviceRegistration.Kind
        let vehicle: VehicleID
        let model: String?
        let host: String
        let port: UInt16
        let certificateSHA256: String?
        let supported: [String]?
        let codes: Int?
    }

    private let conninfo: String
    private let intervalS: Int64
    private let plain: [CIDR]
    private let reach: Reach
    private let log: Log
    private let loop: Loop
    private let refused: Gauge
    private let names: NameLookup
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let lines = OncePer(periodMs: 3_600_000, keysMax: 10_000)

    init(
        conninfo: String, intervalS: Int64, plain: [CIDR], reach: Reach, refused: Gauge, loop: Loop, log: Log
    ) {
        (self.loop, self.reach) = (loop, reach)
        (self.conninfo, self.intervalS, self.plain, self.refused, self.log) = (conninfo, intervalS, plain, refused, log)
        names = NameLookup(refreshMs: intervalS * 1_000)
    }

    /// Requests that are open, each once.
    func takeRequests(of kind: DeviceRegistration.Kind) -> [DeviceRequest] {
        state.withLock { $0.requests.removeValue(forKey: kind) ?? [] }
    }

    /// The list that was read since the last call; nil: none.
    func take(_ kind: DeviceRegistration.Kind) -> [DeviceRegistration]? {
        state.withLock { $0.devices.removeValue(forKey: kind) }
    }

    func start() {
        names.start()
        Threads.start("registry") { [self] in
            run()
            loop.ended()
            ended.signal()
        }
    }

    func stop() {
        names.stop()
        state.withLock { $0.isStopped = true }
        wake.signal()
        ended.wait()
    }

    private func run() {
        var (connection, isTroubled): (Connection?, Bool) = (nil, false)
        var (rows, sought): ([Row], Set<VehicleID>) = ([], [])
        var (seen, nextMs): (Set<DeviceRequest>, Int64) = ([], 0)
        while !loop.asking({ state.withLock { $0.isStopped } }) {
            do {
                let session =
                    try connection ?? Connection.ofService(conninfo: conninfo, applicationName: "drover-gateway")
                connection = session
                let isDue = Clock.steadyMs() >= nextMs
                if isDue {
                    rows = try read(session)
                    names.keep(only: Set(rows.map(\.host)))
                    nextMs = Clock.steadyMs() + intervalS * 1_000
                }
                // A name that was found meanwhile does not wait for the next list.
                if names.takeNews() || isDue || !sought.isEmpty { sought = publish(rows) }
                // Whoever asks for a vehicle whose name is still looked up waits for it.
                let open = try requests(session).filter { !sought.contains($0.vehicle) }
                let new = Dictionary(grouping: open.subtracting(seen), by: \.kind)
                state.withLock { state in
                    for (kind, requests) in new { state.requests[kind, default: []] += requests }
                }
                seen = open
                if isTroubled { log.info("registrations are read again") }
                isTroubled = false
            } catch {
                connection = nil
                if !isTroubled {
                    log.error(
                        "registrations cannot be read; boxes and adapters known so far are polled on",
                        ["error": "\(error)", "setting": "postgres.gateway_url"])
                }
                isTroubled = true
            }
            // In trouble it is tried sooner: at its start a gateway polls nobody without the list.
            _ = wake.wait(timeout: .now() + .seconds(isTroubled ? 3 : DeviceRegistry.requestsS))
        }
    }

    /// A person waits.
    private static let requestsS = 1

    private func requests(_ session: Connection) throws -> Set<DeviceRequest> {
        let rows = try session.query(
            """
            (SELECT 'machine', vehicle, request_id FROM drover.poll_request
             WHERE answered_at IS NULL AND expires_at > now() LIMIT 1000)
            UNION ALL
            (SELECT 'car', vehicle, scan_id FROM drover.health_scan
             WHERE scanned_at IS NULL AND expires_at > now() LIMIT 1000)
            """)
        return Set(
            try rows.compactMap { row in
                guard let kind = DeviceRegistration.Kind(rawValue: try row.text(0)!) else { return nil }
                return try row.text(1).flatMap { VehicleID($0) }.map {
                    DeviceRequest(kind: kind, vehicle: $0, id: try row.text(2)!)
                }
            })
    }

    private func read(_ session: Connection) throws -> [Row] {
        let rows = try session.query(
            """
            SELECT r.kind, r.vehicle, r.model, r.host, r.port, r.certificate_sha256, s.pids,
                CASE WHEN r.kind = 'car' THEN (
                    SELECT cardinality(h.stored) FROM drover.health_scan h WHERE h.vehicle = r.vehicle AND h.is_done
                    ORDER BY h.scanned_at DESC LIMIT 1) END AS codes
            FROM drover.registration r
            LEFT JOIN drover.car_support s ON r.kind = 'car' AND s.vehicle = r.vehicle
            WHERE r.host IS NOT NULL AND NOT r.is_disabled ORDER BY r.vehicle
            """)
        return try rows.compactMap { row in
            guard let kind = DeviceRegistration.Kind(rawValue: try row.text(0)!),
                let vehicle = try row.text(1).flatMap({ VehicleID($0) }), let host = try row.text(3),
                let port = try row.int(4)
            else { return nil }
            return Row(
                kind: kind, vehicle: vehicle, model: try row.text(2), host: host, port: UInt16(port),
                certificateSHA256: try row.text(5), supported: try row.textArray("pids")?.compactMap { $0 },
                codes: try row.int(7))
        }
    }

    /// - Returns: whose names are still looked up for the first time.
    private func publish(_ rows: [Row]) -> Set<VehicleID> {
        var sought: Set<VehicleID> = []
        var devices: [DeviceRegistration.Kind: [DeviceRegistration]] = [.machine: [], .car: []]
        var refusedCount = 0
        let now = Clock.steadyMs()
        for row in rows {
            let finding = names.finding(of: row.host, nowMs: now)
            if let fault = finding.fault, lines.pass("name " + row.vehicle.text) != nil {
                log.warning("a vehicle's host name is not found", ["vehicle": "\(row.vehicle)", "error": "\(fault)"])
            }
            guard let address = finding.address else {
                if finding.fault == nil { sought.insert(row.vehicle) }
                continue
            }
            let device = DeviceRegistration(
                kind: row.kind, vehicle: row.vehicle, model: row.model, address: address, port: row.port,
                certificateSHA256: row.certificateSHA256, supported: row.supported, codes: row.codes)
            if isAllowed(device) { devices[row.kind]!.append(device) } else { refusedCount += 1 }
        }
        refused.set(refusedCount)
        state.withLock { $0.devices = devices }
        return sought
    }

    /// Of the address itself, which is what is connected to: a name that leads elsewhere next time is judged then.
    private func isAllowed(_ device: DeviceRegistration) -> Bool {
        let isPlainAllowed = plain.contains { $0.contains(device.address) }
        if device.certificateSHA256 == nil, !isPlainAllowed { return refusePlain(device) }
        guard let refusal = reach.refusal(of: device.address, port: device.port) else { return true }
        if lines.pass("reach \(device.vehicle) \(device.address) \(device.port)") != nil {
            log.error(
                "this address is not connected to: the \(device.kind == .car ? "adapter" : "box") is not polled. Name its "
                    + "network in gateway.device_cidrs if boxes are there",
                [
                    "vehicle": "\(device.vehicle)", "address": "\(device.address)", "port": "\(device.port)",
                    "reason": "\(refusal)",
                ])
        }
        return false
    }

    private func refusePlain(_ device: DeviceRegistration) -> Bool {
        if lines.pass("plain \(device.vehicle) \(device.address)") != nil {
            log.error(
                "plain TCP to this address is not allowed: the \(device.kind == .car ? "adapter" : "box") is not polled."
                    + " Pin its certificate (certificate_sha256 of its registration) or add its network to"
                    + " gateway.plain_tcp_cidrs",
                ["vehicle": "\(device.vehicle)", "address": "\(device.address)"])
        }
        return false
    }
}
