internal import Codecs
internal import Fleet
internal import Ingest
internal import Sockets
internal import Storage
internal import Telemetry

/// Polls boxes: one thread and one event queue for all connections, nothing in it waits for a box. What boxes give goes
/// into the spool, once a round in one transaction for all of them; only then are they asked for more.
final class MTGGateway {
    /// How often deadlines are looked at; what comes from boxes is taken at once.
    private static let lookMs: Int64 = 50
    private static let figuresMs: Int64 = 60_000

    private let settings: GatewaySettings
    private let log: Log
    private let metrics: GatewayMetrics
    private let spool: Spool
    private let registry: DeviceRegistry
    private let drain: SpoolDrain
    private let lines: DeviceLines<BoxCall>
    private let faultLines = OncePer(periodMs: 10_000)
    private var chance = SystemRandomNumberGenerator()

    private var boxes: [VehicleID: PolledBox] = [:]
    /// What was stored before, until the box is met.
    private var sequences: [String: [String: Int64]]
    /// Calls of this round whose readings are to be stored.
    private var toStore: [(call: BoxCall, page: SpooledPage)] = []
    /// What the gateway itself has to say: of boxes that do not answer any more, or do again, and to those who asked.
    private var notices: [SpooledPage] = []
    private var unanswered: Unanswered<DeviceRequest>
    private var nextLookMs: Int64 = 0
    private var nextFiguresMs = Clock.steadyMs() + figuresMs
    private var isFull = false

    init(_ parts: GatewayParts) throws {
        settings = parts.settings
        log = parts.log
        metrics = parts.metrics
        spool = parts.spool
        registry = parts.registry
        drain = parts.drain
        sequences = settings.asksAgain ? [:] : try spool.sequences()
        unanswered = Unanswered(afterMs: settings.failureToldMs)
        lines = try DeviceLines()
    }

