import Basics
import Codecs
import Foundation
import SimKit
import Testing

/// One row a form that a reply comes in; `/` stands for a carriage return.
struct ReplyForm: Sendable, CustomTestStringConvertible {
    let name: String
    let request: String
    let reply: String
    /// `sender:bytes`, or bytes alone with headers off.
    let answers: [String]
    init(_ name: String, _ request: String, _ reply: String, _ answers: [String]) {
        (self.name, self.request, self.reply, self.answers) = (name, request, reply, answers)
    }
    var testDescription: String { name }

    /// W0L000043MB541326 as a CAN bus sends it, and in three pieces.
    static let vin = "49020157304c3030303034334d42353431333236"
    static let pieces = ["49020157304C", "3030303034334D", "42353431333236"]

    static let all: [ReplyForm] = [
        ReplyForm("plain", "010C", "41 0C 1A F8//", ["410c1af8"]),
        ReplyForm("without blanks", "010C", "410C1AF8/", ["410c1af8"]),
        ReplyForm("small letters", "010C", "410c1af8/", ["410c1af8"]),
        ReplyForm("line feeds", "010C", "41 0C 1A F8/\n/\n", ["410c1af8"]),
        ReplyForm("no line end at all", "010C", "41 0C 1A F8", ["410c1af8"]),
        ReplyForm("echo", "010C", "010C/41 0C 1A F8//", ["410c1af8"]),
        ReplyForm("echo with blanks", "010C", "01 0C/41 0C 1A F8//", ["410c1af8"]),
        ReplyForm("echo with the count of lines", "010C 1", "010C1/41 0C 1A F8//", ["410c1af8"]),
        ReplyForm("echo glued to the answer", "010C", "010C41 0C 1A F8//", ["410c1af8"]),
        ReplyForm("echo of mode 03", "03", "03/43 01 33 00 00 00 00//", ["43013300000000"]),
        ReplyForm("NUL bytes", "010C", "41 \u{0}0C 1A\u{0} F8/\u{0}/", ["410c1af8"]),
        ReplyForm("searching", "0100", "SEARCHING...//41 00 BE 3E A8 13//", ["4100be3ea813"]),
        ReplyForm("searching glued to the answer", "0100", "SEARCHING...4100BE3EA813//", ["4100be3ea813"]),
        ReplyForm("searching after the echo", "0100", "0100/SEARCHING: .../41 00 BE 3E A8 13//", ["4100be3ea813"]),
        ReplyForm("bus initialised", "0100", "BUS INIT: OK/41 00 BE 3E A8 13//", ["4100be3ea813"]),
        ReplyForm("bus initialised with dots", "0100", "BUS INIT: ...OK/41 00 BE 3E A8 13//", ["4100be3ea813"]),
        ReplyForm("bus initialised, glued", "0100", "BUSINIT:...OK4100BE3EA813", ["4100be3ea813"]),
        ReplyForm("two units", "0100", "41 00 BE 3E B8 11/41 00 80 00 00 01//", ["4100be3eb811", "410080000001"]),
        ReplyForm(
            "two units with headers", "0100", "7E8 06 41 00 BE 3E B8 11/7E9 06 41 00 80 00 00 01//",
            ["7E8:4100be3eb811", "7E9:410080000001"]),
        ReplyForm("header of 11 bits, padded", "010D", "7E8 03 41 0D 32 00 00 00 00//", ["7E8:410d32"]),
        ReplyForm("header of 11 bits without blanks", "010D", "7E803410D32AAAAAAAA/", ["7E8:410d32"]),
        ReplyForm("header and data length", "010D", "7E8 8 03 41 0D 32 00 00 00 00//", ["7E8:410d32"]),
        ReplyForm("header of 29 bits", "010D", "18 DA F1 10 03 41 0D 32 00 00 00 00//", ["18DAF110:410d32"]),
        ReplyForm("header of 29 bits without blanks", "010D", "18DAF11003410D32//", ["18DAF110:410d32"]),
        ReplyForm("header of ISO 9141-2", "010C", "48 6B 10 41 0C 1A F8 22//", ["10:410c1af8"]),
        ReplyForm("header of KWP", "010C", "84 F1 10 41 0C 1A F8 E4//", ["10:410c1af8"]),
        ReplyForm("header of KWP without blanks", "010C", "84F110410C1AF8E4//", ["10:410c1af8"]),
        ReplyForm("header of J1850 VPW", "0100", "48 6B 10 41 00 BE 3E B8 11 FA//", ["10:4100be3eb811"]),
        ReplyForm("header of J1850 PWM, which begins like an answer", "010D", "41 6B 10 41 0D 32 F6//", ["10:410d32"]),
        ReplyForm("echo before a header", "010D", "010D/7E8 03 41 0D 32//", ["7E8:410d32"]),
        ReplyForm("twice from one unit", "010D", "7E8 03 41 0D 32/7E8 03 41 0D 32//", ["7E8:410d32"]),
        ReplyForm(
            "numbered lines", "0902", "014/0: 49 02 01 57 30 4C/1: 30 30 30 30 34 33 4D/2: 42 35 34 31 33 32 36//",
            [vin]),
        ReplyForm("numbered lines, glued", "0902", "0140:\(pieces[0])1:\(pieces[1])2:\(pieces[2])", [vin]),
        ReplyForm(
            "numbered lines after searching", "0902",
            "SEARCHING...0140:\(pieces[0])1:\(pieces[1])2:\(pieces[2])", [vin]),
        ReplyForm("numbered lines out of order", "0902", "014/0:\(pieces[0])/2:\(pieces[2])/1:\(pieces[1])//", [vin]),
        ReplyForm(
            "a numbered line twice", "0902", "014/0:\(pieces[0])/1:\(pieces[1])/1:\(pieces[1])/2:\(pieces[2])//", [vin]),
        ReplyForm(
            "numbered lines of mode 03 that look like its echo", "03", "0300:430101020103" + lines(of: 6, from: 1),
            ["430101020103" + String(repeating: "11223344556677", count: 6)]),
        ReplyForm(
            "half a byte of padding", "22F191", "00E0:62F1913532301:353533323020202:20",
            ["62f1913532303535333230202020"]),
        ReplyForm(
            "two units with numbered lines, one after the other", "03",
            "008/0:430301010102/1:0103AAAAAAAAAA/008/0:430301110112/1:0113AAAAAAAAAA//",
            ["4303010101020103", "4303011101120113"]),
        ReplyForm(
            "numbered and plain lines", "03", "008/0:430301010102/1:0103AAAAAAAAAA/43 00//",
            ["4303010101020103", "4300"]),
        ReplyForm(
            "more than sixteen numbered lines", "03", "0790:43640101010" + "2" + lines(of: 17, from: 1),
            ["436401010102" + String(repeating: "11223344556677", count: 17).prefix(230)]),
        ReplyForm(
            "frames", "0902", "7E8 10 14 49 02 01 57 30 4C/7E821\(pieces[1])/7E822\(pieces[2])//", ["7E8:" + vin]),
        ReplyForm(
            "frames of 29 bits out of order", "0902",
            "18DAF11022\(pieces[2])/18DAF1101014\(pieces[0])/18DAF11021\(pieces[1])//", ["18DAF110:" + vin]),
        ReplyForm(
            "frames of two units mixed, flow control between", "0902",
            "7E81014\(pieces[0])/7E91014\(pieces[0])/7E8 30 00 00/7E921\(pieces[1])/7E821\(pieces[1])/"
                + "7E822\(pieces[2])/7E922\(pieces[2])//", ["7E8:" + vin, "7E9:" + vin]),
        ReplyForm(
            "the first frame twice", "0902",
            "7E81014\(pieces[0])/7E81014\(pieces[0])/7E821\(pieces[1])/7E822\(pieces[2])/", ["7E8:" + vin]),
        ReplyForm(
            "five lines of an older bus", "0902",
            "49 02 01 00 00 00 57/49 02 02 30 4C 30 30/49 02 03 30 30 34 33/49 02 04 4D 42 35 34/"
                + "49 02 05 31 33 32 36//", ["49020100000057304c3030303034334d42353431333236"]),
        ReplyForm(
            "five lines of an older bus with headers, out of order", "0902",
            "87F110490201000000572B/87F110490203303034339D/87F110490202304C3030B1/87F1104902044D423534CF/"
                + "87F11049020531333236A4//", ["10:49020100000057304c3030303034334d42353431333236"]),
        ReplyForm(
            "check numbers of two units, a line each", "0906", "49 06 01 11 22 33 44/49 06 01 55 66 77 88//",
            ["49060111223344", "49060155667788"]),
        ReplyForm(
            "three codes a line of an older bus", "03", "43 01 33 02 34 03 45/43 04 56 00 00 00 00//",
            ["43013302340345", "43045600000000"]),
        ReplyForm("several parameters", "010C0D", "41 0C 1A F8 0D 32//", ["410c1af80d32"]),
        ReplyForm(
            "a promise, then the answer", "0902",
            "7F 09 78/7F 09 78/014/0:\(pieces[0])/1:\(pieces[1])/2:\(pieces[2])//", [vin]),
        ReplyForm("one unit refuses, one answers", "010C", "7E8 03 7F 01 12/7E9 04 41 0C 1A F8//", ["7E9:410c1af8"]),
    ]

