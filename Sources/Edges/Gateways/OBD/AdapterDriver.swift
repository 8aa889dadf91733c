internal import Basics
internal import Codecs
internal import Fleet
internal import Ingest
internal import Storage
internal import Telemetry

/// How cars' adapters (ELM327) are polled: each at its own pace by an `AdapterSession`. Adapters keep nothing: what
/// cannot be stored need not be asked for.
final class AdapterDriver: DeviceDriver {
    typealias Session = AdapterSession
    /// Nil: nobody wants the session any more.
    typealias Ending = AdapterSession.Ending?

    /// The memory of a car from session to session.
    struct Memory {
        /// Said last by this gateway; nil: what the registry knows holds.
        var supported: [String]?
        var codes: Int?
        /// Faults that were said, and until when they are not said again.
        var saidUntilMs: [String: Int64] = [:]
    }

    static let kind = VehicleKind.car
    static let topic = Topic.cars
    static let lookMs: Int64 = 20
    /// Adapters keep nothing: this much of a drive is in memory only.
    static let storeMs: Int64 = 200
    static let unstoredMax = 100_000
    static let words = DeviceWords(
        device: "adapter", devices: "adapters", vehicle: "car", polled: "cars",
        spoolFull:
            "the spool is full: cars are not polled, and what they do meanwhile is lost, until the broker takes what"
            + " is spooled")

    private let settings: GatewaySettings
    private let log: Log
    private let metrics: GatewayMetrics
    private let spool: Spool
    /// A fault of a car is said once an hour, and of many cars' one a second.
    private let carLines = Throttle(periodMs: 1_000)
    private static let saidAgainMs: Int64 = 3_600_000
    private var chance = SystemRandomNumberGenerator()

    init(_ parts: GatewayDependencies) {
        settings = parts.settings
        log = parts.log
        metrics = parts.metrics
        spool = parts.spool
    }

    /// Adapters that are registered together are called one after another; then each is called when a session has ended.
    let intervalMs: Int64 = 5_000
    var gauges: DeviceGauges { metrics.ofAdapters }

    func memory(of registration: DeviceRegistration) -> Memory { Memory() }

    func session(with car: Device, _ now: Moment) -> AdapterSession {
        var session = AdapterSession(
            schedule: settings.pollSchedule, answerTimeoutMs: settings.answerTimeoutMs,
            knownCodes: car.memory.codes ?? car.registration.codes)
        // Before it is open nothing comes of it but that it is known.
        for request in car.takeRequests() { _ = session.scanRequested(request.id, now) }
        return session
    }

    func ending(_ fault: LineFault) -> AdapterSession.Ending? { .fault(AdapterFault(fault)) }

    // MARK: - One session

    func happened(_ fact: LineFact, on call: Call, _ now: Moment) -> [DriverAction] {
        switch fact {
        case .opened: actions(call.session.opened(now), call)
        case .received(let bytes): actions(call.session.received(bytes, now), call)
        case .closed: actions(call.session.closed(), call)
        case .failed(let fault): [.end(ending(fault))]
        }
    }

    func requested(_ request: DeviceRequest, on call: Call, _ now: Moment) -> [DriverAction] {
        actions(call.session.scanRequested(request.id, now), call)
    }

    func looked(at call: Call, _ now: Moment) -> [DriverAction] {
        guard call.isOpen else { return now.steadyMs >= call.deadlineMs ? [.end(ending(.noConnectionInTime))] : [] }
        return now.steadyMs >= call.session.dueMs ? actions(call.session.due(now), call) : []
    }

    func moved(_ call: Call) -> [DriverAction] { [.end(nil)] }
    func spoolFilled(_ call: Call) -> [DriverAction] { [.end(.fault(.spool))] }

    func cut(_ call: Call) -> [DeviceNews] {
        call.session.cut().map { [news(of: $0, call.device)] } ?? []
    }

    private func actions(_ actions: [AdapterSession.Action], _ call: Call) -> [DriverAction] {
        actions.flatMap { action in self.actions(of: action, call) }
    }

    private func actions(of action: AdapterSession.Action, _ call: Call) -> [DriverAction] {
        switch action {
        case .send(let command):
            metrics.adapterRequests.add()
            return [.send(command.line)]
        case .reading(let reading): return [.tell(news(of: reading, call.device))]
        case .supports(let pids): return news(ofSupported: pids, call.device).map { [.tell($0)] } ?? []
        case .scan(let requests, let scan):
            call.device.memory.codes = call.session.codes
            return news(of: scan, answering: requests, call.device.vehicle).map { .tell($0) }
        case .note(let fault, let command):
            note(fault, command, call.device)
            return []
        case .end(let ending): return [.end(ending)]
        }
    }

    // MARK: - What is told

    private func news(of reading: CarReading, _ car: Device) -> DeviceNews {
        metrics.carReadings.add()
        return put(RecordWriter.car(car.vehicle, reading, id: "obd-\(reading.ts)"), of: car.vehicle)
    }

    /// Said on the log when it is something else than last time.
    private func news(ofSupported pids: Set<UInt8>, _ car: Device) -> DeviceNews? {
        let names = pids.sorted().map { "01" + Hex.text([$0]).uppercased() }
        guard names != car.memory.supported ?? car.registration.supported else { return nil }
        car.memory.supported = names
        return put(RecordWriter.action(action(.support(pids: names), of: car.vehicle)), of: car.vehicle)
    }

