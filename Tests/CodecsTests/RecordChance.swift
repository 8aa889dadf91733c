import Fleet
import SimKit

/// Car records by chance, most of them spoiled in one way or several: what a decoder must agree with itself about.
struct RecordChance {
    private(set) var chance: SeededChance
    private var json: [UInt8] = []

    init(seed: UInt64) {
        chance = SeededChance(seed: seed)
        json.reserveCapacity(2_048)
    }

    /// A record as a gateway writes it, with any subset of the signals.
    mutating func plain() -> [UInt8] {
        json.removeAll(keepingCapacity: true)
        json += Self.head
        for key in Self.signals where chance.once(in: 2) {
            json += key
            number()
        }
        json.append(0x7D)
        return json
    }

    /// A record whose keys, values, blanks and bytes may all be odd.
    mutating func odd() -> [UInt8] {
        json.removeAll(keepingCapacity: true)
        json.append(0x7B)
        var fields = Self.common
        for key in Self.signals where chance.once(in: 3) { fields.append((key, [])) }
        if chance.once(in: 4) { fields.swapAt(chance.index(fields.count), chance.index(fields.count)) }
        if chance.once(in: 12) { fields.append(fields[chance.index(fields.count)]) }
        if chance.once(in: 12) { fields.append((chance.pick(Self.oddKeys), [])) }
        if chance.once(in: 8) { fields.remove(at: chance.index(fields.count)) }
        let oneIn = 4 + chance.below(60)
        for (place, field) in fields.enumerated() {
            json += place == 0 ? field.0[1...] : field.0[...]
            if chance.once(in: 24) { json += chance.pick(Self.blanks) }
            if chance.once(in: oneIn) {
                json += chance.pick(Self.oddValues)
            } else if field.1.isEmpty {
                number(fractionDigitsMax: chance.once(in: 8) ? 20 : 4)
            } else {
                json += field.1
            }
            if chance.once(in: 24) { json += chance.pick(Self.blanks) }
        }
        json.append(0x7D)
        if chance.once(in: 12) { json += chance.pick(Self.blanks) }
        while chance.once(in: 3) { spoil() }
        return json
    }

    private mutating func spoil() {
        guard !json.isEmpty else { return }
        let place = chance.index(json.count)
        switch chance.below(6) {
        case 0: json[place] ^= 1 << UInt8(chance.below(8))
        case 1: json[place] = chance.pick(Self.oddBytes)
        case 2: json.insert(chance.pick(Self.oddBytes), at: place)
        case 3: json.remove(at: place)
        case 4: json.removeLast(place)
        default: json.insert(contentsOf: chance.pick(Self.oddValues), at: place)
        }
    }

    private mutating func number(fractionDigitsMax: Int64 = 3) {
        let isNegative = chance.once(in: 4)
        if isNegative { json.append(0x2D) }
        let more = chance.below(5)
        digit(isNegative || more > 0 ? 1 : 0)
        for _ in 0..<more { digit() }
        guard chance.once(in: 2) else { return }
        json.append(0x2E)
        for _ in 0...chance.below(fractionDigitsMax) { digit() }
    }
    private mutating func digit(_ least: Int64 = 0) { json.append(UInt8(0x30 + least + chance.below(10 - least))) }

    private static let head = Array(
        #"{"schema":1,"kind":"reading","vehicle":"v00001","ts":1767225600000,"id":"0190f3a2-7c1e-7b3a""#.utf8)
    private static let common: [([UInt8], [UInt8])] = [
        (#","schema":"#, "1"), (#","kind":"#, #""reading""#), (#","vehicle":"#, #""v00001""#),
        (#","ts":"#, "1767225600000"), (#","id":"#, #""0190f3a2-7c1e-7b3a-9d2f""#),
    ].map { (Array($0.utf8), Array($1.utf8)) }
    private static let signals = Signal.allCases.map { Array(#","\#($0.row.key)":"#.utf8) }
    private static let oddKeys = [
        #","extra":"#, #","":"#, #","t\u0073":"#, #","é":"#, #","ts ":"#, #","speed_kmhh":"#, #","speed_km":"#,
        #","connected_device_names":"#, #",ts:"#, #","ts""#, #",,"ts":"#, #""ts":"#, #","a\":"#,
    ].map { Array($0.utf8) }
    private static let blanks = [" ", "\n", "\t", "\r\n", "      ", "\u{b}", "\u{a0}"].map { Array($0.utf8) }
    private static let oddBytes = Array("\"\"\\{}[]:,.-+eE0019 \n\u{0}\u{1f}\u{7f}".utf8) + [0x80, 0xC3, 0xFF]
    private static let oddValues = [
        "1.0", "1e3", "1E-5", "2.5e+1", "-0", "-0.0", "-0.5", "0.0", "0", "-5", "0012", "00.5", "-01", "0.1+", "0.1e",
        "1.", "-", ".5", "+1", "-.5", "1..2", "1 2", "0x10", "9007199254740991.0", "9007199254740992.0",
        "9007199254740993.0", "9007199254740993", "900719925474099.1", "900719925474099.3", "999999999999999999",
        "1234567890123456789", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "99999999999999999999999", "0.30000000000000004", "0.000000000000000001",
        "0.00000000000000000000001", "0.99999999999999999", "123456789.123456789", "1.0005", "2.0015", "true", "false",
        "null", "tru", "nulll", "True", "truefalse", "NaN", #""""#, #""a""#, #""tick""#, #""read\u0069ng""#, #""a\n""#,
        #""\u00e9""#, #""é""#, #""\"""#, #""\""#, #""\x""#, #""\ud800""#, "\"a\tb\"", "\"\u{7f}\"", #""a{b}[c]:,d""#,
        #""a"#, #""reading"#, "[]", "[1,2]", #"["a","b"]"#, "{}", #"{"ts":1}"#, "[", "}",
    ].map { Array($0.utf8) }
}
