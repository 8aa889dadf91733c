internal import Codecs
internal import Fleet
internal import Ingest
internal import Storage
internal import Telemetry

/// How boxes are polled: a `BoxSession` a connection. What they give is stored once a round, in one transaction for all of
/// them; only then are they asked for more.
final class BoxDriver: DeviceDriver {
    typealias Session = BoxSession
    /// Nil: it gave all that it has.
    typealias Ending = BoxFault?

    /// The memory of a box from poll to poll.
    struct Memory {
        /// Stored last, by serial number.
        var sequences: [String: Int64]
        var pageMost = MTGRequest.pageReadingsMax
        /// The last answer, or when it was first polled, by the steady clock.
        var answeredMs = Clock.steadyMs()
        /// True: the workers were told last that contact is lost; nil: nothing was told yet.
        var isLost: Bool?
    }

    static let kind = VehicleKind.machine
    static let topic = Topic.machines
    static let lookMs: Int64 = 50
    static let storeMs: Int64 = 0
    /// Boxes keep their readings.
    static let unstoredMax = Int.max
    static let words = DeviceWords(
        device: "box", devices: "boxes", vehicle: "machine", polled: "boxes",
        spoolFull:
            "the spool is full: boxes are not polled and keep their readings until the broker takes what is spooled")

    private let settings: GatewaySettings
    private let log: Log
    private let metrics: GatewayMetrics
    private let spool: Spool
    private let faultLines = Throttle(periodMs: 10_000)
    private var chance = SystemRandomNumberGenerator()
    /// Sequence numbers that were stored before, until the box is met.
    private var sequences: [String: [String: Int64]]

    init(_ parts: GatewayDependencies) throws {
        settings = parts.settings
        log = parts.log
        metrics = parts.metrics
        spool = parts.spool
        sequences = settings.asksAgain ? [:] : try spool.sequences()
    }

    var intervalMs: Int64 { settings.pollIntervalMs }
    var gauges: DeviceGauges { metrics.ofBoxes }

    func memory(of registration: DeviceRegistration) -> Memory {
        Memory(sequences: sequences.removeValue(forKey: registration.vehicle.text) ?? [:])
    }

    func session(with box: Device, _ now: Moment) -> BoxSession {
        BoxSession(known: box.memory.sequences, pageMost: box.memory.pageMost)
    }

    func ending(_ fault: LineFault) -> BoxFault? { BoxFault(fault) }

    // MARK: - One call

    func happened(_ fact: LineFact, on call: Call, _ now: Moment) -> [DriverAction] {
        switch fact {
        case .opened: actions(call.session.opened(), call)
        case .received(let bytes): actions(call.session.received(bytes), call)
        case .closed: actions(call.session.closed(), call)
        case .failed(let fault): [.end(BoxFault(fault))]
        }
    }

    private func actions(_ action: BoxSession.Action, _ call: Call) -> [DriverAction] {
        switch action {
        case .wait: []
        case .ask(let request): [.send(request.encoded())]
        case .store(let readings, let serial): [.store(page(readings, serial, call.device))]
        case .done: [.end(nil)]
        case .fail(let fault): [.end(fault)]
        }
    }

    private func page(_ readings: [MTGReading], _ serial: String, _ box: Device) -> SpooledPage {
        let model = box.registration.model
        metrics.droppedFields.add(readings.reduce(0) { $0 + $1.droppedFields })
        return SpooledPage(
            topic: Topic.machines, vehicle: box.vehicle,
            end: SpooledPage.End(serial: serial, sequence: readings.last!.sequence),
            records: readings.map { reading in
                var reading = reading.machineReading(vehicle: box.vehicle, model: model)
                reading.isReporting = reading.isReporting && settings.expectsReports
                return RecordWriter.machine(reading)
            })
    }

    func stored(_ page: SpooledPage, of call: Call, isFull: Bool) -> [DriverAction] {
        metrics.readings.add(page.records.count)
        let place = page.end!
        let was = call.device.memory.sequences[place.serial] ?? 0
        if call.session.wasReset, was >= place.sequence {
            log.warning(
                "a box counts its readings from the beginning again",
                ["vehicle": "\(page.vehicle)", "was": "\(was)"])
        }
        call.device.memory.sequences[place.serial] = place.sequence
        let next = call.session.stored()
        // The backlog waits in the box, which has been told of what we have.
        if isFull, case .ask = next { return [.end(nil)] }
        return actions(next, call)
    }

    func unstored(_ error: SpoolError) -> BoxFault? { .spool(error.description) }

    /// It waits for the end of the call.
    func requested(_ request: DeviceRequest, on call: Call, _ now: Moment) -> [DriverAction] {
        call.device.requests.append(request)
        return []
    }

    func looked(at call: Call, _ now: Moment) -> [DriverAction] {
        if now.steadyMs >= call.startMs + settings.connectionMsMax { return [.end(.overlong)] }
        guard now.steadyMs >= call.deadlineMs else { return [] }
        return [.end(call.isOpen ? .late : BoxFault(.noConnectionInTime))]
    }

    /// The poll goes on where it is.
    func moved(_ call: Call) -> [DriverAction] { [] }
    func spoolFilled(_ call: Call) -> [DriverAction] { [] }
    func cut(_ call: Call) -> [DeviceNews] { [] }

    // MARK: - How a call ends

