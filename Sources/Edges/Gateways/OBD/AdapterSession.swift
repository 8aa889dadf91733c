package import Codecs
package import Fleet

/// One connection to one adapter: set up, asked what the car supports, then polled by the schedule, with health scans in
/// between. One request is outstanding at a time. Facts in, actions out; clocks and sockets are the caller's.
package struct AdapterSession {
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

    enum Phase: Equatable { case opening, settingUp(Int), learning(UInt8), lamp, driving, ended }
    enum Purpose: Equatable { case setUp, learn, lamp, poll(UInt8), scan }

    struct Awaited: Equatable {
        let command: AdapterCommand
        let purpose: Purpose
        let deadlineMs: Int64
    }

    /// The same again so often, while the session begins.
    static let triesMax = 3
    /// Answers of no use in a row: the car is gone, or the adapter is of no use.
    static let uselessMax = 8
    /// The same where an answer says that there is no car.
    static let noCarMax = 3
    /// A parameter that is not answered so often in a row is not asked for any more in this session.
    static let unansweredMax = 5
    /// After an answer that belongs elsewhere the line must be quiet for this long.
    static let quietMs: Int64 = 300
    static let unaskedBytesMax = 4_096
    /// A scan's request is sent when there is so much time before the next step; at least one a step is.
    static let scanRoomMs: Int64 = 250
    static let scansMax = 100

    let schedule: PollSchedule
    let answerTimeoutMs: Int64
    /// Trouble codes that were counted last; nil: unknown.
    let knownCodes: Int?

    var phase = Phase.opening
    var prompt = ELMPrompt()
    var awaited: Awaited?
    /// Nothing is sent before; bytes put it off.
    var quietUntilMs: Int64?
    var quietSinceMs: Int64 = 0
    var tries = 0
    var useless = 0
    var noCar = 0
    var misplaced = 0
    var unaskedBytes = 0
    var unanswered: [UInt8: Int] = [:]

    var supported: Set<UInt8> = []
    /// Counted after connecting; nil: the car does not say.
    var codes: Int?
    var plan: [[UInt8]] = []
    var step = 0
    var place = 0
    var stepMs: Int64 = 0
    var isStepDone = false
    var reading: CarReading?
    var scansThisStep = 0

    var scan: HealthScanRun?
    package internal(set) var scanRequests: [String] = []
    var wantsScan = false
    /// Readings that were given.
    var readings = 0

    /// When `due` is to be called.
    package internal(set) var dueMs: Int64 = .max

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

    /// The connection failed, or nobody wants the session any more: what was read so far.
    mutating func cut() -> CarReading? {
        phase = .ended
        return finished()
    }
}
