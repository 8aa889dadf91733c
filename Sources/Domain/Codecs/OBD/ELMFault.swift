internal import Basics

/// Why an adapter's reply holds no answer. The text tells the fault and what to do; it repeats at most a few characters of the reply.
public enum ELMFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The adapter said so itself.
    case said(ELMMessage)
    /// Every control unit that answered refuses the request, with this code (ISO 14229-1, annex A).
    case refused(mode: UInt8, code: UInt8)
    case empty
    case tooLong(bytesMax: Int)
    /// Neither data nor a message that is known.
    case notHexadecimal(String)
    /// Data of another request: a late answer, or two askers at one adapter.
    case otherAnswer(String)
    /// A frame of a long answer is not there; counted from 0.
    case frameMissing(Int, of: Int)
    /// The same frame came twice and says two things.
    case frameDisputed(Int)
    case cutOff(bytes: Int, need: Int)
    case lengthMissing
    case lengthImpossible(Int)
    /// Several control units answered in several lines each, and nothing says whose they are.
    case interleaved
    case checksumWrong

    public var description: String {
        switch self {
        case .said(let message): message.row.says
        case .refused(let mode, let code): ELMFault.refusal(mode: mode, code: code)
        case .empty:
            "the adapter answered with nothing. Ask again; if it stays so, unplug the adapter for ten seconds"
        case .tooLong(let most):
            "the adapter sent more than \(most) bytes without a prompt. It may be no ELM327: check the address"
        case .notHexadecimal(let text):
            "`\(text)` is neither data nor a message of an ELM327. Ask again; if it stays so, check that nothing else "
                + "talks to this adapter"
        case .otherAnswer(let text):
            "`\(text)` answers another request. Ask again; if it stays so, check that nothing else talks to this adapter"
        case .frameMissing(let frame, let count):
            "frame \(frame) of \(count) of a long answer is missing. Ask again"
        case .frameDisputed(let frame): "frame \(frame) of a long answer came twice and differs. Ask again"
        case .cutOff(let bytes, let need): "the answer ends after \(bytes) bytes of \(need). Ask again"
        case .lengthMissing: "a long answer does not say how long it is. Ask again"
        case .lengthImpossible(let length): "an answer of \(length) bytes in this form cannot be. Ask again"
        case .interleaved:
            "several control units answered in several lines each. Switch headers on (ATH1) to tell them apart"
        case .checksumWrong: "the checksum of a line is wrong: bad contact or interference. Ask again"
        }
    }

    /// The session's next step after a fault.
    public enum Remedy: Sendable {
        /// Ask the same again, soon: the line was disturbed.
        case askAgain
        /// The car does not answer this request: do not ask it again in this session.
        case doNotAsk
        /// No car listens: the ignition is off, or no car is there. Try seldom.
        case waitForCar
        /// The adapter lost its settings or is stuck: begin with its reset.
        case resetAdapter
    }

    public var remedy: Remedy {
        switch self {
        case .said(let message): message.row.remedy
        case .refused(_, let code): [0x21, 0x23, 0x78].contains(code) ? .askAgain : .doNotAsk
        case .tooLong: .resetAdapter
        case .empty, .notHexadecimal, .otherAnswer, .frameMissing, .frameDisputed, .cutOff, .lengthMissing,
            .lengthImpossible, .interleaved, .checksumWrong:
            .askAgain
        }
    }

    private static func refusal(mode: UInt8, code: UInt8) -> String {
        let reason =
            switch code {
            case 0x10: "it is refused without a reason"
            case 0x11: "the car does not know this service"
            case 0x12: "the car does not know this parameter"
            case 0x13: "its length is wrong"
            case 0x21: "the control unit is busy. Ask again"
            case 0x22: "conditions are not right: start the engine, or switch it off, and ask again"
            case 0x31: "the car does not know this parameter"
            case 0x33: "it needs an unlocked control unit"
            case 0x78: "the answer was promised for later and did not come. Ask again"
            default: "reason \(Hex.text([code]).uppercased())"
            }
        return "the car refuses service \(Hex.text([mode]).uppercased()): \(reason)"
    }
}

