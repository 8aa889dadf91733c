package import Codecs
package import Fleet

/// One connection to one adapter: set up, asked what the car supports, then polled by the schedule, with health scans in
/// between. One request is outstanding at a time. Facts in, actions out; clocks and sockets are the caller's.
package struct AdapterSession {
    /// One moment by both clocks, epoch milliseconds and the steady one's.
    package struct Moment: Equatable {
        let steadyMs: Int64
        let wallMs: Int64

        package init(steadyMs: Int64, wallMs: Int64) { (self.steadyMs, self.wallMs) = (steadyMs, wallMs) }
    }

    package enum Action: Equatable {
        case send(AdapterCommand)
        /// The values of one step of the schedule.
        case reading(CarReading)
        /// All parameters of mode 01 that the car supports, each time it was asked.
        case supports(Set<UInt8>)
        /// Answers these requests; empty: nobody asked, the count of codes has changed.
        case scan(requests: [String], Action.Scan)
        /// An answer was of no use; the session goes on.
        case note(ELMFault, AdapterCommand)
        case end(Ending)

        package typealias Scan = Fleet.Action.HealthScan
    }

    package enum Ending: Equatable {
        /// The adapter did its part: the ignition is off.
        case parked(ELMFault)
        case fault(AdapterFault)
    }

    private enum Phase: Equatable { case opening, settingUp(Int), learning(UInt8), lamp, driving, ended }
    private enum Purpose: Equatable { case setUp, learn, lamp, poll(UInt8), scan }

    private struct Awaited: Equatable {
        let command: AdapterCommand
        let purpose: Purpose
        let deadlineMs: Int64
    }

    /// The same again so often, while the session begins.
    private static let triesMax = 3
    /// Answers of no use in a row: the car is gone, or the adapter is of no use.
    private static let uselessMax = 8
    /// The same where an answer says that there is no car.
    private static let noCarMax = 3
    /// A parameter that is not answered so often in a row is not asked for any more in this session.
    private static let unansweredMax = 5
    /// After an answer that belongs elsewhere the line must be quiet for this long.
    private static let quietMs: Int64 = 300
    private static let unaskedBytesMax = 4_096
    /// A scan's request is sent when there is so much time before the next step; at least one a step is.
    private static let scanRoomMs: Int64 = 250
    private static let scansMax = 100

    private let schedule: PollSchedule
    private let answerTimeoutMs: Int64
    /// Trouble codes that were counted last; nil: unknown.
    private let knownCodes: Int?

    private var phase = Phase.opening
    private var prompt = ELMPrompt()
    private var awaited: Awaited?
    /// Nothing is sent before; bytes put it off.
    private var quietUntilMs: Int64?
    private var quietSinceMs: Int64 = 0
    private var tries = 0
    private var useless = 0
    private var noCar = 0
    private var misplaced = 0
    private var unaskedBytes = 0
    private var unanswered: [UInt8: Int] = [:]

    private var supported: Set<UInt8> = []
    /// Counted after connecting; nil: the car does not say.
    private(set) var codes: Int?
    private var plan: [[UInt8]] = []
    private var step = 0
    private var place = 0
    private var stepMs: Int64 = 0
    private var isStepDone = false
    private var reading: CarReading?
    private var scansThisStep = 0

    private var scan: HealthScanRun?
    package private(set) var scanRequests: [String] = []
    private var wantsScan = false
    /// Readings that were given.
    private(set) var readings = 0

    /// When `due` is to be called.
    package private(set) var dueMs: Int64 = .max

    package init(schedule: PollSchedule, answerTimeoutMs: Int64, knownCodes: Int?) {
        (self.schedule, self.answerTimeoutMs, self.knownCodes) = (schedule, answerTimeoutMs, knownCodes)
    }

    var isPolling: Bool { phase == .driving }

    // MARK: - Facts

    package mutating func opened(_ now: Moment) -> [Action] {
        phase = .settingUp(0)
        return goOn(now)
    }

    /// A health scan is requested. Beyond the limit, requests get no answer in this session.
    package mutating func scanRequested(_ request: String, _ now: Moment) -> [Action] {
        guard scanRequests.count < AdapterSession.scansMax, !scanRequests.contains(request) else { return [] }
        scanRequests.append(request)
        // One that is under way answers it, too.
        wantsScan = scan == nil
        return phase == .driving && awaited == nil && quietUntilMs == nil ? goOn(now) : []
    }

    package mutating func received(_ bytes: [UInt8], _ now: Moment) -> [Action] {
        if phase == .ended { return [] }
        guard let asked = awaited else { return unasked(bytes, now) }
        var events = prompt.receive(bytes)[...]
        // Blanks after a prompt belong to nothing.
        if let end = bytes.lastIndex(of: 0x3E), AdapterSession.isBlank(bytes[(end + 1)...]) { prompt.clear() }
        // A prompt alone: of the reset, or of whoever was here before.
        while case .reply(let text)? = events.first, AdapterSession.isBlank(text[...]) {
            events.removeFirst()
            unaskedBytes += 1
            if unaskedBytes > AdapterSession.unaskedBytesMax { return end(.fault(.babble)) }
        }
        guard let event = events.popFirst() else { return [] }
        guard case .reply(let text) = event else { return end(.fault(.babble)) }
        awaited = nil
        let actions = handleReply(text, asked, now)
        let more = events.reduce(0) { $0 + AdapterSession.count($1) } + (prompt.isInReply ? 1 : 0)
        // More than was asked for: whose answer the next one would be is not sure.
        if more > 0, phase != .ended { return actions + outOfStep(more, now) }
        return actions + (awaitsNothing ? goOn(now) : [])
    }

    /// `dueMs` has come.
    package mutating func due(_ now: Moment) -> [Action] {
        guard now.steadyMs >= dueMs, phase != .ended else { return [] }
        if let awaited { return end(.fault(.late(awaited.command.text))) }
        if quietUntilMs != nil {
            quietUntilMs = nil
            prompt.clear()
        }
        return goOn(now)
    }

    /// The other side has closed.
    package mutating func closed() -> [Action] { end(.fault(.closed)) }

    /// The connection failed, or the session is no longer wanted: returns the readings so far.
    mutating func cut() -> [Action] {
        phase = .ended
        return finished()
    }

    // MARK: - What comes next

    private var awaitsNothing: Bool { awaited == nil && quietUntilMs == nil && phase != .ended }

    /// Precondition: nothing is awaited.
    private mutating func goOn(_ now: Moment) -> [Action] {
        switch phase {
        case .opening, .ended: return []
        case .settingUp(let index): return ask(AdapterCommand.setUp[index], .setUp, now)
        case .learning(let base): return ask(.obd(.current(base)), .learn, now)
        case .lamp: return ask(.obd(.readiness), .lamp, now)
        case .driving: return drive(now)
        }
    }

    private mutating func drive(_ now: Moment) -> [Action] {
        var actions: [Action] = []
        if isStepDone, now.steadyMs >= stepMs + schedule.stepMs { beginStep(now) }
        while !isStepDone {
            guard place < plan[step].count else {
                isStepDone = true
                actions += finished()
                break
            }
            let pid = plan[step][place]
            if unanswered[pid, default: 0] < AdapterSession.unansweredMax {
                return actions + ask(.obd(.current(pid)), .poll(pid), now)
            }
            place += 1
        }
        let nextMs = stepMs + schedule.stepMs
        if scan == nil, wantsScan {
            scan = HealthScanRun(supported: supported)
            wantsScan = false
        }
        if let request = scan?.request,
            scansThisStep == 0 || now.steadyMs + AdapterSession.scanRoomMs <= nextMs
        {
            scansThisStep += 1
            return actions + ask(.obd(request), .scan, now)
        }
        // A slow adapter has used the time up: on with the next step.
        if now.steadyMs >= nextMs {
            beginStep(now)
            return actions + drive(now)
        }
        dueMs = nextMs
        return actions
    }

    private mutating func beginStep(_ now: Moment) {
        // Missed steps are not made up for; steps keep their order, so that nothing is left out.
        let nextMs = stepMs + schedule.stepMs
        stepMs = now.steadyMs >= nextMs + schedule.stepMs ? now.steadyMs : nextMs
        step = (step + 1) % plan.count
        (place, isStepDone, scansThisStep) = (0, false, 0)
    }

    /// The reading of the step so far.
    private mutating func finished() -> [Action] {
        guard let reading, !reading.isEmpty else { return [] }
        self.reading = nil
        readings += 1
        return [.reading(reading)]
    }

    private mutating func ask(_ command: AdapterCommand, _ purpose: Purpose, _ now: Moment) -> [Action] {
        // Finding the protocol takes an adapter as long as all others together.
        let patienceMs = purpose == .learn ? 2 * answerTimeoutMs : answerTimeoutMs
        awaited = Awaited(command: command, purpose: purpose, deadlineMs: now.steadyMs + patienceMs)
        dueMs = awaited!.deadlineMs
        prompt.clear()
        return [.send(command)]
    }

    private mutating func end(_ ending: Ending) -> [Action] {
        phase = .ended
        dueMs = .max
        return finished() + [.end(ending)]
    }

    // MARK: - Out of step

    private static func count(_ event: ELMPrompt.Event) -> Int {
        if case .reply(let text) = event { text.count + 1 } else { ELMPrompt.bytesMax }
    }

    private static func isBlank(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { [0x00, 0x09, 0x0A, 0x0D, 0x20].contains($0) }
    }

    /// Bytes while nothing is asked, or while the line is to be quiet.
    private mutating func unasked(_ bytes: [UInt8], _ now: Moment) -> [Action] {
        unaskedBytes += bytes.count
        if unaskedBytes > AdapterSession.unaskedBytesMax { return end(.fault(.babble)) }
        return AdapterSession.isBlank(bytes[...]) ? [] : hush(now)
    }

    /// Sends nothing until the line is quiet, so that late bytes are not taken for the next answer.
    private mutating func hush(_ now: Moment) -> [Action] {
        if quietUntilMs == nil { quietSinceMs = now.steadyMs }
        if now.steadyMs - quietSinceMs > answerTimeoutMs { return end(.fault(.babble)) }
        quietUntilMs = now.steadyMs + AdapterSession.quietMs
        dueMs = quietUntilMs!
        return []
    }

    private mutating func outOfStep(_ bytes: Int, _ now: Moment) -> [Action] {
        awaited = nil
        misplaced += 1
        unaskedBytes += bytes
        if misplaced > AdapterSession.uselessMax || unaskedBytes > AdapterSession.unaskedBytesMax {
            return end(.fault(.outOfStep))
        }
        return hush(now)
    }

    // MARK: - Answers

    private mutating func handleReply(_ text: [UInt8], _ asked: Awaited, _ now: Moment) -> [Action] {
        guard case .obd(let request) = asked.command else { return handleSetUpReply(text, asked.command, now) }
        do throws(ELMFault) {
            let answers = try ELMReply.answers(text, to: request)
            (useless, noCar, misplaced, unaskedBytes, tries) = (0, 0, 0, 0, 0)
            return handle(answers, to: request, asked.purpose, now)
        } catch {
            if case .otherAnswer = error { return [.note(error, asked.command)] + outOfStep(0, now) }
            return handle(error, asked, now)
        }
    }

    private mutating func handleSetUpReply(_ text: [UInt8], _ command: AdapterCommand, _ now: Moment) -> [Action] {
        guard case .settingUp(let index) = phase else { return [] }
        let lines = try? ELMReply.text(text, to: command.text)  // Only OK is waited for, and only at the end.
        if command == .findProtocol, lines?.contains(where: { $0.contains("OK") }) != true {
            tries += 1
            guard tries < AdapterSession.triesMax else {
                let answer = String(
                    decoding: text.prefix(40).map { (0x20...0x7E).contains($0) ? $0 : 0x2E }, as: UTF8.self)
                return end(.fault(.notAdapter(command: command.text, answer: answer)))
            }
            return []
        }
        tries = 0
        phase = index + 1 < AdapterCommand.setUp.count ? .settingUp(index + 1) : .learning(0)
        return []
    }

    private mutating func handle(
        _ answers: [OBDAnswer], to request: OBDRequest, _ purpose: Purpose, _ now: Moment
    ) -> [Action] {
        // A unit without the value is passed over.
        let values = answers.lazy.compactMap { try? $0.values(of: request) }
        switch purpose {
        case .setUp: return []
        case .learn:
            guard case .learning(let base) = phase else { return [] }
            for value in values.joined() { if case .supported(let pids) = value.content { supported.formUnion(pids) } }
            let next = base + 0x20
            if next <= 0x40, supported.contains(next) {
                phase = .learning(next)
                return []
            }
            return learned(now)
        case .lamp:
            var count = 0
            for value in values.joined() {
                if case .readiness(let readiness) = value.content { count += readiness.codeCount ?? 0 }
            }
            codes = count
            wantsScan = wantsScan || count != (knownCodes ?? 0)
            beginDriving(now)
        case .poll(let pid):
            unanswered[pid] = nil
            place += 1
            // Of several units that answer the first one counts: the engine's has the smallest number.
            guard let (signal, stored) = values.lazy.compactMap({ OBDSignals.value(pid, of: $0) }).first else { break }
            if reading == nil { reading = CarReading(ts: now.wallMs) }
            reading![signal] = stored
        case .scan:
            scan?.accept(answers)
            return scanned()
        }
        return []
    }

    private mutating func learned(_ now: Moment) -> [Action] {
        plan = schedule.plan(supported: supported)
        let actions = [Action.supports(supported)]
        guard plan.contains(where: { !$0.isEmpty }) else { return actions + end(.fault(.nothingSupported)) }
        if supported.contains(0x01) { phase = .lamp } else { beginDriving(now) }
        return actions
    }

    private mutating func beginDriving(_ now: Moment) {
        (phase, stepMs, isStepDone, place) = (.driving, now.steadyMs, false, 0)
    }

    private mutating func scanned() -> [Action] {
        guard let run = scan, run.request == nil else { return [] }
        scan = nil
        defer { scanRequests = [] }
        return [.scan(requests: scanRequests, run.result)]
    }

    private mutating func handle(_ fault: ELMFault, _ asked: Awaited, _ now: Moment) -> [Action] {
        let note = Action.note(fault, asked.command)
        switch (fault.remedy, asked.purpose) {
        case (.resetAdapter, _): return [note] + end(.fault(.troubled(fault)))
        case (.waitForCar, .learn), (.waitForCar, .lamp): return end(.parked(fault))
        case (.doNotAsk, .learn):
            guard case .learning(let base) = phase else { return [] }
            // No car answers; or a mask that the one before has promised is not there.
            if base == 0 { return end(fault == .said(.noData) ? .parked(fault) : .fault(.troubled(fault))) }
            return [note] + learned(now)
        case (_, .scan):
            scan?.refused(fault)
            return scanned()
        case (.askAgain, .learn), (.askAgain, .lamp):
            tries += 1
            if tries >= AdapterSession.triesMax { return [note] + end(.fault(.troubled(fault))) }
            return [note] + hush(now)
        case (_, .lamp):
            beginDriving(now)
            return [note]
        case (_, .poll(let pid)): return [note] + unpolled(pid, fault, now)
        case (_, .setUp): return []
        }
    }

    private mutating func unpolled(_ pid: UInt8, _ fault: ELMFault, _ now: Moment) -> [Action] {
        place += 1
        useless += 1
        unanswered[pid, default: 0] += fault.remedy == .doNotAsk ? 1 : 0
        noCar = fault.remedy == .waitForCar ? noCar + 1 : 0
        if noCar >= AdapterSession.noCarMax { return end(.parked(fault)) }
        if useless >= AdapterSession.uselessMax {
            return end(fault == .said(.noData) || noCar > 0 ? .parked(fault) : .fault(.troubled(fault)))
        }
        return fault.remedy == .askAgain ? hush(now) : []
    }
}
