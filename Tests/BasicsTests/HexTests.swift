import Basics
import Testing

@Suite struct HexTests {
    @Test func bytesAndBack() {
        let all = [UInt8](0...255)
        #expect(Hex.bytes(of: Hex.text(all)) == all && Hex.bytes(of: Hex.text(all).uppercased()) == all)
        #expect(Hex.text([]) == "" && Hex.bytes(of: "") == [] && Hex.text([0x0A, 0xF0]) == "0af0")
    }

    @Test(arguments: ["0", "0g", "+f", "0x", "０１", "a b"])
    func notHexadecimal(_ text: String) { #expect(Hex.bytes(of: text) == nil) }
}

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("AZaz09-._~", "AZaz09-._~"), ("a/b?c=d&e f", "a%2Fb%3Fc%3Dd%26e%20f"), ("ä%+\"<", "%C3%A4%25%2B%22%3C"),
        ("\r\n", "%0D%0A"), ("", ""),
    ])
    func textsStayWhatTheyAre(_ plain: String, _ escaped: String) {
        #expect(PercentEncoding.text(plain) == escaped)
        #expect(PercentEncoding.bytes(Array(escaped.utf8)[...], plusIsSpace: true) == Array(plain.utf8))
    }

    @Test func plusIsASpaceInQueriesOnly() {
        #expect(PercentEncoding.bytes(Array("a+b".utf8)[...], plusIsSpace: true) == Array("a b".utf8))
        #expect(PercentEncoding.bytes(Array("a+b".utf8)[...], plusIsSpace: false) == Array("a+b".utf8))
    }

    @Test(arguments: ["%", "%4", "%4g", "%%41"]) func brokenEscapes(_ text: String) {
        #expect(PercentEncoding.bytes(Array(text.utf8)[...], plusIsSpace: false) == nil)
    }
}

@Suite struct JSONStringTests {
    @Test(arguments: [
        ("plain ä 🚗 / \u{7F}\u{2028}", #""plain ä 🚗 / \#u{7F}\#u{2028}""#), ("\"\\", #""\"\\""#),
        ("\r\n\t\u{0}\u{1F}", #""\r\n\t\u0000\u001f""#), ("", "\"\""),
    ])
    func escapes(_ text: String, _ json: String) { #expect(JSONString.quoted(text) == json) }

    @Test func moreIsEscapedWhereALogWantsIt() {
        var line = ""
        JSONString.append("a\u{202E}b", to: &line) { $0.value == 0x202E ? JSONString.escape($0) : nil }
        #expect(line == #""a\u202eb""#)
    }
}
