internal import Codecs
internal import Fleet
internal import Ingest
internal import Storage
internal import Telemetry

/// Polls all devices of one kind: one thread and one event queue for all connections, nothing in it waits for a device.
/// What devices say goes into the spool, in one transaction for all of them.
final class DevicePoller<Driver: DeviceDriver> {
    typealias Device = Driver.Device
    typealias Call = Driver.Call

    private let driver: Driver
    let settings: GatewaySettings
    let log: Log
    let spool: Spool
    private let registry: DeviceRegistry
    private let drain: SpoolDrain
    private let lines: DeviceLines<Call>
    private let faultLines = Throttle(periodMs: 10_000)
    private var chance = SystemRandomNumberGenerator()

    private var devices: [VehicleID: Device] = [:]
    /// Pages of this round, with their calls, which wait until they are stored.
    private var toStore: [(call: Call, page: SpooledPage)] = []
    /// Pages that are told besides; kept until they are stored.
    private var news: [SpooledPage] = []
    private var unanswered: Unanswered<DeviceRequest>
    private var nextLookMs: Int64 = 0
    private var nextStoreMs: Int64 = 0
    private var nextFiguresMs: Int64
    private var isFull = false

    private static var figuresMs: Int64 { 60_000 }

    init(_ driver: Driver, _ parts: GatewayDependencies) throws {
        self.driver = driver
        settings = parts.settings
        log = parts.log
        spool = parts.spool
        registry = parts.registry
        drain = parts.drain
        lines = try DeviceLines()
        nextFiguresMs = Clock.steadyMs() + Self.figuresMs
        unanswered = Unanswered(afterMs: parts.settings.failureToldMs)
    }

    /// Returns when `shouldStop` says so. What was said by then is in the spool or at the broker.
    func run(shouldStop: () -> Bool) {
        while !shouldStop() {
            for call in lines.ready(timeoutMs: Int32(Driver.lookMs)) { goOn(call) }
            let storeMs = Clock.steadyMs()
            if storeMs >= nextStoreMs { store(storeMs) }
            // Storing may have waited for the disk.
            let now = now()
            if now.steadyMs >= nextLookMs { look(now) }
        }
        for case let call? in lines.all {
            tell(driver.cut(call))
            close(call)
        }
        store(Clock.steadyMs())
        sayFigures(Clock.steadyMs())
    }

    private func look(_ now: Moment) {
        nextLookMs = now.steadyMs + Driver.lookMs
        if let registered = registry.drainRegistrations(of: Driver.kind) { register(registered, now) }
        for request in registry.drainRequests(of: Driver.kind) { ask(request, now) }
        for case let call? in lines.all { act(driver.looked(at: call, now), call) }
        for request in unanswered.due(nowMs: now.steadyMs) {
            answer(request, isDone: false, Unanswered<DeviceRequest>.sentence(Driver.words.device))
        }
        callDue(now)
        if now.steadyMs >= nextFiguresMs { sayFigures(now.steadyMs) }
    }

    private func now() -> Moment { Moment(steadyMs: Clock.steadyMs(), wallMs: Clock.nowMs()) }

    private func sayFigures(_ nowMs: Int64) {
        nextFiguresMs = nowMs + Self.figuresMs
        driver.gauges.connections.set(lines.count)
        driver.sayFigures(devices: devices.count, calls: lines.all.compactMap(\.self))
    }

    // MARK: - Whom to poll

    private func register(_ registered: [DeviceRegistration], _ now: Moment) {
        var left = devices
        for registration in registered {
            if let device = left.removeValue(forKey: registration.vehicle) {
                let isElsewhere = !device.registration.isAtPlace(of: registration)
                device.registration = registration
                if isElsewhere, let call = device.call { act(driver.moved(call), call) }
            } else {
                devices[registration.vehicle] = device(of: registration, now)
            }
        }
        for device in left.values { drop(device) }
        if !left.isEmpty || driver.gauges.polled.value != Double(devices.count) {
            log.info(
                "\(Driver.words.devices) to poll",
                [Driver.words.devices: "\(devices.count)", "dropped": "\(left.count)"])
        }
        driver.gauges.polled.set(devices.count)
    }

    private func device(of registration: DeviceRegistration, _ now: Moment) -> Device {
        let schedule = CallSchedule(
            nowMs: now.steadyMs, intervalMs: driver.intervalMs, backOffMsMax: settings.backOffMsMax, chance: &chance)
        return Device(registration, schedule, driver.memory(of: registration))
    }

    /// Disabled, or given another way to report: nobody waits for it any more.
    private func drop(_ device: Device) {
        if let call = device.call { act(driver.moved(call), call) }
        if let call = device.call { close(call) }
        if device.schedule.isWithoutContact { driver.gauges.withoutContact.add(-1) }
        devices[device.vehicle] = nil
        tell(driver.dropped(device))
        for request in device.requests { unanswered.failed(request) }
    }

