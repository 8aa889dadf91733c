internal import Codecs
internal import Fleet

/// The handling of answers, and of bytes that are none.
extension AdapterSession {
    // MARK: - Out of step

    static func count(_ event: ELMPrompt.Event) -> Int {
        if case .reply(let text) = event { text.count + 1 } else { ELMPrompt.bytesMax }
    }

    static func isBlank(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { [0x00, 0x09, 0x0A, 0x0D, 0x20].contains($0) }
    }

    /// Bytes while nothing is asked, or while the line is to be quiet.
    mutating func unasked(_ bytes: [UInt8], _ now: Moment) -> [Action] {
        unaskedBytes += bytes.count
        if unaskedBytes > AdapterSession.unaskedBytesMax { return end(.fault(.babble)) }
        return AdapterSession.isBlank(bytes[...]) ? [] : hush(now)
    }

    /// Nothing is asked until the line is quiet: what still comes is not taken for the next answer.
    mutating func hush(_ now: Moment) -> [Action] {
        if quietUntilMs == nil { quietSinceMs = now.steadyMs }
        if now.steadyMs - quietSinceMs > answerTimeoutMs { return end(.fault(.babble)) }
        quietUntilMs = now.steadyMs + AdapterSession.quietMs
        dueMs = quietUntilMs!
        return []
    }

    mutating func outOfStep(_ bytes: Int, _ now: Moment) -> [Action] {
        awaited = nil
        misplaced += 1
        unaskedBytes += bytes
        if misplaced > AdapterSession.uselessMax || unaskedBytes > AdapterSession.unaskedBytesMax {
            return end(.fault(.outOfStep))
        }
        return hush(now)
    }

    // MARK: - Answers

    mutating func handleReply(_ text: [UInt8], _ asked: Awaited, _ now: Moment) -> [Action] {
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

    mutating func handleSetUpReply(_ text: [UInt8], _ command: AdapterCommand, _ now: Moment) -> [Action] {
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

    mutating func handle(
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

    mutating func learned(_ now: Moment) -> [Action] {
        plan = schedule.plan(supported: supported)
        let actions = [Action.supports(supported)]
        guard plan.contains(where: { !$0.isEmpty }) else { return actions + end(.fault(.nothingSupported)) }
        if supported.contains(0x01) { phase = .lamp } else { beginDriving(now) }
        return actions
    }

    mutating func beginDriving(_ now: Moment) {
        (phase, stepMs, isStepDone, place) = (.driving, now.steadyMs, false, 0)
    }

    mutating func scanned() -> [Action] {
        guard let run = scan, run.request == nil else { return [] }
        scan = nil
        defer { scanRequests = [] }
        return [.scan(requests: scanRequests, run.result)]
    }

    mutating func handle(_ fault: ELMFault, _ asked: Awaited, _ now: Moment) -> [Action] {
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

    mutating func unpolled(_ pid: UInt8, _ fault: ELMFault, _ now: Moment) -> [Action] {
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
