public import Codecs
internal import Fleet

/// A rule set as text for the log: one line per model or machine and per rule, in a fixed order, fields separated by tabs. Values are
/// thousandths, times milliseconds; absent fields are empty. Names of our types do not occur in it.
///
/// Whether a machine is judged at all is read from it by the database, too (`drover.is_judged`).
///
/// The second form has rules of single machines, and `soon` at the end of each rule. A set that needs neither is written
/// in the first, so that one set has one text, and records of then keep the version that they carry.
extension RuleSet {
    private static let (heading, secondHeading) = ("drover-rules 1", "drover-rules 2")
    /// Escaped in a record it stays under the broker's usual limit of a megabyte.
    public static let textBytesMax = 400_000
    private static let groupsMax = 10_000

    /// The model or machine whose rules follow.
    private enum Group: Hashable { case model(String), machine(VehicleID) }

    static func text(of models: [String: [Threshold]], _ machines: [VehicleID: [Threshold]]) -> String {
        let isSecond = !machines.isEmpty || models.values.contains { $0.contains { $0.soon != nil } }
        var lines = [isSecond ? secondHeading : heading]
        func add(_ name: String, _ thresholds: [Threshold]) {
            lines.append(name)
            lines += thresholds.map { isSecond ? $0.line : $0.firstLine }
        }
        for (model, thresholds) in models.sorted(by: { Array($0.key.utf8).lexicographicallyPrecedes($1.key.utf8) }) {
            add("model\t" + escaped(model), thresholds)
        }
        for (machine, thresholds) in machines.sorted(by: { $0.key < $1.key }) {
            add("machine\t" + machine.text, thresholds)
        }
        return lines.joined(separator: "\n")
    }

    /// Precondition: none; whatever the text is, it is decoded or refused.
    public init(text: String) throws(DecodeError) {
        guard text.utf8.count <= RuleSet.textBytesMax else {
            throw .tooLarge(bytes: text.utf8.count, most: RuleSet.textBytesMax)
        }
        var (groups, group): ([Group: [Threshold]], Group?) = ([:], nil)
        // By scalars: a carriage return and a line feed are one Character.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        let isSecond = lines.first.map { String($0) } == RuleSet.secondHeading
        guard isSecond || lines.first.map({ String($0) }) == RuleSet.heading else {
            throw .rules("the first line is neither `\(RuleSet.heading)` nor `\(RuleSet.secondHeading)`")
        }
        for line in lines.dropFirst() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
            if fields.count == 2 {
                group = try RuleSet.group(fields, isSecond)
                guard groups.updateValue([], forKey: group!) == nil else { throw .rules("a model stands twice") }
                guard groups.count <= RuleSet.groupsMax else { throw .rules("too many models") }
            } else if let group {
                let threshold = try Threshold(fields, isSecond)
                guard !groups[group]!.contains(where: { $0.field == threshold.field }) else {
                    throw .rules("a rule stands twice")
                }
                groups[group]!.append(threshold)
            } else {
                throw .rules("a rule before the first model")
            }
        }
        var (models, machines): ([String: [Threshold]], [VehicleID: [Threshold]]) = ([:], [:])
        for (group, thresholds) in groups {
            switch group {
            case .model(let model): models[model] = thresholds
            case .machine(let machine): machines[machine] = thresholds
            }
        }
        self.init(models, machines: machines)
    }

    private static func group(_ fields: [String], _ isSecond: Bool) throws(DecodeError) -> Group {
        switch fields[0] {
        case "model": return .model(try unescaped(fields[1]))
        case "machine":
            guard isSecond, let machine = VehicleID(fields[1]) else { throw .rules("a machine that is none") }
            return .machine(machine)
        default: throw .rules("a line that is neither model, machine nor rule")
        }
    }

    fileprivate static func escaped(_ text: String) -> String {
        if text.isEmpty { return "\\e" }
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out += "\\\\"
            case "\t": out += "\\t"
            case "\n": out += "\\n"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    fileprivate static func unescaped(_ text: String) throws(DecodeError) -> String {
        if text == "\\e" { return "" }
        var (out, rest) = ("", text.unicodeScalars.makeIterator())
        while let scalar = rest.next() {
            guard scalar == "\\" else {
                out.unicodeScalars.append(scalar)
                continue
            }
            switch rest.next() {
            case "\\": out += "\\"
            case "t": out += "\t"
            case "n": out += "\n"
            default: throw .rules("an unknown escape")
            }
        }
        guard !out.isEmpty, !out.unicodeScalars.contains("\0") else { throw .rules("a text that is none") }
        return out
    }
}

