import Codecs
import Testing

struct OBDTranscriptTests {
    private static func exchanges(_ text: String) -> [String] {
        OBDTranscript.exchanges(Array(text.utf8)).map {
            "\($0.line) \($0.request) → " + String(decoding: $0.reply, as: UTF8.self).replacing("\r", with: "/")
        }
    }

    @Test(
        "A log of any terminal is its requests and replies",
        arguments: [
            (
                "echo on, CR only", "ATZ\r\r\rELM327 v1.5\r\r>010C\r41 0C 1A F8\r\r>010D\r41 0D 32\r\r>",
                ["1 ATZ → //ELM327 v1.5//", "6 010C → 41 0C 1A F8//", "9 010D → 41 0D 32//"]
            ),
            (
                "CRLF, blank after the prompt", "> 01 0C\r\n41 0C 1A F8\r\n\r\n> 010D\r\nNO DATA\r\n",
                ["1 01 0C → 41 0C 1A F8//", "4 010D → NO DATA/"]
            ),
            ("no reply at the end", ">010C\n41 0C\n>010D", ["1 010C → 41 0C/", "3 010D → "]),
            (
                "the prompt behind the reply", "010C\n41 0C 1A F8 >010D\n41 0D 32 >\n",
                ["1 010C → 41 0C 1A F8 /", "2 010D → 41 0D 32 /"]
            ),
            (
                "noise in front, notes between", "connected\n# a note\n>010C\n# another\n41 0C 1A F8\n",
                ["3 010C → 41 0C 1A F8/"]
            ),
            (
                "two columns", "request\treply\n010C\t41 0C 1A F8\\r\\r\n0902\tSEARCHING...\\r014\\r0:490201\n03\t\n",
                ["2 010C → 41 0C 1A F8//", "3 0902 → SEARCHING.../014/0:490201", "4 03 → "]
            ),
            ("nothing", "", []), ("no request", "hello\nworld\n", []), ("prompts only", ">>>\n>\n", []),
        ] as [(String, String, [String])])
    func logs(_ name: String, _ text: String, _ expected: [String]) {
        #expect(Self.exchanges(text) == expected)
    }
}