    func ended(_ box: Device, _ session: BoxSession?, startMs: Int64, _ fault: BoxFault?) -> [DeviceNews] {
        let readings = session?.readings ?? 0
        var news = box.takeRequests().map { told($0, readings, fault) }
        let nowMs = Clock.steadyMs()
        metrics.polls[fault?.label ?? "done"].add()
        metrics.pollTime.observe(ms: Double(nowMs - startMs))
        switch fault {
        case nil:
            box.schedule.succeeded(nowMs: nowMs)
            box.memory.pageMost = MTGRequest.pageReadingsMax
        // The box did its part: contact is not lost, and it is asked again at its time.
        case .spool: box.schedule.succeeded(nowMs: nowMs)
        case let fault?: failed(box, madeProgress: readings > 0, fault, nowMs)
        }
        if let contact = contact(with: box, isDone: fault?.isDeviceFault != true, madeProgress: readings > 0, nowMs) {
            news.append(.put(page(contact, of: box)))
        }
        return news
    }

    private func failed(_ box: Device, madeProgress: Bool, _ fault: BoxFault, _ nowMs: Int64) {
        box.schedule.failed(nowMs: nowMs, madeProgress: madeProgress, chance: &chance)
        // Contact is judged when it is due, not a back-off later.
        let judgedMs = box.memory.answeredMs + settings.contactLostMs
        if judgedMs > nowMs { box.schedule.callNoLater(than: judgedMs) }
        // A bad line lets smaller pages through.
        if !madeProgress { box.memory.pageMost = max(1, box.memory.pageMost / 2) }
        log.debug("a poll failed", ["vehicle": "\(box.vehicle)", "fault": "\(fault)"])
    }

    /// The answer to a request. Faults of the box, and how it failed, are for the log only.
    private func told(_ request: DeviceRequest, _ readings: Int, _ fault: BoxFault?) -> DeviceNews {
        guard let fault else {
            return .answer(request, isDone: true, readings == 1 ? "1 new reading" : "\(readings) new readings")
        }
        guard fault.isDeviceFault else { return .answer(request, isDone: false, "\(fault). \(fault.advice)") }
        log.warning(
            "somebody asks for a box that does not answer",
            ["vehicle": "\(request.vehicle)", "fault": "\(fault)", "do": "\(fault.advice)"])
        return .failed(request)
    }

    func answer(_ request: DeviceRequest, isDone: Bool, _ text: String) -> Action {
        let ts = Clock.nowMs()
        return Action(
            id: "\(request.id.prefix(50))-\(String(ts, radix: 36))", vehicle: request.vehicle, ts: ts, by: "gateway",
            note: nil, kind: .pollAnswer(request: request.id, isDone: isDone, text: text))
    }

    // MARK: - Contact

    private enum Contact { case heard, lost, ended }

    /// The contact that the workers are to be told of: that the box has not answered for long, and that it does again, after its
    /// backlog, or each of its readings would come late. The first answer after a start is told, too: whether contact was
    /// lost before is not known here.
    private func contact(with box: Device, isDone: Bool, madeProgress: Bool, _ nowMs: Int64) -> Contact? {
        if isDone || madeProgress { box.memory.answeredMs = nowMs }
        let isLost = !isDone && nowMs - box.memory.answeredMs >= settings.contactLostMs
        // Of a box that never gave a reading nothing is expected.
        guard isDone || isLost, box.memory.isLost != isLost, !box.memory.sequences.isEmpty else { return nil }
        box.memory.isLost = isLost
        return isLost ? .lost : .heard
    }

    private func page(_ contact: Contact, of box: Device) -> SpooledPage {
        // Not on a whole second, where the box's own readings are: one reading a time.
        let ts = Clock.nowMs() / 1_000 * 1_000 + 500
        var reading = MachineReading(
            vehicle: box.vehicle, ts: ts, id: "contact-\(ts)", model: box.registration.model ?? "unknown")
        reading.values[.contact] = contact == .lost ? 0 : 1
        reading.isReporting = contact == .heard && settings.expectsReports
        return SpooledPage(
            topic: Topic.machines, vehicle: box.vehicle, end: nil, records: [RecordWriter.machine(reading)])
    }

    func dropped(_ box: Device) -> [DeviceNews] {
        sequences[box.vehicle.text] = box.memory.sequences
        return box.memory.sequences.isEmpty ? [] : [.put(page(.ended, of: box))]
    }

    /// Nobody has asked them meanwhile.
    func spoolHasRoom(for box: Device) { box.memory.answeredMs = Clock.steadyMs() }

    // MARK: - The log

    /// The one place that says that contact with a box was lost (with the fault) or is back (nil).
    func contactChanged(_ box: Device, _ fault: BoxFault?) {
        guard let more = faultLines.pass(fault?.label ?? "back") else { return }
        if let fault, box.schedule.isWithoutContact {
            log.warning(
                "no contact with a box", ["vehicle": "\(box.vehicle)", "fault": "\(fault)", "others_unsaid": "\(more)"])
        } else {
            log.info("contact with a box is back", ["vehicle": "\(box.vehicle)", "others_unsaid": "\(more)"])
        }
    }

    func cannotStore(_ error: SpoolError, kept: Int, repeated: Int) {
        log.error("readings cannot be stored; boxes keep them", ["error": "\(error)", "repeated": "\(repeated)"])
    }

    func sayFigures(devices: Int, calls: [Call]) {
        metrics.spoolBytes.set(spool.bytes)
        metrics.spoolRecords.set(spool.count)
        let failed = BoxFault.labels.reduce(0) { $0 + metrics.polls[$1].value }
        log.info(
            "gateway figures",
            [
                "boxes": "\(devices)", "without_contact": "\(Int(metrics.withoutContact.value))",
                "polls_done": "\(metrics.polls["done"].value)", "polls_failed": "\(failed)",
                "readings": "\(metrics.readings.value)", "pushed": "\(metrics.pushed.value)",
                "spooled": "\(spool.count)", "spool_bytes": "\(spool.bytes)",
            ])
    }
}
