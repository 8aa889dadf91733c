/// Why a frame from a box (MTG) or for one is not what docs/mtg-wire.md says.
public enum MTGError: Error, Equatable, Sendable, CustomStringConvertible {
    case magicMissing
    case versionUnknown(UInt8)
    case kindUnknown(UInt8)
    case tooLong(bytes: Int, most: Int)
    case tooShort(bytes: Int, least: Int)
    case sequenceImpossible
    /// Readings of a page must follow each other, and what was asked for.
    case sequenceNotRising

    public var description: String {
        switch self {
        case .magicMissing: "the frame does not begin with MT: this is no MTG box"
        case .versionUnknown(let version): "frame version \(version) is not known, \(MTGFrame.version) is"
        case .kindUnknown(let kind): "frame kind \(kind) is not known"
        case .tooLong(let bytes, let most): "the frame says that it holds \(bytes) bytes, at most \(most) are read"
        case .tooShort(let bytes, let least): "the content has \(bytes) bytes, at least \(least) are needed"
        case .sequenceImpossible: "a sequence number is not 1 to 2^63 - 1"
        case .sequenceNotRising: "sequence numbers do not rise from the one that was asked for"
        }
    }
}

/// A frame between gateway and box: an 8-byte head (magic, version, kind, length) and content, all little-endian. Byte by byte:
/// docs/mtg-wire.md.
public struct MTGFrame: Equatable, Sendable {
    public static let magic: [UInt8] = [0x4D, 0x54]
    public static let version: UInt8 = 1
    static let headBytes = 8
    /// The longest content of an answer: a page of `pageReadingsMax` structures seven times today's size.
    public static let answerBytesMax = 131_072
    /// Requests are short; a box refuses longer ones.
    public static let requestBytesMax = 64

    public let kind: UInt8
    public let content: [UInt8]

    /// The frame at the beginning of the bytes, and its length; nil while it is incomplete. Faults are reported as soon as their byte has
    /// arrived.
    public static func first(of bytes: [UInt8], contentMax: Int) throws(MTGError) -> (frame: MTGFrame, count: Int)? {
        for (index, byte) in magic.enumerated() where bytes.count > index {
            guard bytes[index] == byte else { throw .magicMissing }
        }
        if bytes.count > 2, bytes[2] != version { throw .versionUnknown(bytes[2]) }
        guard bytes.count >= headBytes else { return nil }
        let length = Int(bytes.littleEndian(UInt32.self, at: 4)!)
        guard length <= contentMax else { throw .tooLong(bytes: length, most: contentMax) }
        guard bytes.count >= headBytes + length else { return nil }
        return (MTGFrame(kind: bytes[3], content: Array(bytes[headBytes..<headBytes + length])), headBytes + length)
    }

    var bytes: [UInt8] {
        var bytes = MTGFrame.magic + [MTGFrame.version, kind]
        bytes.append(littleEndian: UInt32(content.count))
        return bytes + content
    }
}

/// A gateway's request to a box.
public enum MTGRequest: Equatable, Sendable {
    /// The newest reading.
    case reading
    /// At most `most` readings with a larger sequence number, oldest first. The box may forget those up to it.
    case backlog(after: Int64, most: Int)
    /// Asks for the challenge that proves the debug log's key.
    case challenge
    /// The debug log from a byte on. The proof is HMAC-SHA-256 of `proofMessage` with the box's own key.
    case debugLog(from: Int64, proof: [UInt8])

    public static let pageReadingsMax = 64
    public static let challengeBytes = 32
    static let proofBytes = 32

    /// The message that is signed to prove the key: a fixed text, the challenge, the first byte asked for.
    public static func proofMessage(challenge: [UInt8], from: Int64) -> [UInt8] {
        var message = Array("MTG debug log".utf8) + challenge
        message.append(littleEndian: from)
        return message
    }

    public func encoded() -> [UInt8] {
        var content: [UInt8] = []
        switch self {
        case .reading: return MTGFrame(kind: 0x01, content: []).bytes
        case .backlog(let after, let most):
            precondition((1...MTGRequest.pageReadingsMax).contains(most) && after >= 0)
            content.append(littleEndian: after)
            content.append(littleEndian: UInt16(most))
            return MTGFrame(kind: 0x02, content: content).bytes
        case .challenge: return MTGFrame(kind: 0x03, content: []).bytes
        case .debugLog(let from, let proof):
            precondition(proof.count == MTGRequest.proofBytes && from >= 0)
            content.append(littleEndian: from)
            return MTGFrame(kind: 0x04, content: content + proof).bytes
        }
    }

    public init(_ frame: MTGFrame) throws(MTGError) {
        let content = frame.content
        switch frame.kind {
        case 0x01: self = .reading
        case 0x02:
            guard let after = content.littleEndian(Int64.self, at: 0),
                let most = content.littleEndian(UInt16.self, at: 8)
            else { throw .tooShort(bytes: content.count, least: 10) }
            guard after >= 0 else { throw .sequenceImpossible }
            self = .backlog(after: after, most: min(max(1, Int(most)), MTGRequest.pageReadingsMax))
        case 0x03: self = .challenge
        case 0x04:
            let least = 8 + MTGRequest.proofBytes
            guard let from = content.littleEndian(Int64.self, at: 0), content.count >= least else {
                throw .tooShort(bytes: content.count, least: least)
            }
            self = .debugLog(from: max(0, from), proof: Array(content[8..<least]))
        default: throw .kindUnknown(frame.kind)
        }
    }
}

