import Testing
import Wire

@Suite("Flat JSON objects")
struct FlatJSONTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let expect: [String: FlatJSON.Value]?
        init(_ name: String, _ text: String, _ expect: [String: FlatJSON.Value]?) {
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
}
