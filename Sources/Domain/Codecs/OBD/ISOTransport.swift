internal import Basics
internal import Fleet

/// Frames of a CAN bus put together to answers (ISO 15765-2). A frame begins with its type and length.
enum ISOTransport {
    /// Assembles one control unit's frames, in the order of arrival. Consecutive frames may come in any order and twice; answers come in
    /// the order of their first frames.
    static func answers(_ frames: [[UInt8]]) throws(ELMFault) -> [[UInt8]] {
        var answers: [[UInt8]] = []
        var open: LongAnswer?
        var early: [(Int, [UInt8])] = []
        for frame in frames {
            guard let first = frame.first else { throw .cutOff(bytes: 0, need: 1) }
            let low = Int(first & 0x0F)
            switch first >> 4 {
            case 0:
                guard low > 0, low <= 7 else { throw .lengthImpossible(low) }
                guard frame.count > low else { throw .cutOff(bytes: frame.count - 1, need: low) }
                answers.append(Array(frame[1...low]))
            case 1:
                guard frame.count >= 2 else { throw .cutOff(bytes: frame.count, need: 8) }
                let next = try LongAnswer(length: low << 8 | Int(frame[1]), first: frame[2...])
                if let last = open {
                    if last.isSameStart(next) { continue }
                    answers.append(try last.joined())
                }
                open = next
                for (number, data) in early { open!.add(number: number, data) }
                early = []
            case 2:
                if open == nil { early.append((low, Array(frame[1...]))) } else { open!.add(number: low, frame[1...]) }
            case 3: continue  // Flow control: nothing for us.
            default: throw .otherAnswer(Hex.text(frame.prefix(8)))
            }
        }
        if let last = open { answers.append(try last.joined()) }
        if let (number, _) = early.first { throw .frameMissing(0, of: number + 1) }
        return answers
    }
}

/// An answer in several frames: six bytes in the first, seven in each that follows.
struct LongAnswer {
    private let length: Int
    private let first: [UInt8]
    /// By place, 1 up to `following`.
    private var frames: [Int: [UInt8]] = [:]
    private var arrived = 0
    private var disputed: Int?

    private var following: Int { (length) / 7 }

    init(length: Int, first: some Collection<UInt8>) throws(ELMFault) {
        guard (8...4_095).contains(length) else { throw .lengthImpossible(length) }
        guard first.count >= 6 else { throw .cutOff(bytes: first.count, need: length) }
        self.length = length
        self.first = Array(first.prefix(6))
    }

    func isSameStart(_ other: LongAnswer) -> Bool { length == other.length && first == other.first }

    /// The number has four bits: the place is the one nearest to the order of arrival.
    mutating func add(number: Int, _ data: some Collection<UInt8>) {
        arrived += 1
        let ahead = (number - arrived) & 15
        var place = arrived + (ahead > 8 ? ahead - 16 : ahead)
        if place > following { place -= 16 }
        if place < 1 { place += 16 }
        guard let known = frames[place] else {
            frames[place] = Array(data)
            return
        }
        arrived -= 1
        if known != Array(data) { disputed = disputed ?? place }
    }

    func joined() throws(ELMFault) -> [UInt8] {
        if let disputed { throw .frameDisputed(disputed) }
        if let (_, stray) = frames.first(where: { $0.key > following }) {
            throw .otherAnswer(Hex.text(stray.prefix(8)))
        }
        var bytes = first
        for place in 1...following {
            guard let data = frames[place] else { throw .frameMissing(place, of: following + 1) }
            let need = min(7, length - bytes.count)
            guard data.count >= need else { throw .cutOff(bytes: bytes.count + data.count, need: length) }
            bytes += data.prefix(need)
        }
        return bytes
    }
}