extension Threshold {
    /// All values in a fixed form.
    var line: String { firstLine + "\t" + (soon.map { String($0) } ?? "") }

    /// Without `soon`, as the first form of the text has it.
    fileprivate var firstLine: String {
        let texts = [name, test.rawValue, unit, type.rawValue, audience.rawValue].map(RuleSet.escaped)
        let numbers = [threshold, critical, holdMs, clear, absentMs, every, recommended, capacity]
        return (["rule"] + texts + numbers.map { $0.map { String($0) } ?? "" } + [advice.map(RuleSet.escaped) ?? ""])
            .joined(separator: "\t")
    }

    fileprivate init(_ fields: [String], _ isSecond: Bool) throws(DecodeError) {
        guard fields.count == (isSecond ? 16 : 15), fields[0] == "rule" else {
            throw .rules("a line that is neither model, machine nor rule")
        }
        var texts: [String] = []
        for field in fields[1...5] { texts.append(try RuleSet.unescaped(field)) }
        guard let field = ThresholdField(anyName: texts[0]), let test = Test(rawValue: texts[1]),
            let type = ValueType(rawValue: texts[3]), let audience = Audience(rawValue: texts[4])
        else { throw .rules("an unknown name") }
        var numbers: [Int64?] = []
        for text in fields[6...13] + fields[15...] {
            numbers.append(text.isEmpty ? nil : try Threshold.number(text))
        }
        let soon = isSecond ? numbers[8] : nil
        guard let holdMs = numbers[2], holdMs >= 0, numbers[4] ?? 0 >= 0, numbers[5] ?? 0 >= 0, soon ?? 0 >= 0 else {
            throw .rules("a time below 0")
        }
        guard texts[2].utf8.count <= ThresholdFile.textBytesMax, fields[14].utf8.count <= ThresholdFile.textBytesMax
        else {
            throw .rules("a text over \(ThresholdFile.textBytesMax) bytes")
        }
        self.init(field: field, test: test, unit: texts[2], type: type, audience: audience, threshold: numbers[0])
        critical = numbers[1]
        self.holdMs = holdMs
        clear = numbers[3]
        absentMs = numbers[4]
        every = numbers[5]
        recommended = numbers[6]
        capacity = numbers[7]
        self.soon = soon
        advice = fields[14].isEmpty ? nil : try RuleSet.unescaped(fields[14])
    }

    /// The largest number that a threshold file may have: results must not overflow.
    private static func number(_ text: String) throws(DecodeError) -> Int64 {
        guard let number = Int64(text), String(number) == text,
            number.magnitude <= UInt64(ThresholdFile.valueMost) * 1_000
        else { throw .rules("a number that is none, or too large") }
        return number
    }
}

extension ThresholdField {
    /// Includes parameters that no threshold file can name.
    public init?(anyName name: String) {
        if let field = ThresholdField(name: name) {
            self = field
        } else if let parameter = MachineParameter.allCases.first(where: { $0.row.name == name }) {
            self = .parameter(parameter)
        } else if name.hasPrefix(TroubleCodes.prefix) {
            self = .parameter(.troubleCode)
        } else {
            return nil
        }
    }
}
