import Codecs
import Formats
import Testing

@Suite("Flat JSON objects")
struct FlatJSONTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let expect: [String: JSONValue]?
        init(_ name: String, _ text: String, _ expect: [String: JSONValue]?) {
            (testDescription, self.text, self.expect) = (name, text, expect)
        }
    }

    @Test(arguments: [
        Case("empty", " { } ", [:]),
        Case(
            "each kind", #"{"a":true,"b":false,"c":null,"d":-1.50e+2,"e":"x"}"#,
            ["a": .bool(true), "b": .bool(false), "c": .null, "d": .number("-1.50e+2"), "e": .text("x")]),
        Case("blanks", "\t{\r\n\"a\" : 1 , \"b\" : 2 }\n", ["a": .number("1"), "b": .number("2")]),
        Case("escapes", #"{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude97"}"#, ["a": .text("\"\\/\u{8}\u{C}\n\r\té🚗")]),
        Case("unicode as it is", #"{"ä":"€"}"#, ["ä": .text("€")]),
        Case("nothing", "", nil), Case("a list", "[]", nil), Case("a word", "true", nil),
        Case("two objects", "{}{}", nil), Case("no end", #"{"a":1"#, nil), Case("a comma too many", #"{"a":1,}"#, nil),
        Case("no comma", #"{"a":1 "b":2}"#, nil), Case("no colon", #"{"a" 1}"#, nil), Case("a bare key", "{a:1}", nil),
        Case("a leading zero", #"{"a":01}"#, nil), Case("a leading plus", #"{"a":+1}"#, nil),
        Case("no digit before the point", #"{"a":.5}"#, nil), Case("no digit after it", #"{"a":1.}"#, nil),
        Case("no exponent", #"{"a":1e}"#, nil), Case("no number", #"{"a":NaN}"#, nil),
        Case("a control character", "{\"a\":\"\u{1}\"}", nil), Case("an open text", #"{"a":"x}"#, nil),
        Case("half a pair", #"{"a":"\ud83d"}"#, nil), Case("the wrong half", #"{"a":"\ud83dA"}"#, nil),
        Case("a low half alone", #"{"a":"\ude97"}"#, nil), Case("NUL", #"{"a":"\u0000"}"#, nil),
        Case("a short escape", #"{"a":"\u12"}"#, nil), Case("an unknown escape", #"{"a":"\x"}"#, nil),
        Case("the same key twice", #"{"a":1,"a":1}"#, nil), Case("a list within", #"{"a":[1]}"#, nil),
        Case("an object within", #"{"a":{}}"#, nil),
    ])
    func table(_ c: Case) {
        let found = try? FlatJSON.fields(Array(c.text.utf8), bytesMax: 1_000)
        #expect(found.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.key, $0.value) }) } == c.expect)
    }

    @Test("Bytes that are no UTF-8, and more bytes than are read")
    func bytes() {
        #expect(throws: FlatJSON.Fault.notJSON(at: 2)) {
            try FlatJSON.fields([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], bytesMax: 100)
        }
        #expect(throws: FlatJSON.Fault.tooLarge(bytes: 11, most: 10)) {
            try FlatJSON.fields(Array(repeating: 0x20, count: 11), bytesMax: 10)
        }
        #expect(throws: FlatJSON.Fault.notPlain(key: "a")) {
            try FlatJSON.fields(Array(#"{"a":[1]}"#.utf8), bytesMax: 100)
        }
    }

    @Test("Two million keys are looked through once: each against all before it would take hours")
    func manyKeys() throws {
        var text = Array("{".utf8)
        for key in 0..<2_000_000 { text += Array("\"\(key)\":0,".utf8) }
        let whole = text + Array("\"end\":0}".utf8)
        #expect(try FlatJSON.fields(whole, bytesMax: whole.count).count == 2_000_001)
        #expect(throws: FlatJSON.Fault.repeated(key: "7")) {
            try FlatJSON.fields(text + Array("\"7\":0}".utf8), bytesMax: whole.count)
        }
    }

    @Test(
        "A number that some reader cannot hold is refused with its key",
        arguments: [
            ("0", true), ("-0.0e-0", true), ("1e308", true), ("-1.7e+308", true), ("1e309", false), ("1e999999", false),
            ("-1e999999", false), ("1e-307", true), ("1e-320", false), ("1e-999999", false), ("0e400", true),
            // PostgreSQL counts the places of a zero, too.
            ("0e-999999", false), ("0e99999999999999999999", false), (String(repeating: "9", count: 300), true),
            (String(repeating: "9", count: 310), false), ("0." + String(repeating: "1", count: 398), true),
            ("0." + String(repeating: "1", count: 399), false),
        ])
    func number(_ text: String, isTaken: Bool) {
        let fields = Result { () throws(FlatJSON.Fault) in
            try FlatJSON.fields(Array("{\"x\":\(text)}".utf8), bytesMax: 1_000)
        }
        switch fields {
        case .success: #expect(isTaken)
        case .failure(let fault): #expect(!isTaken && fault == .numberBeyond(key: "x"))
        }
    }
}