/// Messages of an ELM327 or its copies in the place of data (ELM327 data sheet, "Error Messages and Alerts").
public enum ELMMessage: CaseIterable, Sendable {
    case lowVoltageReset, lowPowerAlert, activityAlert, busInitError, unableToConnect, noData, stopped, bufferFull
    case busBusy, busError, canError, feedbackError, dataError, receiveError, internalError, unknownCommand, restarted
    case error

    public struct Row: Sendable {
        public let message: ELMMessage
        /// Capital letters without blanks; the line holds this.
        public let token: String
        public let remedy: ELMFault.Remedy
        /// The fault, and what to do.
        public let says: String
    }

    public var row: Row { ELMMessage.table.first { $0.message == self }! }

    /// In the order of lookup: of several matches the first is the most specific.
    public static let table: [Row] = [
        Row(
            message: .lowVoltageReset, token: "LVRESET", remedy: .resetAdapter,
            says: "LV RESET: the adapter's supply fell too low and it began anew. Check the battery and the plug"),
        Row(
            message: .lowPowerAlert, token: "LPALERT", remedy: .waitForCar,
            says: "LP ALERT: the adapter goes to sleep. Nothing to do: it wakes with the car"),
        Row(
            message: .activityAlert, token: "ACTALERT", remedy: .waitForCar,
            says: "ACT ALERT: the adapter hears nothing from the car and goes to sleep. Switch the ignition on"),
        Row(
            message: .busInitError, token: "BUSINIT", remedy: .waitForCar,
            says: "BUS INIT: ...ERROR: the car's bus does not answer. Switch the ignition on and check the plug"),
        Row(
            message: .unableToConnect, token: "UNABLETOCONNECT", remedy: .waitForCar,
            says: "UNABLE TO CONNECT: no control unit answers on any bus. Switch the ignition on and check the plug"),
        Row(
            message: .noData, token: "NODATA", remedy: .doNotAsk,
            says:
                "NO DATA: no control unit answered in time. The car does not know this request, or the ignition is off"),
        Row(
            message: .stopped, token: "STOPPED", remedy: .askAgain,
            says: "STOPPED: the adapter was interrupted by the next request. Wait for its prompt before asking again"),
        Row(
            message: .bufferFull, token: "BUFFERFULL", remedy: .askAgain,
            says: "BUFFER FULL: the answer came faster than the adapter could pass it on. Switch blanks off (ATS0) and "
                + "ask again"),
        Row(
            message: .busBusy, token: "BUSBUSY", remedy: .askAgain,
            says: "BUS BUSY: the car's bus left no room for the request. Ask again"),
        Row(
            message: .busError, token: "BUSERROR", remedy: .askAgain,
            says: "BUS ERROR: a signal on the car's bus was wrong. Ask again; if it stays so, check plug and wiring"),
        Row(
            message: .canError, token: "CANERROR", remedy: .waitForCar,
            says:
                "CAN ERROR: the CAN bus does not answer. Switch the ignition on, check the plug and the protocol (ATSP0)"
        ),
        Row(
            message: .feedbackError, token: "FBERROR", remedy: .resetAdapter,
            says: "FB ERROR: the adapter cannot hear what it sends. Check plug and wiring; the adapter may be broken"),
        Row(
            message: .dataError, token: "DATAERROR", remedy: .askAgain,
            says: "DATA ERROR: the answer was damaged on the way. Ask again; if it stays so, check plug and wiring"),
        Row(
            message: .receiveError, token: "RXERROR", remedy: .askAgain,
            says: "<RX ERROR: the answer was damaged on the CAN bus. Ask again; if it stays so, set the protocol (ATSP)"
        ),
        Row(
            message: .restarted, token: "ELM327", remedy: .resetAdapter,
            says: "the adapter began anew in the middle of a request. Check its supply"),
        Row(
            message: .error, token: "ERROR", remedy: .askAgain,
            says: "ERROR: the adapter gives no reason. Ask again; if it stays so, unplug the adapter for ten seconds"),
        Row(
            message: .internalError, token: "ERR", remedy: .resetAdapter,
            says: "ERR: a fault inside the adapter. Unplug it for ten seconds; if it stays so, it is broken"),
        Row(
            message: .unknownCommand, token: "?", remedy: .doNotAsk,
            says: "?: the adapter did not understand the request. It may be a copy that knows fewer commands"),
    ]
}