/// Why a box does not answer a request.
public enum MTGRefusal: UInt16, CaseIterable, Sendable {
    case requestUnknown = 1, proofWrong, nothingThere

    public var text: String {
        switch self {
        case .requestUnknown: "the box does not know this request"
        case .proofWrong: "the key of the debug log is not this box's, or its challenge was used before"
        case .nothingThere: "the box has nothing of this kind"
        }
    }
}

/// A box's answer.
public enum MTGAnswer: Equatable, Sendable {
    case reading(MTGReading)
    /// A page of the backlog, and the newest sequence number of all.
    case backlog(newest: Int64, [MTGReading])
    case challenge([UInt8])
    /// Bytes of the debug log, from which on, and how many the log has.
    case debugLog(from: Int64, total: Int64, [UInt8])
    /// Nil: for a reason that this program does not know.
    case refused(MTGRefusal?)

    static let pageHeadBytes = 12

    /// - Parameter structureBytes: the size of a reading's structure, which firmware versions differ in.
    public func encoded(structureBytes: Int = MTGReading.structureBytes) -> [UInt8] {
        var content: [UInt8] = []
        switch self {
        case .reading(let reading):
            return MTGFrame(kind: 0x81, content: reading.encoded(byteCount: structureBytes)).bytes
        case .backlog(let newest, let readings):
            content.append(littleEndian: newest)
            content.append(littleEndian: UInt16(structureBytes))
            content.append(littleEndian: UInt16(readings.count))
            for reading in readings { content += reading.encoded(byteCount: structureBytes) }
            return MTGFrame(kind: 0x82, content: content).bytes
        case .challenge(let challenge):
            precondition(challenge.count == MTGRequest.challengeBytes)
            return MTGFrame(kind: 0x83, content: challenge).bytes
        case .debugLog(let from, let total, let text):
            content.append(littleEndian: from)
            content.append(littleEndian: total)
            return MTGFrame(kind: 0x84, content: content + text).bytes
        case .refused(let reason):
            content.append(littleEndian: reason?.rawValue ?? 0)
            return MTGFrame(kind: 0xFF, content: content).bytes
        }
    }

    /// Longer content than known is read as far as known.
    public init(_ frame: MTGFrame) throws(MTGError) {
        let content = frame.content
        switch frame.kind {
        case 0x81: self = .reading(try MTGReading(content[...]))
        case 0x82: self = try MTGAnswer.page(content)
        case 0x83:
            guard content.count >= MTGRequest.challengeBytes else {
                throw .tooShort(bytes: content.count, least: MTGRequest.challengeBytes)
            }
            self = .challenge(Array(content.prefix(MTGRequest.challengeBytes)))
        case 0x84:
            guard let from = content.littleEndian(Int64.self, at: 0),
                let total = content.littleEndian(Int64.self, at: 8)
            else { throw .tooShort(bytes: content.count, least: 16) }
            self = .debugLog(from: from, total: total, Array(content[16...]))
        case 0xFF: self = .refused(content.littleEndian(UInt16.self, at: 0).flatMap(MTGRefusal.init))
        default: throw .kindUnknown(frame.kind)
        }
    }

    private static func page(_ content: [UInt8]) throws(MTGError) -> MTGAnswer {
        guard let newest = content.littleEndian(Int64.self, at: 0), let size = content.littleEndian(UInt16.self, at: 8),
            let count = content.littleEndian(UInt16.self, at: 10)
        else { throw .tooShort(bytes: content.count, least: pageHeadBytes) }
        guard newest >= 0 else { throw .sequenceImpossible }
        // A page cannot hold more than fit: the count never makes us allocate.
        let least = pageHeadBytes + Int(size) * Int(count)
        guard content.count >= least else { throw .tooShort(bytes: content.count, least: least) }
        guard count == 0 || size >= MTGReading.structureBytesMin else {
            throw .tooShort(bytes: Int(size), least: MTGReading.structureBytesMin)
        }
        var readings: [MTGReading] = []
        for index in 0..<Int(count) {
            let start = pageHeadBytes + index * Int(size)
            let reading = try MTGReading(content[start..<start + Int(size)])
            guard reading.sequence > readings.last?.sequence ?? 0 else { throw .sequenceNotRising }
            readings.append(reading)
        }
        return .backlog(newest: newest, readings)
    }
}

extension Array where Element == UInt8 {
    mutating func append<Value: FixedWidthInteger>(littleEndian value: Value) {
        for shift in stride(from: 0, to: Value.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
}

extension RandomAccessCollection where Element == UInt8, Index == Int {
    /// The number whose first byte is `at` bytes from the start; nil when the bytes end before it does.
    func littleEndian<Value: FixedWidthInteger>(_: Value.Type, at: Int) -> Value? {
        let width = Value.bitWidth / 8
        guard at + width <= count else { return nil }
        var value: Value = 0
        for index in (0..<width).reversed() {
            value = value << 8 | Value(truncatingIfNeeded: self[startIndex + at + index])
        }
        return value
    }
}
