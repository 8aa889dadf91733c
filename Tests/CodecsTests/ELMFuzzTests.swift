import Basics
import Codecs
import Fleet
import SimKit
import Testing

/// Whatever an adapter sends: an answer or a fault, bounded by what came, and at once.
struct ELMFuzzTests {
    /// In the long form ten million.
    private static let inputsPerSeed = Length.count(10_000, long: 500_000)

    @Test("No reply crashes, hangs or grows the reader and the decoders", arguments: 0..<20 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var chance = ReplyChance(seed: seed)
        var (answered, refused, decoded) = (0, 0, 0)
        for input in 0..<Self.inputsPerSeed {
            let (request, text) = chance.reply()
            do throws(ELMFault) {
                let answers = try ELMReply.answers(text, to: request, bus: chance.bus())
                answered += 1
                // Two characters make a byte; the parameter may be put in front of joined lines.
                let bytes = answers.reduce(0) { $0 + $1.bytes.count }
                if answers.isEmpty || bytes > text.count / 2 + 3 {
                    Issue.record("\(bytes) bytes of \(text.count) characters: seed \(seed), input \(input)")
                }
                for answer in answers { decoded += Self.decoded(answer, request) }
            } catch {
                refused += 1
                if error.description.utf8.count > 200 { Issue.record("a long message: seed \(seed), input \(input)") }
            }
            if input % 8 == 0 { _ = try? ELMReply.text(text, to: "ATI") }  // A fault is as good as lines here.
        }
        // Each of the three is met often, or the generator tests nothing.
        #expect(min(answered, refused, decoded) > Self.inputsPerSeed / 20, "\(answered) \(refused) \(decoded)")
    }

    @Test("A stream cut anywhere is the same replies", arguments: 0..<20 as Range<UInt64>) func streams(seed: UInt64) {
        var chance = ReplyChance(seed: seed)
        for _ in 0..<50 {
            let replies = (0..<5).map { _ in chance.reply().text.filter { $0 != 0x3E && $0 != 0 } }
            let stream = Array(replies.map { $0 + [0x3E] }.joined())
            var (prompt, events, rest): (ELMPrompt, [ELMPrompt.Event], ArraySlice<UInt8>) = (
                ELMPrompt(), [], stream[...]
            )
            while !rest.isEmpty {
                let count = 1 + Int(chance.chance.below(40))
                events += prompt.receive(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(events == replies.map { .reply($0) }, "seed \(seed)")
        }
    }

    /// How many decoders made something of it.
    private static func decoded(_ answer: OBDAnswer, _ request: OBDRequest) -> Int {
        var count = 0
        // A decoder that throws has said why: that is all that is asked of it here.
        if let values = try? answer.values(of: request), !values.isEmpty, values.allSatisfy({ !$0.text.isEmpty }) {
            count += 1
        }
        if let codes = try? answer.troubleCodes(), codes.allSatisfy({ $0.text.utf8.count == 5 }) { count += 1 }
        if let vin = try? answer.vin(), vin.utf8.count == 17 { count += 1 }
        if (try? answer.calibrationIDs()) != nil { count += 1 }
        if (try? answer.calibrationChecks()) != nil { count += 1 }
        if (try? answer.unitName()) != nil { count += 1 }
        return count
    }
}

/// Seeded replies, good and bad.
private struct ReplyChance {
    var chance: SeededChance
    init(seed: UInt64) { chance = SeededChance(seed: seed) }

    mutating func bus() -> OBDBus? { [nil, .can, .older][Int(chance.below(3))] }

    /// Good ones of which some are changed, cut, doubled, put together or sent to another request; and noise.
    mutating func reply() -> (request: OBDRequest, text: [UInt8]) {
        if chance.once(in: 10) { return (request(), chance.bytes(chance.below(64))) }
        var (request, text) = good()
        if chance.once(in: 20) { request = self.request() }
        if chance.once(in: 3) { return (request, text) }
        for _ in 0..<chance.below(4) where !text.isEmpty { text[chance.index(text.count)] = character() }
        switch chance.below(6) {
        case 0: text.removeLast(chance.index(text.count + 1))
        case 1: text += good().text
        case 2: text += text
        case 3: text = [UInt8](repeating: character(), count: Int(chance.below(300)))
        case 4: text = text.split(separator: 0x0D).reversed().flatMap { $0 + [0x0D] }
        default: break
        }
        return (request, text)
    }

    private mutating func character() -> UInt8 {
        let alphabet = Array("0123456789ABCDEFabcdef :.<>?\r\n\0".utf8)
        return chance.once(in: 8) ? chance.byte() : chance.pick(alphabet)
    }

    private mutating func request() -> OBDRequest { OBDRequest(chance.bytes(1 + chance.below(7))) }

    private mutating func good() -> (request: OBDRequest, text: [UInt8]) {
        if chance.once(in: 3) {
            let form = chance.pick(ReplyForm.all)
            return (OBDRequest(text: form.request.utf8)!, form.reply.utf8.map { $0 == 0x2F ? 0x0D : $0 })
        }
        if chance.once(in: 20) {
            let token = chance.pick(ELMMessage.table).token
            return (.current(0x0C), Array(token.utf8))
        }
        let pid = chance.byte()
        let mode: UInt8 = [0x01, 0x01, 0x02, 0x03, 0x07, 0x0A, 0x09][Int(chance.below(7))]
        let data = chance.bytes(chance.below(chance.once(in: 4) ? 60 : 6))
        switch mode {
        case 0x02: return (.freezeFrame(pid), lines([0x42, pid, 0] + data))
        case 0x03, 0x07, 0x0A: return (OBDRequest([mode]), lines([mode + 0x40] + data))
        default: return (OBDRequest([mode, pid]), lines([mode + 0x40, pid] + data))
        }
    }

    /// An answer as some adapter would print it.
    private mutating func lines(_ bytes: [UInt8]) -> [UInt8] {
        let hex = { (bytes: ArraySlice<UInt8>) in Hex.text(bytes) }
        let header = ["7E8", "18DAF110"][Int(chance.below(2))]
        if bytes.count <= 7 {
            let text = chance.once(in: 2) ? hex(bytes[...]) : header + hex([UInt8(bytes.count)] + bytes)
            return Array((text + "\r\r").utf8)
        }
        let following = stride(from: 6, to: bytes.count, by: 7).map { bytes[$0..<min($0 + 7, bytes.count)] }
        let length = String(0x1000 + bytes.count, radix: 16).dropFirst()
        var text = chance.once(in: 2) ? "\(length)\r0:" + hex(bytes[..<6]) : ""
        let isNumbered = !text.isEmpty
        if !isNumbered { text = header + "1" + length + hex(bytes[..<6]) }
        for (index, data) in following.enumerated() {
            let number = String((index + 1) % 16, radix: 16)
            text += "\r" + (isNumbered ? number + ":" : header + "2" + number) + hex(data)
        }
        return Array((text + "\r\r").utf8)
    }
}
