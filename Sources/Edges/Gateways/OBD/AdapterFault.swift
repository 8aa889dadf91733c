package import Codecs

/// Why a session with an adapter ended.
package enum AdapterFault: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    /// Its certificate is not the pinned one, or has expired.
    case distrusted(String)
    /// No prompt in time after this command.
    case late(String)
    case closed
    /// Bytes without end or sense.
    case babble
    /// Answers again and again that belong to other requests.
    case outOfStep
    /// It answers this command with something else than an ELM327 does.
    case notAdapter(command: String, answer: String)
    /// Faults of one kind in a row.
    case troubled(ELMFault)
    case nothingSupported
    case spool

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
        case .unreachable: "Is the adapter plugged in, in reach of its Wi-Fi, and its address right?"
        case .distrusted:
            "Compare certificate_sha256 of the car's registration with the adapter's own; renew it when it has expired."
        case .late: "Unplug the adapter for ten seconds. If it stays so, its Wi-Fi is weak or it is broken."
        case .closed: "Does an app on a phone use the adapter at the same time? Most serve only one."
        case .babble, .notAdapter: "Is it an ELM327 adapter at this address and port?"
        case .outOfStep: "Does something else talk to this adapter at the same time?"
        // The fault's own words say what to do.
        case .troubled: ""
        case .nothingSupported: "Name parameters that the car has in gateway.obd_schedule, or take its address away."
        case .spool: "See to the gateway's disk and the broker."
        }
    }

    /// A message of the adapter's own, or of ours: it is an adapter that answered. All other answers are reported as no answer.
    var isOfAdapter: Bool {
        switch self {
        case .troubled, .nothingSupported, .spool: true
        case .unreachable, .distrusted, .late, .closed, .babble, .outOfStep, .notAdapter: false
        }
    }

    /// For metrics: a small closed set.
    static let labels = [
        "unreachable", "distrusted", "late", "closed", "babble", "out_of_step", "not_adapter", "troubled",
        "nothing_supported", "spool",
    ]

    var label: String {
        switch self {
        case .unreachable: "unreachable"
        case .distrusted: "distrusted"
        case .late: "late"
        case .closed: "closed"
        case .babble: "babble"
        case .outOfStep: "out_of_step"
        case .notAdapter: "not_adapter"
        case .troubled: "troubled"
        case .nothingSupported: "nothing_supported"
        case .spool: "spool"
        }
    }

    package var description: String {
        switch self {
        case .unreachable(let why), .distrusted(let why): why
        case .late(let command): "no prompt in time after \(command) (gateway.answer_timeout_ms)"
        case .closed: "the adapter closed the connection"
        case .babble: "the adapter sends without being asked, or without end"
        case .outOfStep: "the adapter answers other requests than it was asked"
        case .notAdapter(let command, let answer): "answers \(command) with `\(answer)`"
        case .troubled(let fault): fault.description
        case .nothingSupported: "the car supports none of the parameters of the schedule"
        case .spool: "the spool is full or cannot be written"
        }
    }
}
