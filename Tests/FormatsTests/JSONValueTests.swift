import Codecs
import Formats
import Foundation
import SimKit
import Testing

struct JSONValueTests {
    @Test(arguments: [
        ("null", JSONValue.null), (" true ", .bool(true)), ("-1.5e3", .number("-1.5e3")),
        ("\"a\\u00e9\\n\"", .text("aé\n")),
        ("[]", .list([])), ("[1, [2,{}]]", .list([.number("1"), .list([.number("2"), .object([])])])),
    ])
    func read(_ text: String, _ tree: JSONValue) throws { #expect(try JSONValue(Array(text.utf8)) == tree) }

    @Test(arguments: [
        "", " ", "{", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "tru", "01", "1.", "+1", "\"", "\"\u{1}\"",
        "[]x", "NaN",
        "\u{FEFF}[]", "'a'", "[1]]",
    ])
    func refused(_ text: String) { #expect(throws: JSONValue.Fault.self) { try JSONValue(Array(text.utf8)) } }

    @Test func bounds() {
        let deep = { (n: Int) in Array((String(repeating: "[", count: n) + String(repeating: "]", count: n)).utf8) }
        #expect(throws: Never.self) { try JSONValue(deep(JSONValue.depthMax)) }
        #expect(throws: JSONValue.Fault.tooDeep(most: JSONValue.depthMax)) {
            try JSONValue(deep(JSONValue.depthMax + 2))
        }
        // Nothing may recurse with the input.
        #expect(throws: JSONValue.Fault.self) { try JSONValue([UInt8](repeating: 0x5B, count: 4 << 20)) }
        #expect(throws: JSONValue.Fault.tooMany(most: 3)) { try JSONValue(Array("[1,2,3]".utf8), valuesMax: 3) }
        #expect(throws: JSONValue.Fault.tooLarge(bytes: 5, most: 4)) { try JSONValue(Array("[1,2]".utf8), bytesMax: 4) }
    }

    @Test func whatIsNoNumberHasNoValue() throws {
        let tree = try JSONValue(Array(#"{"a":1e999,"b":"nan","c":"7.5","d":2.0,"e":1.5,"a":3}"#.utf8))
        #expect(tree["a"]?.double == nil)
        #expect(tree["b"]?.double == nil)
        #expect(tree["c"]?.double == 7.5)
        #expect(tree["d"]?.integer == 2)
        #expect(tree["e"]?.integer == nil)
        #expect(tree["z"] == nil && tree[0] == nil)
    }

    /// Foundation's parser is the reference: what ours reads is the same there, whatever bytes it is made of.
    @Test func sameAsFoundation() {
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\\\"\"", "\"\\ud83d\\ude00\"", "1", "-0.5", "2e3", "true",
            "null", " ", "\\",
        ]
        for seed in 0..<UInt64(4_000) {
            var chance = SeededChance(seed: seed)
            var text = ""
            for _ in 0..<chance.below(9) { text += pieces[Int(chance.below(Int64(pieces.count)))] }
            guard let ours = try? JSONValue(Array(text.utf8)) else { continue }
            let reference = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            #expect(reference != nil, "seed \(seed): \(text)")
            if let reference { #expect(same(ours, reference), "seed \(seed): \(text)") }
        }
    }

    private func same(_ tree: JSONValue, _ other: Any) -> Bool {
        switch tree {
        case .null: return other is NSNull
        case .bool(let value): return (other as? NSNumber)?.boolValue == value
        case .number: return (other as? NSNumber)?.doubleValue == tree.double
        case .text(let text): return other as? String == text
        case .list(let items):
            guard let others = other as? [Any], others.count == items.count else { return false }
            return zip(items, others).allSatisfy(same)
        case .object(let fields):
            guard let others = other as? [String: Any] else { return false }
            return Set(fields.map(\.key)) == Set(others.keys)
        }
    }
}