    private func news(
        of scan: Action.HealthScan, answering requests: [String], _ vehicle: VehicleID
    ) -> [DeviceNews] {
        let answered = requests.map {
            DeviceNews.answered(DeviceRequest(kind: .car, vehicle: vehicle, id: $0))
        }
        // Without a request it is news all the same.
        let scans = (requests.isEmpty ? [nil] : requests.map(Optional.some)).map { request in
            var answer = scan
            answer.request = request
            return put(RecordWriter.action(action(.scan(answer), of: vehicle)), of: vehicle)
        }
        return answered + scans
    }

    func answer(_ request: DeviceRequest, isDone: Bool, _ text: String) -> Action {
        action(.scan(Action.HealthScan(request: request.id, isDone: isDone, text: text)), of: request.vehicle)
    }

    private func action(_ kind: Action.Kind, of vehicle: VehicleID) -> Action {
        let ts = Clock.nowMs()
        let id = "obd-\(String(ts, radix: 36))-\(String(UInt32.random(in: 0...UInt32.max, using: &chance), radix: 36))"
        return Action(id: id, vehicle: vehicle, ts: ts, by: "gateway", note: nil, kind: kind)
    }

    private func put(_ record: [UInt8], of vehicle: VehicleID) -> DeviceNews {
        .put(SpooledPage(topic: Topic.cars, vehicle: vehicle, end: nil, records: [record]))
    }

    // MARK: - How a session ends

    func ended(
        _ car: Device, _ session: AdapterSession?, startMs: Int64, _ ending: AdapterSession.Ending?
    ) -> [DeviceNews] {
        let nowMs = Clock.steadyMs()
        let requests =
            car.takeRequests()
            + (session?.scanRequests ?? []).map { DeviceRequest(kind: .car, vehicle: car.vehicle, id: $0) }
        switch ending {
        case nil:
            car.schedule.callNow(nowMs: nowMs)
            return requests.map { .answer($0, isDone: false, "its registration has changed. Ask again") }
        case .parked(let fault):
            metrics.sessions["parked"].add()
            car.schedule.rested(nowMs: nowMs, forMs: settings.parkedMs, chance: &chance)
            log.debug("a car is parked", ["vehicle": "\(car.vehicle)", "answer": "\(fault)"])
            return requests.map { .answer($0, isDone: false, fault.description) }
        case .fault(let fault):
            failed(car, madeProgress: (session?.readings ?? 0) > 0, fault, nowMs)
            return requests.map {
                fault.isOfAdapter ? .answer($0, isDone: false, "\(fault). \(fault.advice)") : .failed($0)
            }
        }
    }

    private func failed(_ car: Device, madeProgress: Bool, _ fault: AdapterFault, _ nowMs: Int64) {
        metrics.sessions[fault.label].add()
        log.debug("a session failed", ["vehicle": "\(car.vehicle)", "fault": "\(fault)"])
        guard fault != .spool else { return car.schedule.callNow(nowMs: nowMs) }
        car.schedule.failed(nowMs: nowMs, madeProgress: madeProgress, chance: &chance)
        guard let more = mayBeSaid(fault.label, of: car, nowMs) else { return }
        log.warning(
            "an adapter fails",
            [
                "vehicle": "\(car.vehicle)", "fault": "\(fault)", "do": "\(fault.advice)",
                "others_unsaid": "\(more)",
            ])
    }

    /// Nothing that calls wait for is stored.
    func stored(_ page: SpooledPage, of call: Call, isFull: Bool) -> [DriverAction] { [] }
    func unstored(_ error: SpoolError) -> AdapterSession.Ending? { .fault(.spool) }
    func dropped(_ car: Device) -> [DeviceNews] { [] }
    func spoolHasRoom(for car: Device) {}
    /// Says nothing: failures are logged when they happen.
    func contactChanged(_ car: Device, _ ending: AdapterSession.Ending?) {}

    // MARK: - The log

    private func note(_ fault: ELMFault, _ command: AdapterCommand, _ car: Device) {
        metrics.adapterNotes.add()
        guard let more = mayBeSaid("note", of: car, Clock.steadyMs()) else { return }
        log.info(
            "an answer is of no use",
            [
                "vehicle": "\(car.vehicle)", "request": "\(command.text)", "fault": "\(fault)",
                "others_unsaid": "\(more)",
            ])
    }

    /// Nil: not again so soon; else how many others were not said.
    private func mayBeSaid(_ what: String, of car: Device, _ nowMs: Int64) -> Int? {
        guard nowMs >= car.memory.saidUntilMs[what] ?? nowMs, let more = carLines.pass(what) else { return nil }
        car.memory.saidUntilMs[what] = nowMs + AdapterDriver.saidAgainMs
        return more
    }

    func cannotStore(_ error: SpoolError, kept: Int, repeated: Int) {
        log.error(
            "what cars say cannot be stored; it is kept in memory and tried again",
            ["records": "\(kept)", "error": "\(error)", "repeated": "\(repeated)"])
    }

    func sayFigures(devices: Int, calls: [Call]) {
        let polling = calls.count { $0.session.isPolling }
        metrics.adaptersPolling.set(polling)
        guard devices > 0 else { return }
        let failed = AdapterFault.labels.reduce(0) { $0 + metrics.sessions[$1].value }
        log.info(
            "adapter figures",
            [
                "adapters": "\(devices)", "polling": "\(polling)",
                "without_contact": "\(Int(metrics.adaptersWithoutContact.value))",
                "sessions_failed": "\(failed)", "parked": "\(metrics.sessions["parked"].value)",
                "requests": "\(metrics.adapterRequests.value)", "useless_answers": "\(metrics.adapterNotes.value)",
                "readings": "\(metrics.carReadings.value)", "spooled": "\(spool.count)",
            ])
    }
}
