public import Formats

/// Which field of an old client's node (Drupal Services) is which field of a survey. A line a field, `#` begins a remark:
///
///     field_site = site
///     field_seen[].field_species = sightings[].species
///     @utc_offset = +03:00
///
/// `[]` stands for each item of a list; without it the first item counts. `@utc_offset` is that of times without one.
public struct SurveyNodeMap: Sendable {
    public struct Fault: Error, Equatable, CustomStringConvertible {
        public let line: Int
        public let reason: String
        public var description: String { "line \(line): \(reason)" }
    }

    private struct Rule {
        /// Up to and after the `[]`; the second is empty without one.
        let from, fromItem: [Substring]
        let to, toItem: [Substring]
        let isOfItems: Bool
    }

    public static let bytesMax = 64 << 10
    private static let rulesMax = 500
    /// Fields that such a node keeps for its own server.
    private static let ofNodes: Set<String> = [
        "type", "uid", "name", "language", "status", "vid", "created", "changed", "promote", "sticky", "comment",
        "form_id", "form_token", "form_build_id", "op",
    ]

    private var rules: [Rule] = []
    private var utcOffset = ""

    public init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= SurveyNodeMap.bytesMax, let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(line: 1, reason: "the file must be UTF-8 text of at most \(SurveyNodeMap.bytesMax) bytes")
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let said = XMLRPC.blankless(String(line.prefix { $0 != "#" }))
            if !said.isEmpty { try parse(said, line: index + 1) }
        }
        guard !rules.isEmpty, rules.count <= SurveyNodeMap.rulesMax else {
            throw Fault(
                line: 1, reason: "1 to \(SurveyNodeMap.rulesMax) fields must be named, like `field_site = site`")
        }
    }

    private mutating func parse(_ said: String, line: Int) throws(Fault) {
        let sides = said.split(separator: "=", omittingEmptySubsequences: false)
            .map { XMLRPC.blankless(String($0)) }
        guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
            throw Fault(line: line, reason: "must be FIELD = PATH")
        }
        if sides[0] == "@utc_offset" {
            utcOffset = sides[1]
            return
        }
        let (from, to) = (SurveyNodeMap.halves(sides[0]), SurveyNodeMap.halves(sides[1]))
        guard let from, let to, to.item == nil || from.item != nil else {
            throw Fault(
                line: line, reason: "`[]` may stand once on each side, and on the right only where it is on the left")
        }
        rules.append(
            Rule(
                from: from.head, fromItem: from.item ?? [], to: to.head, toItem: to.item ?? [],
                isOfItems: from.item != nil))
    }

    /// Nil: `[]` stands twice.
    private static func halves(_ path: String) -> (head: [Substring], item: [Substring]?)? {
        let parts = path.split(separator: "[]", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { return nil }
        let head = path.prefix(parts[0].count).split(separator: ".")
        return (head, parts.count == 2 ? parts[1].split(separator: ".") : nil)
    }

    // MARK: Nodes

    /// The object of docs/survey-records.md. Fields that no line names are kept as they are, where they are plain.
    public func survey(of node: XMLRPC.Value) throws(SurveyText.Faults) -> JSONValue {
        guard case .structure(let members) = node else { throw SurveyText.Faults(all: ["the node must be a struct"]) }
        var (form, faults) = (SurveyForm(), [String]())
        func put(_ path: [Substring], _ value: XMLRPC.Value) {
            guard let tree = tree(value, of: path.last ?? "") else { return }
            if !form.put(path, tree) { faults.append("\(path.joined(separator: ".")): is said twice, or of two kinds") }
        }
        for rule in rules {
            guard let found = SurveyNodeMap.value(at: rule.from[...], of: node) else { continue }
            guard rule.isOfItems else {
                put(rule.to, SurveyNodeMap.plain(found))
                continue
            }
            let items = SurveyNodeMap.items(found)
            guard items.count <= SurveyForm.itemsMax else {
                throw SurveyText.Faults(all: ["\(rule.to.joined(separator: ".")): at most \(SurveyForm.itemsMax) items"]
                )
            }
            let values = items.map { SurveyNodeMap.value(at: rule.fromItem[...], of: $0).map(SurveyNodeMap.plain) }
            if rule.toItem.isEmpty {
                put(rule.to, .list(values.compactMap { $0 }))
            } else {
                for (index, value) in values.enumerated() {
                    if let value { put(rule.to + ["\(index + 1)"] + rule.toItem, value) }
                }
            }
        }
        let named = Set(rules.compactMap { $0.from.first.map(String.init) })
        for member in members where !named.contains(member.name) && !SurveyNodeMap.ofNodes.contains(member.name) {
            switch SurveyNodeMap.plain(member.value) {
            case .list, .structure, .bytes, .null: continue
            case let value: put([member.name[...]], value)
            }
        }
        guard faults.isEmpty else { throw SurveyText.Faults(all: faults) }
        return SurveyNodeMap.completed(form.tree)
    }

    private static func completed(_ tree: JSONValue) -> JSONValue {
        guard case .object(var fields) = tree else { return tree }
        if tree["schema"] == nil { fields.append((key: "schema", value: .number("1"))) }
        if tree["sightings"] == nil { fields.append((key: "sightings", value: .list([]))) }
        return .object(fields)
    }

    private static func value(at path: ArraySlice<Substring>, of value: XMLRPC.Value) -> XMLRPC.Value? {
        guard let key = path.first else { return value }
        switch value {
        case .structure(let members):
            if let member = members.first(where: { $0.name == key }) {
                return self.value(at: path.dropFirst(), of: member.value)
            }
            // One language stands between a field and its items.
            guard members.count == 1 else { return nil }
            return self.value(at: path, of: members[0].value)
        case .list(let values): return values.first.flatMap { self.value(at: path, of: $0) }
        case .integer, .bool, .double, .text, .time, .bytes, .null: return nil
        }
    }

    private static func items(_ value: XMLRPC.Value) -> [XMLRPC.Value] {
        switch value {
        case .list(let values): values
        case .structure(let members) where members.count == 1: items(members[0].value)
        case .null: []
        case .integer, .bool, .double, .text, .time, .bytes, .structure: [value]
        }
    }

    /// A field's value without the language, the list and the format that are around it.
    private static func plain(_ value: XMLRPC.Value) -> XMLRPC.Value {
        switch value {
        case .list(let values): values.first.map(plain) ?? .null
        case .structure(let members):
            if let member = members.first(where: { $0.name == "value" }) {
                plain(member.value)
            } else if members.count == 1 {
                plain(members[0].value)
            } else {
                value
            }
        case .integer, .bool, .double, .text, .time, .bytes, .null: value
        }
    }

    private func tree(_ value: XMLRPC.Value, of key: Substring) -> JSONValue? {
        switch value {
        case .text(let text) where text.isEmpty: nil
        case .text(let text) where SurveyNodeMap.times.contains(key): .text(SurveyTimes.whole(text, utcOffset))
        case .text(let text): SurveyForm.value(text, of: key)
        case .integer, .bool, .double, .time, .bytes, .list, .structure, .null:
            SurveyTimes.tree(value, utcOffset: utcOffset)
        }
    }

    private static let times: Set<Substring> = ["start", "stop", "time"]
}

