internal import Fleet
internal import Routing

/// Decisions, made here or read from the log.
extension CampusDispatcher {
    @discardableResult
    mutating func decide(
        _ event: DispatchEvent, _ name: String, _ request: String?, _ turn: inout Turn, reason: String? = nil
    ) throws(Undecided) -> Decision {
        guard campus.isDecided(event, atMs: turn.nowMs) else {
            return campus.apply(event, atMs: turn.nowMs, seed: 0)
        }
        // Whose ride it was.
        let carrier = reason == nil ? nil : request.flatMap { campus.ride($0)?.vehicle }
        let decision: Decision
        var isAnew = false
        switch turn.source {
        case .none: throw Undecided()
        case .here: decision = decide(event, turn)
        case .record(let given):
            if turn.step < given.count, campus.replay(event, atMs: turn.nowMs, given[turn.step]) {
                decision = given[turn.step]
            } else {
                // It was made by rules that are no more: what is here now decides.
                (decision, isAnew) = (decide(event, turn), true)
            }
        }
        turn.step += 1
        var step = Step(event: name, request: request, decision: decision)
        (step.vehicle, step.reason, step.isAnew) = (event.vehicle ?? carrier, reason, isAnew)
        steps.append(step)
        turn.touched.formUnion(decision.itineraries.map(\.vehicle))
        for expired in decision.expired { finish(expired, .expired, "no vehicle had room in time", turn) }
        return decision
    }

    mutating func decide(_ event: DispatchEvent, _ turn: Turn) -> Decision {
        // Sixteen steps an offset are more than a record takes; each has chance of its own.
        campus.apply(event, atMs: turn.nowMs, seed: UInt64(bitPattern: turn.offset &* 16 &+ Int64(turn.step)))
    }
}

extension DispatchEvent {
    /// Which one it happened to, where it is no ride's.
    fileprivate var vehicle: String? {
        switch self {
        case .left(let vehicle), .brokeDown(let vehicle), .fellSilent(let vehicle): vehicle
        case .requested, .cancelled, .overridden, .pickedUp, .droppedOff, .ended, .handedOver, .entered, .moved,
            .rulesChanged, .surgeChanged, .travelTimesChanged, .timesMeasured, .timePassed:
            nil
        }
    }
}