    private func ask(_ request: DeviceRequest, _ now: Moment) {
        unanswered.asked(request, nowMs: now.steadyMs)
        guard let device = devices[request.vehicle] else {
            log.warning(
                "somebody asks for a \(Driver.words.vehicle) that is not polled", ["vehicle": "\(request.vehicle)"])
            return unanswered.failed(request)
        }
        guard !isFull else { return answer(request, isDone: false, "the spool is full; see to the broker") }
        if let call = device.call {
            act(driver.requested(request, on: call, now), call)
        } else {
            device.requests.append(request)
            device.schedule.callNow(nowMs: now.steadyMs)
        }
    }

    private func callDue(_ now: Moment) {
        guard !isSpoolFull() else { return }
        for device in devices.values where device.call == nil && device.schedule.nextMs <= now.steadyMs {
            guard lines.count < settings.connectionsMax else {
                if let more = faultLines.pass("connections") {
                    log.warning(
                        "as many connections as gateway.connections_max allows: \(Driver.words.polled) wait for their turn",
                        ["connections_max": "\(settings.connectionsMax)", "repeated": "\(more)"])
                }
                return
            }
            call(device, now)
        }
    }

    // MARK: - One connection

    private func call(_ device: Device, _ now: Moment) {
        do throws(LineFault) {
            device.call = try lines.open(to: device.registration) { stream, slot in
                Call(
                    device, stream, driver.session(with: device, now), slot: slot, startMs: now.steadyMs,
                    deadlineMs: now.steadyMs + settings.answerTimeoutMs)
            }
        } catch {
            ended(device, nil, startMs: now.steadyMs, driver.ending(error))
        }
    }

    /// Something can be read or written.
    private func goOn(_ call: Call) {
        let now = now()
        for fact in lines.facts(of: call) where lines.has(call) { act(driver.happened(fact, on: call, now), call) }
    }

    private func act(_ actions: [Driver.DriverAction], _ call: Call) {
        for action in actions {
            switch action {
            case .send(let bytes):
                call.deadlineMs = Clock.steadyMs() + settings.answerTimeoutMs
                do throws(LineFault) { try lines.send(bytes, to: call) } catch {
                    return end(call, driver.ending(error))
                }
            case .store(let page): toStore.append((call, page))
            case .tell(let news): tell([news])
            case .end(let ending): end(call, ending)
            }
        }
    }

    private func end(_ call: Call, _ ending: Driver.Ending) {
        guard lines.has(call) else { return }
        tell(driver.cut(call))
        close(call)
        ended(call.device, call.session, startMs: call.startMs, ending)
    }

    private func close(_ call: Call) {
        lines.close(call)
        call.device.call = nil
    }

    private func ended(_ device: Device, _ session: Driver.Session?, startMs: Int64, _ ending: Driver.Ending) {
        let wasWithoutContact = device.schedule.isWithoutContact
        tell(driver.ended(device, session, startMs: startMs, ending))
        guard device.schedule.isWithoutContact != wasWithoutContact else { return }
        driver.gauges.withoutContact.add(wasWithoutContact ? -1 : 1)
        driver.contactChanged(device, ending)
    }

    // MARK: - What is told, and the spool

    private func tell(_ all: [DeviceNews]) {
        for told in all {
            switch told {
            case .put(let page): news.append(page)
            case .answer(let request, let isDone, let text): answer(request, isDone: isDone, text)
            case .answered(let request): unanswered.answered(request)
            case .failed(let request): unanswered.failed(request)
            }
        }
    }

    private func answer(_ request: DeviceRequest, isDone: Bool, _ text: String) {
        unanswered.answered(request)
        let action = driver.answer(request, isDone: isDone, text)
        news.append(
            SpooledPage(
                topic: Driver.topic, vehicle: request.vehicle, end: nil, records: [RecordWriter.action(action)]))
    }

    /// Stores the pages in one transaction; then the calls that wait for it go on.
    private func store(_ nowMs: Int64) {
        nextStoreMs = nowMs + Driver.storeMs
        guard !toStore.isEmpty || !news.isEmpty else { return }
        let pages = toStore.filter { lines.has($0.call) }
        toStore = []
        do throws(SpoolError) {
            try spool.append(news + pages.map(\.page))
        } catch {
            return unstored(pages.map(\.call), error)
        }
        news = []
        drain.notice()
        let isFull = isSpoolFull()
        for (call, page) in pages { act(driver.stored(page, of: call, isFull: isFull), call) }
    }

    private func unstored(_ calls: [Call], _ error: SpoolError) {
        let kept = news.count
        for call in calls { end(call, driver.unstored(error)) }
        guard let more = faultLines.pass("spool") else { return }
        driver.cannotStore(error, kept: kept, repeated: more)
    }

    private func isSpoolFull() -> Bool {
        let wasFull = isFull
        isFull = spool.bytes >= settings.spoolBytesMax || news.count >= Driver.unstoredMax
        if isFull, !wasFull {
            log.error(
                Driver.words.spoolFull,
                [
                    "bytes": "\(spool.bytes)", "spool_bytes_max": "\(settings.spoolBytesMax)",
                    "spooled": "\(spool.count)",
                ])
            for case let call? in lines.all { act(driver.spoolFilled(call), call) }
        } else if wasFull, !isFull {
            log.info(
                "the spool has room again; \(Driver.words.polled) are polled", ["bytes": "\(spool.bytes)"])
            for device in devices.values { driver.spoolHasRoom(for: device) }
        }
        return isFull
    }
}