/// Times as XML-RPC and databases write them, which our own reader does not take.
enum SurveyTimes {
    /// `20200501T13:00:00` and `2020-05-01 13:00:00` as `2020-05-01T13:00:00+03:00`; others as they are.
    static func whole(_ text: String, _ utcOffset: String) -> String {
        var bytes = Array(XMLRPC.blankless(text).utf8)
        func isDigits(_ range: Range<Int>) -> Bool {
            range.upperBound <= bytes.count && bytes[range].allSatisfy { (0x30...0x39).contains($0) }
        }
        if isDigits(0..<8) {
            bytes.insert(UInt8(ascii: "-"), at: 6)
            bytes.insert(UInt8(ascii: "-"), at: 4)
        }
        if bytes.count > 10, bytes[10] == 0x20 { bytes[10] = UInt8(ascii: "T") }
        let clock = bytes.dropFirst(11)
        let hasOffset = clock.contains { "Zz+-".utf8.contains($0) }
        return String(decoding: bytes, as: UTF8.self) + (clock.isEmpty || hasOffset ? "" : utcOffset)
    }

    /// The parameters of `drover.submitSurvey` as JSON; nil for values without a counterpart.
    static func tree(_ value: XMLRPC.Value, utcOffset: String = "") -> JSONValue? {
        switch value {
        case .integer(let number): .number(String(number))
        case .bool(let flag): .bool(flag)
        case .double(let number): .number(number)
        case .text(let text): .text(text)
        case .time(let text): .text(whole(text, utcOffset))
        case .bytes, .null: nil
        case .list(let values): .list(values.compactMap { tree($0, utcOffset: utcOffset) })
        case .structure(let members):
            .object(
                members.compactMap { member in
                    tree(member.value, utcOffset: utcOffset).map { (key: member.name, value: $0) }
                })
        }
    }
}

extension XMLRPC.Value {
    /// As the JSON that says the same; nil for bytes and nil.
    public var json: JSONValue? { SurveyTimes.tree(self) }
}