    private static func lines(of count: Int, from first: Int) -> String {
        (first..<first + count).map { String($0 % 16, radix: 16).uppercased() + ":11223344556677" }.joined()
    }
}

struct ELMReplyTests {
    static func answers(_ request: String, _ reply: String) throws(ELMFault) -> [OBDAnswer] {
        try ELMReply.answers(Array(reply.replacing("/", with: "\r").utf8), to: OBDRequest(text: request.utf8)!)
    }

    @Test("A reply in any form is its answers", arguments: ReplyForm.all) func forms(_ form: ReplyForm) throws {
        let answers = try Self.answers(form.request, form.reply)
        #expect(answers.map { ($0.unit.map { $0 + ":" } ?? "") + Hex.text($0.bytes) } == form.answers)
    }

    @Test func theFormTellsTheBusWhereItCan() throws {
        func bus(_ request: String, _ reply: String) throws -> OBDBus? { try Self.answers(request, reply)[0].bus }
        #expect(try bus("010D", "410D32") == nil)
        #expect(try bus("010D", "7E803410D32") == .can && bus("010D", "18DAF11003410D32") == .can)
        #expect(try bus("0902", "0140:\(ReplyForm.pieces[0])1:\(ReplyForm.pieces[1])2:\(ReplyForm.pieces[2])") == .can)
        #expect(try bus("010C", "84F110410C1AF8E4") == .older)
        #expect(
            try ELMReply.answers(Array("410D32".utf8), to: .current(0x0D), bus: .older) == [
                OBDAnswer(unit: nil, bus: .older, bytes: [0x41, 0x0D, 0x32])
            ])
    }

    @Test(
        "What is no answer is refused with its reason",
        arguments: [
            ("010C", "", .empty), ("010C", "//\n", .empty), ("010C", "010C//", .empty),
            ("010C", "41 0C 1A F", .cutOff(bytes: 3, need: 4)), ("010C", "410C1", .cutOff(bytes: 2, need: 3)),
            ("010C", "41 0D 32", .otherAnswer("410d32")), ("0200", "4140FED00400", .otherAnswer("4140fed00400")),
            ("010C", "xyz", .notHexadecimal("XYZ")), ("222000", "xxxxxxxxxxxxxx", .notHexadecimal("XXXXXXXXXXXXXX")),
            ("010C", "7E8 04 41 0C 1A", .cutOff(bytes: 3, need: 4)), ("010C", "7E8 00", .lengthImpossible(0)),
            ("010C", "7E8 09 41 0C 1A F8 00 00 00 00 00", .lengthImpossible(9)),
            ("010C", "48 6B 10 41 0C 1A F8 23", .checksumWrong),
            ("0902", "014/0:49020157304C/2:42353431333236", .frameMissing(1, of: 3)),
            ("0902", "014/0:49020157304C/1:3030303034334D", .frameMissing(2, of: 3)),
            ("0902", "014/1:3030303034334D/2:42353431333236", .frameMissing(0, of: 3)),
            ("0902", "0:49020157304C/1:3030303034334D/2:42353431333236", .lengthMissing),
            ("0902", "014/0:49020157304C/1:3030303034334D/2:423534", .cutOff(bytes: 16, need: 20)),
            ("0902", "014/0:490201", .cutOff(bytes: 3, need: 20)),
            ("0902", "003/0:490201", .lengthImpossible(3)),
            ("0902", "014/0:49020157304C/1:3030303034334D/1:3030303034334E/2:42353431333236", .frameDisputed(1)),
            (
                "0902", "014/0:49020157304C/014/0:49020157304C/1:3030303034334D/1:3030303034334D/2:42353431333236",
                .interleaved
            ),
            ("0902", "7E8101449020157304C/7E82242353431333236", .frameMissing(1, of: 3)),
            ("0902", "7E8213030303034334D", .frameMissing(0, of: 2)),
            ("0902", "7E81014490201", .cutOff(bytes: 3, need: 20)),
            (
                "0902", "7E8101449020157304C/7E8213030303034334D/7E82242353431333236/7E82511223344556677",
                .otherAnswer("11223344556677")
            ),
            ("0902", "49 02 01 00 00 00 57/49 02 03 30 30 34 33", .frameMissing(1, of: 3)),
            ("010C", "7F 01 12", .refused(mode: 1, code: 0x12)),
            ("010C", "7E8 03 7F 01 11/7E9 03 7F 01 78", .refused(mode: 1, code: 0x11)),
            ("0902", "7F0978", .refused(mode: 9, code: 0x78)),
            ("010C", "7F 09 12", .otherAnswer("7f0912")),
        ] as [(String, String, ELMFault)])
    func refuses(_ request: String, _ reply: String, _ fault: ELMFault) {
        #expect(throws: fault) { try Self.answers(request, reply) }
    }

    @Test func aReplyWithoutEndIsRefused() {
        let long = [UInt8](repeating: 0x34, count: ELMPrompt.bytesMax + 1)
        #expect(throws: ELMFault.tooLong(bytesMax: 8_192)) { try ELMReply.answers(long, to: .current(0x0C)) }
        #expect(throws: ELMFault.tooLong(bytesMax: 8_192)) { try ELMReply.text(long, to: "ATI") }
    }

    @Test func requestsAreReadAsPeopleWriteThem() {
        #expect(OBDRequest(text: "01 0c".utf8) == .current(0x0C) && OBDRequest.current(0x0C).text == "010C")
        #expect(OBDRequest(text: "010C1".utf8) == .current(0x0C))
        #expect(OBDRequest(text: "22 194F 1003 1935 2".utf8)?.bytes == [0x22, 0x19, 0x4F, 0x10, 0x03, 0x19, 0x35])
        for text in ["", "0", "ATZ", "01 0G", "0102030405060708"] { #expect(OBDRequest(text: text.utf8) == nil) }
    }

    @Test func commandsOfTheAdapterAreAnsweredInText() throws {
        func text(_ command: String, _ reply: String) throws -> [String] {
            try ELMReply.text(Array(reply.replacing("/", with: "\r").utf8), to: command)
        }
        #expect(try text("ATZ", "ATZ///ELM327 v1.5//") == ["ELM327 v1.5"])
        #expect(try text("AT@1", "AT @1/OBDII to RS232 Interpreter//") == ["OBDII to RS232 Interpreter"])
        #expect(try text("ATRV", "12.6V//") == ["12.6V"])
        #expect(throws: ELMFault.said(.unknownCommand)) { try text("AT@2", "?//") }
        #expect(throws: ELMFault.said(.lowVoltageReset)) { try text("ATI", "LV RESET//ELM327 v1.5//") }
        #expect(throws: ELMFault.empty) { try text("ATZ", "ATZ//") }
    }
}

