internal import Basics
internal import Codecs
internal import Fleet
internal import Ingest
internal import Sockets
internal import Storage
internal import Telemetry

/// Polls cars' adapters (ELM327): one thread and one event queue for all connections, each adapter asked at its own
/// pace by an `AdapterSession`. What cars say goes into the spool, a few times a second in one transaction for all.
final class OBDGateway {
    /// The interval of deadline checks; data from adapters is handled at once.
    private static let lookMs: Int64 = 20
    /// Adapters keep nothing: this much of a drive is in memory only.
    private static let storeMs: Int64 = 200
    private static let figuresMs: Int64 = 60_000
    /// Records that wait in memory while the spool's file fails.
    private static let unstoredMax = 100_000

    private let settings: GatewaySettings
    private let log: Log
    private let metrics: GatewayMetrics
    private let spool: Spool
    private let registry: DeviceRegistry
    private let drain: SpoolDrain
    private let lines: DeviceLines<CarCall>
    private let faultLines = OncePer(periodMs: 10_000)
    /// A fault of a car is said once an hour, and of many cars' one a second.
    private let carLines = OncePer(periodMs: 1_000)
    private static let saidAgainMs: Int64 = 3_600_000
    private var chance = SystemRandomNumberGenerator()

    private var cars: [VehicleID: PolledCar] = [:]
    private var toStore: [SpooledPage] = []
    private var unanswered: Unanswered<DeviceRequest>
    private var nextLookMs: Int64 = 0
    private var nextStoreMs: Int64 = 0
    private var nextFiguresMs = Clock.steadyMs() + figuresMs
    private var isFull = false

    init(_ parts: GatewayParts) throws {
        (settings, log, metrics) = (parts.settings, parts.log, parts.metrics)
        (spool, registry, drain) = (parts.spool, parts.registry, parts.drain)
        lines = try DeviceLines()
        unanswered = Unanswered(afterMs: settings.failureToldMs)
    }

