package import Codecs

/// Why a poll of a box ended before it was done.
package enum BoxFault: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    /// Its certificate is not the pinned one, or has expired.
    case distrusted(String)
    /// No whole answer in time, however many bytes came.
    case late
    case closed
    case notMTG(MTGError)
    /// Bytes that nobody asked for, or the answer to another question.
    case unasked
    case refused(MTGRefusal?)
    /// The connection took longer than one may; what was stored stays, the next one goes on.
    case overlong
    case spool(String)

    init(_ fault: LineFault) {
        self =
            switch fault {
            case .unreachable(let why): .unreachable(why)
            case .distrusted(let why): .distrusted(why)
            }
    }

    /// Advice to a person on the fault.
    var advice: String {
        switch self {
        case .unreachable: "Is the box on, in reach, and its address right?"
        case .distrusted:
            "Compare certificate_sha256 of its registration with the box's own; renew it when it has expired."
        case .late, .closed, .overlong: "Try again when the connection is better: what was stored stays."
        case .notMTG, .unasked, .refused: "Is it an MTG box at this address, with a firmware that this program knows?"
        case .spool: "See to the gateway's disk and the broker."
        }
    }

    /// The box, or the way to it, failed; not our own disk.
    var isDeviceFault: Bool { if case .spool = self { false } else { true } }

    /// For metrics: a small closed set.
    package static let labels = [
        "unreachable", "distrusted", "late", "closed", "not_mtg", "unasked", "refused", "overlong", "spool",
    ]

    package var label: String {
        switch self {
        case .unreachable: "unreachable"
        case .distrusted: "distrusted"
        case .late: "late"
        case .closed: "closed"
        case .notMTG: "not_mtg"
        case .unasked: "unasked"
        case .refused: "refused"
        case .overlong: "overlong"
        case .spool: "spool"
        }
    }

    package var description: String {
        switch self {
        case .unreachable(let why), .distrusted(let why): why
        case .late: "no whole answer in time (gateway.answer_timeout_ms)"
        case .closed: "closed in the middle of an answer"
        case .notMTG(let error): error.description
        case .unasked: "sent something that was not asked for"
        case .refused(let reason): "refused: \(reason?.text ?? "for a reason that is not known")"
        case .overlong: "took longer than gateway.connection_s_max; the next poll goes on from here"
        case .spool(let why): why
        }
    }
}

/// One connection to one box: the newest reading first, then the backlog after what was stored last, page by page.
/// Facts in, actions out; the sockets and the spool are the caller's.
package struct BoxSession {
    package enum Action: Equatable {
        case ask(MTGRequest)
        /// Store these in one transaction with the last sequence number, then call `stored`.
        case store([MTGReading], serial: String)
        case wait
        case done
        case fail(BoxFault)
    }

    private enum State: Equatable {
        case opening, askedReading
        case askedBacklog(after: Int64)
        case storing(count: Int, last: Int64, newest: Int64)
        case ended
    }

    private var state = State.opening
    private var received: [UInt8] = []
    private var newestReading: MTGReading?
    private let pageMost: Int
    /// Sequence numbers stored last, by serial number: a box may have been put onto another machine.
    private let known: [String: Int64]
    /// The box counts from the beginning again.
    package private(set) var wasReset = false
    /// Readings that were stored.
    package private(set) var readings = 0

    package init(known: [String: Int64], pageMost: Int) { (self.known, self.pageMost) = (known, pageMost) }

    package mutating func opened() -> Action {
        state = .askedReading
        return .ask(.reading)
    }

    package mutating func received(_ bytes: [UInt8]) -> Action {
        received += bytes
        switch state {
        case .askedReading, .askedBacklog: break
        case .opening, .storing, .ended: return end(.fail(.unasked))
        }
        do throws(MTGError) {
            guard let (frame, count) = try MTGFrame.first(of: received, contentMax: MTGFrame.answerBytesMax) else {
                return .wait
            }
            guard count == received.count else { return end(.fail(.unasked)) }
            received = []
            return handle(try MTGAnswer(frame))
        } catch {
            return end(.fail(.notMTG(error)))
        }
    }

    private mutating func handle(_ answer: MTGAnswer) -> Action {
        switch (state, answer) {
        case (.askedReading, .reading(let reading)): return newest(reading)
        case (.askedBacklog(let after), .backlog(let newest, let page)):
            return handleBacklog(page, after: after, newest: newest)
        // A box without a backlog has its newest reading at least.
        case (.askedBacklog(let after), .refused(.requestUnknown)), (.askedBacklog(let after), .refused(.nothingThere)):
            return handleBacklog([], after: after, newest: 0)
        case (_, .refused(let reason)): return end(.fail(.refused(reason)))
        case (_, .reading), (_, .backlog), (_, .challenge), (_, .debugLog): return end(.fail(.unasked))
        }
    }

    private mutating func newest(_ reading: MTGReading) -> Action {
        newestReading = reading
        var last = known[serial] ?? 0
        wasReset = reading.sequence < last
        if wasReset { last = 0 }
        if reading.sequence == last { return end(.done) }
        if reading.sequence == last + 1 { return store([reading], newest: reading.sequence) }
        return askBacklog(after: last)
    }

    private mutating func handleBacklog(_ page: [MTGReading], after: Int64, newest: Int64) -> Action {
        guard let first = page.first else {
            guard let reading = newestReading, reading.sequence > after else { return end(.done) }
            return store([reading], newest: reading.sequence)
        }
        guard first.sequence > after else { return end(.fail(.notMTG(.sequenceNotRising))) }
        guard page.count <= pageMost else { return end(.fail(.unasked)) }
        return store(page, newest: newest)
    }

    private var serial: String { newestReading?.serial ?? "" }

    private mutating func store(_ page: [MTGReading], newest: Int64) -> Action {
        state = .storing(count: page.count, last: page.last!.sequence, newest: newest)
        return .store(page, serial: serial)
    }

    private mutating func askBacklog(after: Int64) -> Action {
        state = .askedBacklog(after: after)
        return .ask(.backlog(after: after, most: pageMost))
    }

    /// The page is stored.
    package mutating func stored() -> Action {
        guard case .storing(let count, let last, let newest) = state else {
            preconditionFailure("nothing was to be stored")
        }
        readings += count
        return last >= newest ? end(.done) : askBacklog(after: last)
    }

    /// The other side has closed.
    package mutating func closed() -> Action { end(.fail(.closed)) }

    private mutating func end(_ action: Action) -> Action {
        state = .ended
        received = []
        return action
    }
}