/// The prompt ends a reply, wherever the bytes are cut.
struct ELMPromptTests {
    private static let stream = Array("ATZ\r\r\rELM327 v1.5\r\r>41 0C\0 1A F8\r\r>\r>NO DATA\r\r>".utf8)
    private static let replies: [ELMPrompt.Event] = [
        "ATZ\r\r\rELM327 v1.5\r\r", "41 0C 1A F8\r\r", "\r", "NO DATA\r\r",
    ].map { .reply(Array($0.utf8)) }

    @Test func everyCutGivesTheSameReplies() {
        for first in 0...Self.stream.count {
            for second in first...Self.stream.count {
                var prompt = ELMPrompt()
                let events =
                    prompt.receive(Self.stream[..<first]) + prompt.receive(Self.stream[first..<second])
                    + prompt.receive(Self.stream[second...])
                #expect(events == Self.replies, "cut at \(first) and \(second)")
                #expect(!prompt.isInReply)
            }
        }
    }

    @Test func babbleWithoutPromptIsToldOnceAndKeepsNothing() {
        var prompt = ELMPrompt()
        var events: [ELMPrompt.Event] = []
        for _ in 0..<1_000 { events += prompt.receive([UInt8](repeating: 0x55, count: 1_000)) }
        #expect(events == [.fault(.tooLong(bytesMax: 8_192))] && prompt.isInReply)
        #expect(prompt.receive(Array("x>41 0D 00\r>".utf8)) == [.reply(Array("41 0D 00\r".utf8))])
        _ = prompt.receive([0x34])
        prompt.clear()
        #expect(!prompt.isInReply)
    }
}
