import Clients
import Delivery
import Testing

struct ForwardAnswerTests {
    @Test(
        "What an answer means for what was sent",
        arguments: [
            (200, nil, .taken), (204, nil, .taken), (400, nil, .refused), (403, nil, .refused), (409, nil, .refused),
            (422, "5", .refused), (429, nil, .later(waitMs: 60_000)), (429, "7", .later(waitMs: 7_000)),
            (429, "99999999", .later(waitMs: 86_400_000)), (429, "soon", .later(waitMs: 60_000)),
            (503, "2", .later(waitMs: 2_000)), (503, nil, .later(waitMs: nil)), (500, nil, .later(waitMs: nil)),
            (401, nil, .later(waitMs: nil)), (408, nil, .later(waitMs: nil)), (301, nil, .later(waitMs: nil)),
            (100, nil, .later(waitMs: nil)),
        ] as [(Int, String?, ForwardAnswer)])
    func meaning(_ status: Int, _ retryAfter: String?, _ expected: ForwardAnswer) {
        let reply = Reply(status: status, headers: retryAfter.map { ["retry-after": $0] } ?? [:], body: [])
        #expect(ForwardAnswer(reply, nowMs: 1_795_302_412_000) == expected)
    }

    @Test(
        "Its words are one printable line without our key",
        arguments: [
            ("Unknown\r\n\u{1B}[31mspecies\u{0}  X", "Unknown [31mspecies X"),
            ("our-key is wrong: our-key", "… is wrong: …"),
            ("", ""), ("\u{202E}backwards", "backwards"),
        ])
    func words(_ body: String, _ expected: String) {
        let reply = Reply(status: 400, headers: [:], body: Array(body.utf8))
        #expect(ForwardAnswer.words(reply, without: "our-key") == expected)
    }

    @Test func bytesThatAreNoTextAreWordsAllTheSame() {
        let reply = Reply(status: 400, headers: [:], body: [0xFF, 0x41])
        #expect(ForwardAnswer.words(reply, without: nil) == "\u{FFFD}A")
    }
}
