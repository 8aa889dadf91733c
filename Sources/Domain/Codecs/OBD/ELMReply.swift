internal import Basics

/// The bus that an answer came over, as far as its form tells.
public enum OBDBus: Equatable, Sendable {
    case can
    /// ISO 9141-2, ISO 14230 (KWP) or SAE J1850.
    case older
}

/// One control unit's answer to one request, assembled from its frames.
public struct OBDAnswer: Equatable, Sendable {
    /// The sender as the adapter shows it (`7E8`, `18DAF110`, `10`); nil with headers off.
    public let unit: String?
    /// Nil: the form does not tell.
    public let bus: OBDBus?
    /// From the mode byte (`41` for mode 01) on, without padding where the form tells the length.
    public let bytes: [UInt8]

    public init(unit: String?, bus: OBDBus?, bytes: [UInt8]) { (self.unit, self.bus, self.bytes) = (unit, bus, bytes) }
}

/// One reply of an adapter: all up to its prompt. Echo, blanks, line ends, headers and the bus may be any; docs/obd.md
/// shows the forms.
public enum ELMReply {
    /// The answers to a request, in the order of arrival; never none.
    /// - Parameter bus: what is known of the bus already, where the form does not tell.
    /// - Throws: why there is none. A unit's refusal counts only when no unit answers.
    public static func answers(
        _ text: some Collection<UInt8>, to request: OBDRequest, bus: OBDBus? = nil
    ) throws(ELMFault) -> [OBDAnswer] {
        guard text.count <= ELMPrompt.bytesMax else { throw .tooLong(bytesMax: ELMPrompt.bytesMax) }
        var sorter = FrameSorter(request: request, bus: bus)
        let echo = Array(request.text.utf8)
        for line in ELMLine.lines(text) {
            guard let rest = line.withoutEcho(echo).withoutNews() else { continue }
            try sorter.add(rest)
        }
        return try sorter.answers()
    }

    /// The lines of a reply to a command of the adapter's own (`AT…`), without its echo and empty lines.
    public static func text(_ text: some Collection<UInt8>, to command: String) throws(ELMFault) -> [String] {
        guard text.count <= ELMPrompt.bytesMax else { throw .tooLong(bytesMax: ELMPrompt.bytesMax) }
        let echo = ELMLine(Array(command.utf8)[...]).characters
        var texts: [String] = []
        for part in text.split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            let line = ELMLine(Array(part)[...])
            if line.characters.isEmpty || line.characters == echo { continue }
            if let message = line.wholeMessage { throw .said(message) }
            let printable = part.filter { $0 != 0 }.map { (0x20...0x7E).contains($0) ? $0 : 0x2E }
            texts.append(String(decoding: printable.prefix(textBytesMax), as: UTF8.self))
        }
        guard !texts.isEmpty else { throw .empty }
        return texts
    }

    private static let textBytesMax = 200
}

/// Lines of one reply, sorted by sender and put together.
private struct FrameSorter {
    private let request: OBDRequest
    private let bus: OBDBus?
    private let start: [UInt8]

    /// Frames with a header, by sender in the order of appearance.
    private var units: [(unit: String, bus: OBDBus, frames: [[UInt8]])] = []
    /// Answers without headers, one a line.
    private var single: [[UInt8]] = []
    /// Long answers in numbered lines: the length, then the frames.
    private var numbered: [(length: Int, frames: [(number: Int, data: [UInt8])])] = []

    init(request: OBDRequest, bus: OBDBus?) {
        self.request = request
        self.bus = bus
        start = request.answerStart
    }

    mutating func add(_ line: ELMLine) throws(ELMFault) {
        switch try line.content(start: start, mode: request.mode) {
        case .length(let length): numbered.append((length, []))
        case .numbered(let length, let frames):
            if let length { numbered.append((length, [])) }
            guard !numbered.isEmpty else { throw .lengthMissing }
            numbered[numbered.count - 1].frames += frames
        case .single(let bytes): single.append(bytes)
        case .frame(let unit, let bus, let bytes):
            if let index = units.firstIndex(where: { $0.unit == unit }) {
                units[index].frames.append(bytes)
            } else {
                units.append((unit, bus, [bytes]))
            }
        }
    }

