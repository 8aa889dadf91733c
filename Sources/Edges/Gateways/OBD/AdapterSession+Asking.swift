internal import Codecs
internal import Fleet

/// The choice of what is asked next.
extension AdapterSession {
    var awaitsNothing: Bool { awaited == nil && quietUntilMs == nil && phase != .ended }

    /// Precondition: nothing is awaited.
    mutating func goOn(_ now: Moment) -> [Action] {
        switch phase {
        case .opening, .ended: return []
        case .settingUp(let index): return ask(AdapterCommand.setUp[index], .setUp, now)
        case .learning(let base): return ask(.obd(.current(base)), .learn, now)
        case .lamp: return ask(.obd(.readiness), .lamp, now)
        case .driving: return drive(now)
        }
    }

    mutating func drive(_ now: Moment) -> [Action] {
        var actions: [Action] = []
        if isStepDone, now.steadyMs >= stepMs + schedule.stepMs { beginStep(now) }
        while !isStepDone {
            guard place < plan[step].count else {
                isStepDone = true
                if let reading = finished() { actions.append(.reading(reading)) }
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

    mutating func beginStep(_ now: Moment) {
        // What was missed by a whole step is not made up for; steps keep their order, so that nothing is left out.
        let nextMs = stepMs + schedule.stepMs
        stepMs = now.steadyMs >= nextMs + schedule.stepMs ? now.steadyMs : nextMs
        step = (step + 1) % plan.count
        (place, isStepDone, scansThisStep) = (0, false, 0)
    }

    /// The reading of the step so far.
    mutating func finished() -> CarReading? {
        guard let reading, !reading.isEmpty else { return nil }
        self.reading = nil
        readings += 1
        return reading
    }

    mutating func ask(_ command: AdapterCommand, _ purpose: Purpose, _ now: Moment) -> [Action] {
        // Finding the protocol takes an adapter as long as all others together.
        let patienceMs = purpose == .learn ? 2 * answerTimeoutMs : answerTimeoutMs
        awaited = Awaited(command: command, purpose: purpose, deadlineMs: now.steadyMs + patienceMs)
        dueMs = awaited!.deadlineMs
        prompt.clear()
        return [.send(command)]
    }

    mutating func end(_ ending: Ending) -> [Action] {
        phase = .ended
        dueMs = .max
        return (finished().map { [.reading($0)] } ?? []) + [.end(ending)]
    }
}
