internal import Fleet
internal import Postgres
internal import Sockets
internal import Storage
internal import Synchronization
internal import Telemetry
internal import Threads

/// A box or an adapter that is to be polled, as it is registered.
struct DeviceRegistration: Equatable, Sendable {
    let kind: VehicleKind
    let vehicle: VehicleID
    /// Nil: what a box says of itself; of a car, unknown.
    let model: String?
    let address: IPAddress
    let port: UInt16
    /// Nil: plain TCP.
    let certificateSHA256: String?
    /// The car's supported parameters, as last reported; nil: never, or a machine.
    var supported: [String]?
    /// Trouble codes that the latest scan found; nil: never scanned.
    var codes: Int?

    /// Reached in the same way.
    func isAtPlace(of other: DeviceRegistration) -> Bool {
        address == other.address && port == other.port && certificateSHA256 == other.certificateSHA256
    }
}

/// Reads again and again from PostgreSQL which boxes and adapters to poll, on a thread of its own: the database may
/// take its time. While it is away the last list holds.
final class DeviceRegistry: Sendable {
    private struct State {
        var devices: [VehicleKind: [DeviceRegistration]] = [:]
        var requests: [VehicleKind: [DeviceRequest]] = [:]
        /// Those of the last list.
        var machines: [VehicleID: DeviceRegistration] = [:]
    }

    private let conninfo: String
    private let intervalS: Int64
    private let plain: [CIDR]
    private let reach: AddressPolicy
    private let log: Log
    private let loop: Loop
    private let refused: Gauge
    private let names: NameLookup
    private let state = Mutex(State())
    private let thread = WorkerThread()
    private let lines = Throttle(periodMs: 3_600_000, keysMax: 10_000)

    init(
        conninfo: String, intervalS: Int64, plain: [CIDR], reach: AddressPolicy, refused: Gauge, loop: Loop, log: Log
    ) {
        self.loop = loop
        self.reach = reach
        self.conninfo = conninfo
        self.intervalS = intervalS
        self.plain = plain
        self.refused = refused
        self.log = log
        names = NameLookup(refreshMs: intervalS * 1_000)
    }

    /// Requests that are open, each once.
    func drainRequests(of kind: VehicleKind) -> [DeviceRequest] {
        state.withLock { $0.requests.removeValue(forKey: kind) ?? [] }
    }

    /// Where a machine's box is, and may be; nil: it is not polled.
    func machine(_ vehicle: VehicleID) -> DeviceRegistration? { state.withLock { $0.machines[vehicle] } }

    /// The list that was read since the last call; nil: none.
    func drainRegistrations(of kind: VehicleKind) -> [DeviceRegistration]? {
        state.withLock { $0.devices.removeValue(forKey: kind) }
    }

    func start() {
        names.start()
        thread.start("registry", loop: loop) { [self] _ in run() }
    }

    func stop() {
        names.stop()
        thread.stop()
    }

    private func run() {
        var connection: Connection?
        var trouble = FailureLog(
            cannot: "registrations cannot be read; boxes and adapters known so far are polled on",
            again: "registrations are read again", log: log.with(["setting": "postgres.gateway_url"]))
        var (rows, sought): ([RegisteredDevice], Set<VehicleID>) = ([], [])
        var (seen, nextMs): (Set<DeviceRequest>, Int64) = ([], 0)
        while !loop.asking({ thread.isStopping }) {
            do {
                let session =
                    try connection ?? Connection.ofService(conninfo: conninfo, applicationName: "drover-gateway")
                connection = session
                let isDue = Clock.steadyMs() >= nextMs
                if isDue {
                    rows = try DeviceStore.devices(on: session)
                    names.keep(only: Set(rows.map(\.host)))
                    nextMs = Clock.steadyMs() + intervalS * 1_000
                }
                // A name that was found meanwhile does not wait for the next list.
                if names.consumeChange() || isDue || !sought.isEmpty { sought = publish(rows) }
                // Requests for a vehicle whose name is still being resolved wait for it.
                let open = try DeviceStore.openRequests(on: session).filter { !sought.contains($0.vehicle) }
                let new = Dictionary(grouping: open.subtracting(seen), by: \.kind)
                state.withLock { state in
                    for (kind, requests) in new { state.requests[kind, default: []] += requests }
                }
                seen = open
                trouble.isOver()
            } catch {
                connection = nil
                trouble.failed("\(error)")
            }
            // After a fault it retries sooner: at its start a gateway polls nobody without the list.
            thread.pause(ms: trouble.isInTrouble ? 3_000 : DeviceRegistry.requestsMs)
        }
    }

    /// A person waits.
    private static let requestsMs = 1_000

    /// - Returns: whose names are still looked up for the first time.
    private func publish(_ rows: [RegisteredDevice]) -> Set<VehicleID> {
        var sought: Set<VehicleID> = []
        var devices: [VehicleKind: [DeviceRegistration]] = [.machine: [], .car: []]
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
        let machines = Dictionary(devices[.machine]!.map { ($0.vehicle, $0) }) { _, last in last }
        state.withLock { state in
            state.devices = devices
            state.machines = machines
        }
        return sought
    }

    /// Checks the resolved address, which is what we connect to: a name that leads elsewhere next time is checked then.
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