    func answers() throws(ELMFault) -> [OBDAnswer] {
        var all: [OBDAnswer] = []
        for (unit, bus, frames) in units {
            let joined = bus == .can ? try ISOTransport.answers(frames) : try joinedByOrder(frames, isOneUnit: true)
            // A frame that came twice is one answer: its sender is known.
            for bytes in joined where !all.contains(where: { $0.unit == unit && $0.bytes == bytes }) {
                all.append(OBDAnswer(unit: unit, bus: bus, bytes: bytes))
            }
        }
        for bytes in try numberedAnswers() { all.append(OBDAnswer(unit: nil, bus: .can, bytes: bytes)) }
        let alone = bus == .can ? single : try joinedByOrder(single, isOneUnit: false)
        for bytes in alone { all.append(OBDAnswer(unit: nil, bus: bus, bytes: bytes)) }
        return try sorted(all)
    }

    /// Answers to this request; otherwise why there is none.
    private func sorted(_ all: [OBDAnswer]) throws(ELMFault) -> [OBDAnswer] {
        let answers = all.filter { $0.bytes.starts(with: start) }
        if !answers.isEmpty { return answers }
        let refusals = all.filter { $0.bytes.count >= 3 && $0.bytes[0] == 0x7F && $0.bytes[1] == request.mode }
        // 78 only says that the answer comes later.
        if let refusal = refusals.first(where: { $0.bytes[2] != 0x78 }) ?? refusals.first {
            throw .refused(mode: request.mode, code: refusal.bytes[2])
        }
        guard let other = all.first else { throw .empty }
        throw .otherAnswer(Hex.text(other.bytes.prefix(8)))
    }

    private func numberedAnswers() throws(ELMFault) -> [[UInt8]] {
        var answers: [[UInt8]] = []
        for (length, frames) in numbered {
            guard let first = frames.first(where: { $0.number == 0 }) else {
                guard numbered.count == 1 else { throw .interleaved }
                throw .frameMissing(0, of: max(1, frames.count + 1))
            }
            var answer = try LongAnswer(length: length, first: first.data)
            var isFirst = true
            for frame in frames {
                if frame.number == 0, isFirst { isFirst = false } else { answer.add(number: frame.number, frame.data) }
            }
            do throws(ELMFault) { answers.append(try answer.joined()) } catch {
                throw numbered.count == 1 ? error : .interleaved
            }
        }
        return answers
    }

    /// Older buses send a long answer of mode 09 as lines of four bytes, numbered from 1 after the parameter
    /// (ISO 15031-5). It becomes what a CAN bus sends: mode, parameter, how many, data.
    private func joinedByOrder(_ lines: [[UInt8]], isOneUnit: Bool) throws(ELMFault) -> [[UInt8]] {
        guard request.mode == 0x09, start.count == 2 else { return lines }
        guard lines.count > 1, lines.allSatisfy({ $0.count == 7 && $0.starts(with: start) }) else { return lines }
        // Several units that answer in one line each: the count of a CAN bus stands where the number would.
        if !isOneUnit, lines.allSatisfy({ $0[2] == 1 }) { return lines }
        var frames: [Int: [UInt8]] = [:]
        for line in lines {
            let place = Int(line[2])
            if let known = frames[place], known != line { throw .frameDisputed(place) }
            frames[place] = line
        }
        let count = frames.keys.max() ?? 0
        var bytes = start + [0x01]
        for place in 0..<count {
            guard let frame = frames[place + 1] else { throw .frameMissing(place, of: count) }
            bytes += frame[3...]
        }
        return [bytes]
    }
}