    /// Returns when `shouldStop` says so. What boxes gave by then is in the spool or at the broker.
    func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            for call in lines.ready(timeoutMs: Int32(MTGGateway.lookMs)) { goOn(call) }
            store()
            let now = Clock.steadyMs()
            guard now >= nextLookMs else { continue }
            nextLookMs = now + MTGGateway.lookMs
            if let registered = registry.take(.machine) { take(registered, now) }
            for request in registry.takeRequests(of: .machine) { take(request, now) }
            cutLate(now)
            for request in unanswered.due(nowMs: now) {
                answer(request, isDone: false, Unanswered<DeviceRequest>.sentence("box"))
            }
            callDue(now)
            if now >= nextFiguresMs { sayFigures(now) }
        }
        for case let call? in lines.all { close(call) }
        store()
        sayFigures(Clock.steadyMs())
    }

    // MARK: - Whom to poll

    private func take(_ registered: [DeviceRegistration], _ now: Int64) {
        var left = boxes
        for registration in registered {
            if let box = left.removeValue(forKey: registration.vehicle) {
                box.registration = registration
            } else {
                let schedule = CallSchedule(
                    nowMs: now, intervalMs: settings.pollIntervalMs, backOffMsMax: settings.backOffMsMax,
                    chance: &chance)
                let known = sequences.removeValue(forKey: registration.vehicle.text) ?? [:]
                boxes[registration.vehicle] = PolledBox(registration, schedule, known)
            }
        }
        // Disabled, or given another way to report: nobody waits for them any more.
        for (vehicle, box) in left {
            box.call.map { close($0) }
            if box.schedule.isWithoutContact { metrics.withoutContact.add(-1) }
            sequences[vehicle.text] = box.sequences
            boxes[vehicle] = nil
            if !box.sequences.isEmpty { say(.ended, of: box) }
            for request in box.requests { unanswered.failed(request) }
        }
        if !left.isEmpty || metrics.boxes.value != Double(boxes.count) {
            log.info("boxes to poll", ["boxes": "\(boxes.count)", "dropped": "\(left.count)"])
        }
        metrics.boxes.set(boxes.count)
    }

    private func take(_ request: DeviceRequest, _ now: Int64) {
        unanswered.asked(request, nowMs: now)
        guard let box = boxes[request.vehicle] else {
            log.warning("somebody asks for a machine that is not polled", ["vehicle": "\(request.vehicle)"])
            return unanswered.failed(request)
        }
        guard !isFull else { return answer(request, isDone: false, "the spool is full; see to the broker") }
        box.requests.append(request)
        if box.call == nil { box.schedule.callNow(nowMs: now) }
    }

    private func answer(_ request: DeviceRequest, isDone: Bool, _ text: String) {
        unanswered.answered(request)
        let ts = Clock.nowMs()
        let action = Action(
            id: "\(request.id.prefix(50))-\(String(ts, radix: 36))", vehicle: request.vehicle, ts: ts, by: "gateway",
            note: nil, kind: .pollAnswer(request: request.id, isDone: isDone, text: text))
        notices.append(
            SpooledPage(
                topic: Topic.machines, vehicle: request.vehicle, end: nil, records: [RecordWriter.action(action)]))
    }

    private func callDue(_ now: Int64) {
        guard !isSpoolFull() else { return }
        for box in boxes.values where box.call == nil && box.schedule.nextMs <= now {
            guard lines.count < settings.connectionsMax else {
                if let more = faultLines.pass("connections") {
                    log.warning(
                        "as many connections as gateway.connections_max allows: boxes wait for their turn",
                        ["connections_max": "\(settings.connectionsMax)", "repeated": "\(more)"])
                }
                return
            }
            call(box, now)
        }
    }

    /// Boxes keep their readings while we have no room for them.
    private func isSpoolFull() -> Bool {
        let wasFull = isFull
        isFull = spool.bytes >= settings.spoolBytesMax
        if isFull, !wasFull {
            log.error(
                "the spool is full: boxes are not polled and keep their readings until the broker takes what is spooled",
                [
                    "bytes": "\(spool.bytes)", "spool_bytes_max": "\(settings.spoolBytesMax)",
                    "spooled": "\(spool.count)",
                ])
        } else if wasFull, !isFull {
            log.info("the spool has room again; boxes are polled", ["bytes": "\(spool.bytes)"])
            // Nobody has asked them meanwhile.
            for box in boxes.values { box.answeredMs = Clock.steadyMs() }
        }
        return isFull
    }

    // MARK: - One call

    private func call(_ box: PolledBox, _ now: Int64) {
        do throws(LineFault) {
            box.call = try lines.open(to: box.registration) { stream, slot in
                BoxCall(
                    box, stream, BoxSession(known: box.sequences, pageMost: box.pageMost), slot: slot, startMs: now,
                    deadlineMs: now + settings.answerTimeoutMs)
            }
        } catch {
            let requests = box.requests
            box.requests = []
            for request in requests { tell(request, 0, BoxFault(error)) }
            ended(box, startMs: now, madeProgress: false, BoxFault(error))
        }
    }

    /// Something can be read or written.
    private func goOn(_ call: BoxCall) {
        for fact in lines.facts(of: call) where lines.has(call) {
            switch fact {
            case .opened: act(call.session.opened(), call)
            case .received(let bytes): act(call.session.received(bytes), call)
            case .closed: act(call.session.closed(), call)
            case .failed(let fault): end(call, BoxFault(fault))
            }
        }
    }

    private func act(_ action: BoxSession.Action, _ call: BoxCall) {
        switch action {
        case .wait: break
        case .ask(let request):
            call.deadlineMs = Clock.steadyMs() + settings.answerTimeoutMs
            do throws(LineFault) { try lines.send(request.encoded(), to: call) } catch { end(call, BoxFault(error)) }
        case .store(let readings, let serial):
            toStore.append((call, page(readings, serial, call.box)))
        case .done: end(call, nil)
        case .fail(let fault): end(call, fault)
        }
    }

    private func page(_ readings: [MTGReading], _ serial: String, _ box: PolledBox) -> SpooledPage {
        let (vehicle, model) = (box.registration.vehicle, box.registration.model)
        metrics.droppedFields.add(readings.reduce(0) { $0 + $1.droppedFields })
        return SpooledPage(
            topic: Topic.machines, vehicle: vehicle,
            end: SpooledPage.End(serial: serial, sequence: readings.last!.sequence),
            records: readings.map { reading in
                var reading = reading.machineReading(vehicle: vehicle, model: model)
                reading.isReporting = reading.isReporting && settings.expectsReports
                return RecordWriter.machine(reading)
            })
    }

    /// What this round brought, in one transaction; then the boxes are asked for more.
    private func store() {
        guard !toStore.isEmpty || !notices.isEmpty else { return }
        let stored = toStore.filter { lines.has($0.call) }
        let said = notices
        toStore = []
        notices = []
        do throws(SpoolError) {
            try spool.append(said + stored.map(\.page))
        } catch {
            notices = said
            for (call, _) in stored { end(call, .spool(error.description)) }
            guard let more = faultLines.pass("spool") else { return }
            return log.error(
                "readings cannot be stored; boxes keep them", ["error": "\(error)", "repeated": "\(more)"])
        }
        drain.notice()
        metrics.readings.add(stored.reduce(0) { $0 + $1.page.records.count })
        let isFull = isSpoolFull()
        for (call, page) in stored {
            let place = page.end!
            if call.session.wasReset, (call.box.sequences[place.serial] ?? 0) >= place.sequence {
                log.warning(
                    "a box counts its readings from the beginning again",
                    ["vehicle": "\(page.vehicle)", "was": "\(call.box.sequences[place.serial] ?? 0)"])
            }
            call.box.sequences[place.serial] = place.sequence
            let next = call.session.stored()
            // The backlog waits in the box, which has been told of what we have.
            if isFull, case .ask = next { end(call, nil) } else { act(next, call) }
        }
    }

    private func cutLate(_ now: Int64) {
        for case let call? in lines.all {
            if now >= call.startMs + settings.connectionMsMax {
                end(call, .overlong)
            } else if now >= call.deadlineMs {
                end(call, call.isOpen ? .late : .unreachable("no connection in time (gateway.answer_timeout_ms)"))
            }
        }
    }

    private func end(_ call: BoxCall, _ fault: BoxFault?) {
        guard lines.has(call) else { return }
        close(call)
        let readings = call.session.readings
        let requests = call.box.requests
        call.box.requests = []
        for request in requests { tell(request, readings, fault) }
        ended(call.box, startMs: call.startMs, madeProgress: readings > 0, fault)
    }

    /// What failed at the box, and how, is for the log only.
    private func tell(_ request: DeviceRequest, _ readings: Int, _ fault: BoxFault?) {
        switch fault {
        case nil: answer(request, isDone: true, readings == 1 ? "1 new reading" : "\(readings) new readings")
        case let fault? where !fault.isBoxs: answer(request, isDone: false, "\(fault). \(fault.advice)")
        case let fault?:
            log.warning(
                "somebody asks for a box that does not answer",
                ["vehicle": "\(request.vehicle)", "fault": "\(fault)", "do": "\(fault.advice)"])
            unanswered.failed(request)
        }
    }

    private func close(_ call: BoxCall) {
        lines.close(call)
        call.box.call = nil
    }

    private func ended(_ box: PolledBox, startMs: Int64, madeProgress: Bool, _ fault: BoxFault?) {
        let (now, wasWithoutContact) = (Clock.steadyMs(), box.schedule.isWithoutContact)
        metrics.polls[fault?.label ?? "done"].add()
        metrics.pollTime.observe(ms: Double(now - startMs))
        switch fault {
        case nil:
            box.schedule.succeeded(nowMs: now)
            box.pageMost = MTGRequest.pageReadingsMax
        // The box did its part: contact is not lost, and it is asked again at its time.
        case .spool: box.schedule.succeeded(nowMs: now)
        case let fault?:
            box.schedule.failed(nowMs: now, madeProgress: madeProgress, chance: &chance)
            // Contact is judged when it is due, not a back-off later.
            let judgedMs = box.answeredMs + settings.contactLostMs
            if judgedMs > now { box.schedule.callNoLater(than: judgedMs) }
            // A bad line lets smaller pages through.
            if !madeProgress { box.pageMost = max(1, box.pageMost / 2) }
            log.debug("a poll failed", ["vehicle": "\(box.registration.vehicle)", "fault": "\(fault)"])
        }
        if box.schedule.isWithoutContact != wasWithoutContact { contactChanged(box, fault) }
        judgeContact(box, isDone: fault?.isBoxs != true, madeProgress: madeProgress, now)
    }

    /// Tells the workers of a box that has not answered for long, and when it does again: after its backlog, or each of
    /// its readings would come late. The first answer after a start is told, too: whether contact was lost before is not
    /// known here.
    private func judgeContact(_ box: PolledBox, isDone: Bool, madeProgress: Bool, _ now: Int64) {
        if isDone || madeProgress { box.answeredMs = now }
        let isLost = !isDone && now - box.answeredMs >= settings.contactLostMs
        // Of a box that never gave a reading nothing is expected.
        guard isDone || isLost, box.isLost != isLost, !box.sequences.isEmpty else { return }
        box.isLost = isLost
        say(isLost ? .lost : .heard, of: box)
    }

    private enum Contact { case heard, lost, ended }

    private func say(_ contact: Contact, of box: PolledBox) {
        // Not on a whole second, where the box's own readings are: one reading a time.
        let ts = Clock.nowMs() / 1_000 * 1_000 + 500
        let vehicle = box.registration.vehicle
        var reading = MachineReading(
            vehicle: vehicle, ts: ts, id: "contact-\(ts)", model: box.registration.model ?? "unknown")
        reading.values[.contact] = contact == .lost ? 0 : 1
        reading.isReporting = contact == .heard && settings.expectsReports
        notices.append(
            SpooledPage(
                topic: Topic.machines, vehicle: vehicle, end: nil, records: [RecordWriter.machine(reading)]))
    }

    /// The one place that knows that contact with a box was lost (with the fault) or is back (nil).
    private func contactChanged(_ box: PolledBox, _ fault: BoxFault?) {
        metrics.withoutContact.add(box.schedule.isWithoutContact ? 1 : -1)
        let vehicle = box.registration.vehicle
        guard let more = faultLines.pass(fault?.label ?? "back") else { return }
        if let fault, box.schedule.isWithoutContact {
            log.warning(
                "no contact with a box", ["vehicle": "\(vehicle)", "fault": "\(fault)", "others_unsaid": "\(more)"])
        } else {
            log.info("contact with a box is back", ["vehicle": "\(vehicle)", "others_unsaid": "\(more)"])
        }
    }

    private func sayFigures(_ now: Int64) {
        nextFiguresMs = now + MTGGateway.figuresMs
        metrics.connections.set(lines.count)
        metrics.spoolBytes.set(spool.bytes)
        metrics.spoolRecords.set(spool.count)
        let failed = BoxFault.labels.reduce(0) { $0 + metrics.polls[$1].value }
        log.info(
            "gateway figures",
            [
                "boxes": "\(boxes.count)", "without_contact": "\(Int(metrics.withoutContact.value))",
                "polls_done": "\(metrics.polls["done"].value)", "polls_failed": "\(failed)",
                "readings": "\(metrics.readings.value)", "pushed": "\(metrics.pushed.value)",
                "spooled": "\(spool.count)", "spool_bytes": "\(spool.bytes)",
            ])
    }
}

/// A box and what is known of it from poll to poll.
private final class PolledBox {
    var registration: DeviceRegistration
    var schedule: CallSchedule
    /// Stored last, by serial number.
    var sequences: [String: Int64]
    var pageMost = MTGRequest.pageReadingsMax
    /// The last answer, or when it was first polled, by the steady clock.
    var answeredMs = Clock.steadyMs()
    /// What the workers were told last; nil: nothing yet.
    var isLost: Bool?
    /// Who waits for the end of the next call.
    var requests: [DeviceRequest] = []
    /// Nil between polls.
    var call: BoxCall?

    init(_ registration: DeviceRegistration, _ schedule: CallSchedule, _ sequences: [String: Int64]) {
        self.registration = registration
        self.schedule = schedule
        self.sequences = sequences
    }
}

/// One connection to a box.
private final class BoxCall: DeviceLine {
    let box: PolledBox
    var session: BoxSession

    init(
        _ box: PolledBox, _ stream: Stream, _ session: BoxSession, slot: Int, startMs: Int64, deadlineMs: Int64
    ) {
        self.box = box
        self.session = session
        super.init(stream, slot: slot, startMs: startMs, deadlineMs: deadlineMs)
    }
}