    /// Returns when `shouldStop` says so. What cars said by then is in the spool or at the broker.
    func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            for call in lines.ready(timeoutMs: Int32(OBDGateway.lookMs)) { goOn(call) }
            let moment = now()
            guard moment.steadyMs >= nextLookMs else { continue }
            nextLookMs = moment.steadyMs + OBDGateway.lookMs
            if let registered = registry.drainRegistrations(of: .car) { update(registered, moment) }
            for request in registry.drainRequests(of: .car) { handle(request, moment) }
            goOnWithDue(moment)
            for request in unanswered.due(nowMs: moment.steadyMs) {
                answer([request.id], of: request.vehicle, isDone: false, Unanswered<DeviceRequest>.sentence("adapter"))
            }
            callDue(moment.steadyMs)
            if moment.steadyMs >= nextStoreMs { store(moment.steadyMs) }
            if moment.steadyMs >= nextFiguresMs { sayFigures(moment.steadyMs) }
        }
        for case let call? in lines.all {
            act(call.session.cut(), call)
            close(call)
        }
        store(Clock.steadyMs())
        sayFigures(Clock.steadyMs())
    }

    private func now() -> AdapterSession.Moment {
        AdapterSession.Moment(steadyMs: Clock.steadyMs(), wallMs: Clock.nowMs())
    }

    // MARK: - Whom to poll

    private func update(_ registered: [DeviceRegistration], _ now: AdapterSession.Moment) {
        var left = cars
        for registration in registered {
            if let car = left.removeValue(forKey: registration.vehicle) {
                let isElsewhere = !car.registration.isAtPlace(of: registration)
                car.registration = registration
                // The session goes on where it is now.
                if isElsewhere, let call = car.call { end(call, nil) }
            } else {
                let schedule = CallSchedule(
                    nowMs: now.steadyMs, intervalMs: OBDGateway.spreadMs, backOffMsMax: settings.backOffMsMax,
                    chance: &chance)
                cars[registration.vehicle] = PolledCar(registration, schedule)
            }
        }
        // Disabled, or without an address: nobody waits for them any more.
        for (vehicle, car) in left {
            if let call = car.call { end(call, nil) }
            if car.schedule.isWithoutContact { metrics.adaptersWithoutContact.add(-1) }
            cars[vehicle] = nil
            fail(car.requests, of: vehicle)
        }
        if !left.isEmpty || metrics.adapters.value != Double(cars.count) {
            log.info("adapters to poll", ["adapters": "\(cars.count)", "dropped": "\(left.count)"])
        }
        metrics.adapters.set(cars.count)
    }

    /// Adapters that are registered together are called one after another.
    private static let spreadMs: Int64 = 5_000

    private func handle(_ request: DeviceRequest, _ now: AdapterSession.Moment) {
        unanswered.asked(request, nowMs: now.steadyMs)
        guard let car = cars[request.vehicle] else {
            log.warning("somebody asks for a car that is not polled", ["vehicle": "\(request.vehicle)"])
            return unanswered.failed(request)
        }
        guard !isFull else {
            return answer([request.id], of: request.vehicle, isDone: false, "the spool is full; see to the broker")
        }
        if let call = car.call {
            act(call.session.scanRequested(request.id, now), call)
        } else {
            car.requests.append(request.id)
            car.schedule.callNow(nowMs: now.steadyMs)
        }
    }

    private func callDue(_ nowMs: Int64) {
        guard !isSpoolFull() else { return }
        for car in cars.values where car.call == nil && car.schedule.nextMs <= nowMs {
            guard lines.count < settings.connectionsMax else {
                if let more = faultLines.pass("connections") {
                    log.warning(
                        "as many connections as gateway.connections_max allows: cars wait for their turn",
                        ["connections_max": "\(settings.connectionsMax)", "repeated": "\(more)"])
                }
                return
            }
            call(car, nowMs)
        }
    }

    /// Adapters keep nothing: what cannot be stored need not be asked for.
    private func isSpoolFull() -> Bool {
        let wasFull = isFull
        isFull = spool.bytes >= settings.spoolBytesMax || toStore.count >= OBDGateway.unstoredMax
        if isFull, !wasFull {
            log.error(
                "the spool is full: cars are not polled, and what they do meanwhile is lost, until the broker takes what"
                    + " is spooled",
                [
                    "bytes": "\(spool.bytes)", "spool_bytes_max": "\(settings.spoolBytesMax)",
                    "spooled": "\(spool.count)",
                ]
            )
            for case let call? in lines.all { end(call, .fault(.spool)) }
        } else if wasFull, !isFull {
            log.info("the spool has room again; cars are polled", ["bytes": "\(spool.bytes)"])
        }
        return isFull
    }

    // MARK: - One session

    private func call(_ car: PolledCar, _ nowMs: Int64) {
        do throws(LineFault) {
            let session = AdapterSession(
                schedule: settings.pollSchedule, answerTimeoutMs: settings.answerTimeoutMs,
                knownCodes: car.codes ?? car.registration.codes)
            let call = try lines.open(to: car.registration) { stream, slot in
                CarCall(
                    car, stream, session, slot: slot, startMs: nowMs, deadlineMs: nowMs + settings.answerTimeoutMs)
            }
            car.call = call
            let moment = now()
            for request in car.requests { act(call.session.scanRequested(request, moment), call) }
            car.requests = []
        } catch {
            ended(car, madeProgress: false, requests: car.requests, .fault(AdapterFault(error)))
            car.requests = []
        }
    }

    /// Something can be read or written.
    private func goOn(_ call: CarCall) {
        let moment = now()
        for fact in lines.facts(of: call) where lines.has(call) {
            switch fact {
            case .opened: act(call.session.opened(moment), call)
            case .received(let bytes): act(call.session.received(bytes, moment), call)
            case .closed: act(call.session.closed(), call)
            case .failed(let fault): end(call, .fault(AdapterFault(fault)))
            }
        }
    }

    private func goOnWithDue(_ now: AdapterSession.Moment) {
        for case let call? in lines.all {
            if call.isOpen {
                if now.steadyMs >= call.session.dueMs { act(call.session.due(now), call) }
            } else if now.steadyMs >= call.deadlineMs {
                end(call, .fault(.unreachable("no connection in time (gateway.answer_timeout_ms)")))
            }
        }
    }

    private func act(_ actions: [AdapterSession.Action], _ call: CarCall) {
        let vehicle = call.car.registration.vehicle
        for action in actions {
            switch action {
            case .send(let command):
                metrics.adapterRequests.add()
                do throws(LineFault) { try lines.send(command.line, to: call) } catch {
                    return end(call, .fault(AdapterFault(error)))
                }
            case .reading(let reading):
                metrics.carReadings.add()
                put(RecordWriter.car(vehicle, reading, id: "obd-\(reading.ts)"), of: vehicle)
            case .supports(let pids): noteSupported(pids, of: call.car)
            case .scan(let requests, let scan):
                call.car.codes = call.session.codes
                for request in requests {
                    unanswered.answered(DeviceRequest(kind: .car, vehicle: vehicle, id: request))
                }
                // Without a request it is news all the same.
                for request in requests.isEmpty ? [nil] : requests.map(Optional.some) {
                    var answer = scan
                    answer.request = request
                    put(.scan(answer), of: vehicle)
                }
            case .note(let fault, let command): note(fault, command, call.car)
            case .end(let ending): end(call, ending)
            }
        }
    }

    /// Said on the log when it is something else than last time.
    private func noteSupported(_ pids: Set<UInt8>, of car: PolledCar) {
        let names = pids.sorted().map { "01" + Hex.text([$0]).uppercased() }
        guard names != car.supported ?? car.registration.supported else { return }
        car.supported = names
        put(.support(pids: names), of: car.registration.vehicle)
    }

    private func put(_ kind: Action.Kind, of vehicle: VehicleID) {
        let ts = Clock.nowMs()
        let id = "obd-\(String(ts, radix: 36))-\(String(UInt32.random(in: 0...UInt32.max, using: &chance), radix: 36))"
        put(
            RecordWriter.action(
                Action(id: id, vehicle: vehicle, ts: ts, by: "gateway", note: nil, kind: kind)), of: vehicle)
    }

    private func put(_ record: [UInt8], of vehicle: VehicleID) {
        toStore.append(SpooledPage(topic: Topic.cars, vehicle: vehicle, end: nil, records: [record]))
    }

    private func answer(_ requests: [String], of vehicle: VehicleID, isDone: Bool, _ text: String) {
        for request in requests {
            unanswered.answered(DeviceRequest(kind: .car, vehicle: vehicle, id: request))
            put(.scan(Action.HealthScan(request: request, isDone: isDone, text: text)), of: vehicle)
        }
    }

    /// Told when its time has come.
    private func fail(_ requests: [String], of vehicle: VehicleID) {
        for request in requests { unanswered.failed(DeviceRequest(kind: .car, vehicle: vehicle, id: request)) }
    }

    private func store(_ nowMs: Int64) {
        nextStoreMs = nowMs + OBDGateway.storeMs
        guard !toStore.isEmpty else { return }
        do throws(SpoolError) {
            try spool.append(toStore)
            toStore = []
            drain.notice()
        } catch {
            guard let more = faultLines.pass("spool") else { return }
            log.error(
                "what cars say cannot be stored; it is kept in memory and tried again",
                ["records": "\(toStore.count)", "error": "\(error)", "repeated": "\(more)"])
        }
    }

    // MARK: - How a session ends

    /// - Parameter ending: nil: nobody wants it any more.
    private func end(_ call: CarCall, _ ending: AdapterSession.Ending?) {
        guard lines.has(call) else { return }
        act(call.session.cut(), call)
        close(call)
        ended(call.car, madeProgress: call.session.readings > 0, requests: call.session.scanRequests, ending)
    }

    private func close(_ call: CarCall) {
        lines.close(call)
        call.car.call = nil
    }

    private func ended(
        _ car: PolledCar, madeProgress: Bool, requests: [String], _ ending: AdapterSession.Ending?
    ) {
        let (nowMs, vehicle) = (Clock.steadyMs(), car.registration.vehicle)
        let wasWithoutContact = car.schedule.isWithoutContact
        switch ending {
        case nil:
            car.schedule.callNow(nowMs: nowMs)
            answer(requests, of: vehicle, isDone: false, "its registration has changed. Ask again")
        case .parked(let fault):
            metrics.sessions["parked"].add()
            car.schedule.rested(nowMs: nowMs, forMs: settings.parkedMs, chance: &chance)
            answer(requests, of: vehicle, isDone: false, fault.description)
            log.debug("a car is parked", ["vehicle": "\(vehicle)", "answer": "\(fault)"])
        case .fault(let fault):
            metrics.sessions[fault.label].add()
            if fault == .spool {
                car.schedule.callNow(nowMs: nowMs)
            } else {
                car.schedule.failed(nowMs: nowMs, madeProgress: madeProgress, chance: &chance)
            }
            if fault.isOfAdapter {
                answer(requests, of: vehicle, isDone: false, "\(fault). \(fault.advice)")
            } else {
                fail(requests, of: vehicle)
            }
            log.debug("a session failed", ["vehicle": "\(vehicle)", "fault": "\(fault)"])
            if fault != .spool { warn(fault, car, nowMs) }
        }
        if car.schedule.isWithoutContact != wasWithoutContact {
            metrics.adaptersWithoutContact.add(car.schedule.isWithoutContact ? 1 : -1)
        }
    }

    private func warn(_ fault: AdapterFault, _ car: PolledCar, _ nowMs: Int64) {
        guard car.isNews(fault.label, nowMs), let more = carLines.pass(fault.label) else { return }
        car.said(fault.label, untilMs: nowMs + OBDGateway.saidAgainMs)
        log.warning(
            "an adapter fails",
            [
                "vehicle": "\(car.registration.vehicle)", "fault": "\(fault)", "do": "\(fault.advice)",
                "others_unsaid": "\(more)",
            ])
    }

    private func note(_ fault: ELMFault, _ command: AdapterCommand, _ car: PolledCar) {
        metrics.adapterNotes.add()
        let nowMs = Clock.steadyMs()
        guard car.isNews("note", nowMs), let more = carLines.pass("note") else { return }
        car.said("note", untilMs: nowMs + OBDGateway.saidAgainMs)
        log.info(
            "an answer is of no use",
            [
                "vehicle": "\(car.registration.vehicle)", "request": "\(command.text)", "fault": "\(fault)",
                "others_unsaid": "\(more)",
            ])
    }

    private func sayFigures(_ nowMs: Int64) {
        nextFiguresMs = nowMs + OBDGateway.figuresMs
        let polling = lines.all.reduce(0) { $0 + ($1?.session.isPolling == true ? 1 : 0) }
        metrics.adapterConnections.set(lines.count)
        metrics.adaptersPolling.set(polling)
        guard !cars.isEmpty else { return }
        let failed = AdapterFault.labels.reduce(0) { $0 + metrics.sessions[$1].value }
        log.info(
            "adapter figures",
            [
                "adapters": "\(cars.count)", "polling": "\(polling)",
                "without_contact": "\(Int(metrics.adaptersWithoutContact.value))",
                "sessions_failed": "\(failed)", "parked": "\(metrics.sessions["parked"].value)",
                "requests": "\(metrics.adapterRequests.value)", "useless_answers": "\(metrics.adapterNotes.value)",
                "readings": "\(metrics.carReadings.value)", "spooled": "\(spool.count)",
            ])
    }
}

/// A car and what is known of it from session to session.
private final class PolledCar {
    var registration: DeviceRegistration
    var schedule: CallSchedule
    /// Said last by this gateway; nil: what the registry knows holds.
    var supported: [String]?
    var codes: Int?
    /// Requests for a scan by the next session.
    var requests: [String] = []
    /// Nil between sessions.
    var call: CarCall?

    /// Faults that were said, and until when they are not said again.
    private var saidUntilMs: [String: Int64] = [:]

    init(_ registration: DeviceRegistration, _ schedule: CallSchedule) {
        (self.registration, self.schedule) = (registration, schedule)
    }

    func isNews(_ what: String, _ nowMs: Int64) -> Bool { saidUntilMs[what].map { nowMs >= $0 } ?? true }
    func said(_ what: String, untilMs: Int64) { saidUntilMs[what] = untilMs }
}

/// One connection to an adapter.
private final class CarCall: DeviceLine {
    let car: PolledCar
    var session: AdapterSession

    init(
        _ car: PolledCar, _ stream: Stream, _ session: AdapterSession, slot: Int, startMs: Int64, deadlineMs: Int64
    ) {
        (self.car, self.session) = (car, session)
        super.init(stream, slot: slot, startMs: startMs, deadlineMs: deadlineMs)
    }
}
