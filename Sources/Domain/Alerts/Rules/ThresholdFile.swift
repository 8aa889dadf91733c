internal import Basics
internal import Codecs
internal import Fleet
internal import Formats

/// Reads one model's threshold file. Every mistake in it is reported, not only the first.
public enum ThresholdFile {
    static let suffix = "-thresholds.xml"
    static let textBytesMax = 1_000
    /// Values are compared as thousandths; nothing that is measured on a machine comes near.
    static let valueMost: Int64 = 1_000_000_000

    private static let required = ["name", "test", "unit", "type", "user", "threshold"]
    private static let optional = [
        "critical", "for", "clear", "absent", "every", "soon", "recommended", "capacity", "advice",
    ]

    /// `8R Tractor-thresholds.xml` → `8R Tractor`; nil for a file of another kind.
    public static func model(of fileName: String) -> String? {
        guard fileName.hasSuffix(suffix), fileName.count > suffix.count else { return nil }
        return String(fileName.dropLast(suffix.count))
    }

    public static func parse(fileName: String, bytes: [UInt8]) throws(ThresholdError) -> [Threshold] {
        let root = try RuleFile.root(of: bytes, fileName: fileName)
        var reader = ThresholdReader(file: fileName)
        let thresholds = reader.read(root)
        guard reader.problems.isEmpty else { throw ThresholdError(problems: reader.problems) }
        return thresholds
    }

    /// Collects rows and mistakes.
    private struct ThresholdReader {
        let file: String
        var problems: [ThresholdProblem] = []

        init(file: String) { self.file = file }

        mutating func read(_ root: XMLElement) -> [Threshold] {
            if root.name != "root" { note(root, value: root.name, .notAccepted(["root"])) }
            var (thresholds, lines): ([Threshold], [ThresholdField: Int]) = ([], [:])
            for element in root.children {
                guard element.name == "parameter" else {
                    note(element, .unknownElement(accepted: ["parameter"]))
                    continue
                }
                guard let threshold = parameter(element) else { continue }
                if let first = lines[threshold.field] {
                    note(element, value: threshold.name, .repeated(firstLine: first))
                }
                lines[threshold.field] = element.line
                thresholds.append(threshold)
            }
            if root.children.isEmpty { note(root, .missing(accepted: "one <parameter> or more")) }
            return thresholds
        }

        private mutating func parameter(_ element: XMLElement) -> Threshold? {
            var parts: [String: XMLElement] = [:]
            for child in element.children {
                guard required.contains(child.name) || optional.contains(child.name) else {
                    note(child, .unknownElement(accepted: required + optional))
                    continue
                }
                for inner in child.children { note(inner, .contradicts("<\(child.name)> holds text only")) }
                if let first = parts[child.name] { note(child, .repeated(firstLine: first.line)) }
                parts[child.name] = child
            }
            for name in required where parts[name] == nil { note(element, .missing(accepted: "<\(name)>")) }
            // Each is read before any is missed, so that every mistake is told.
            let found = (
                field: parts["name"].flatMap { field($0) }, test: choice(parts["test"], Threshold.Test.self),
                type: choice(parts["type"], Threshold.ValueType.self), user: choice(parts["user"], Audience.self)
            )
            guard let field = found.field, let test = found.test, let type = found.type, let user = found.user else {
                return nil
            }
            var threshold = Threshold(
                field: field, test: test, unit: text(parts["unit"]) ?? "", type: type, audience: user, threshold: nil)
            if test != .shown { threshold.threshold = number(parts["threshold"], isFlag: type == .bool) }
            threshold.critical = number(parts["critical"])
            threshold.clear = number(parts["clear"])
            threshold.every = number(parts["every"])
            threshold.soon = number(parts["soon"])
            threshold.recommended = number(parts["recommended"])
            threshold.capacity = number(parts["capacity"])
            // Seconds come as thousandths, which are milliseconds.
            threshold.holdMs = number(parts["for"]) ?? 0
            threshold.absentMs = number(parts["absent"])
            threshold.advice = text(parts["advice"])
            check(threshold, element, parts)
            return threshold
        }

        /// Rejects values that are valid alone but not together.
        private mutating func check(_ threshold: Threshold, _ element: XMLElement, _ parts: [String: XMLElement]) {
            if let judged = threshold.field.judgedType {
                if threshold.test != .shown, threshold.type != judged {
                    note(
                        parts["type"] ?? element, value: threshold.type.rawValue,
                        .contradicts("\(threshold.name) is compared as \(judged.rawValue)"))
                }
            } else if threshold.test != .shown {
                note(
                    parts["test"] ?? element, value: threshold.test.rawValue,
                    .contradicts("\(threshold.name) is only shown: test must be none"))
            }
            checkService(threshold, element, parts)
            for (name, why) in threshold.contradictions {
                note(parts[name] ?? element, value: parts[name]?.text, .contradicts(why))
            }
        }

        private mutating func checkService(
            _ threshold: Threshold, _ element: XMLElement, _ parts: [String: XMLElement]
        ) {
            func contradicts(_ name: String, _ why: String) {
                note(parts[name] ?? element, value: parts[name].map { $0.text.trimmed }, .contradicts(why))
            }
            guard let every = threshold.every else {
                if threshold.soon != nil { contradicts("soon", "there is no service without <every>") }
                return
            }
            guard threshold.field == .parameter(.engineHours), threshold.test == .above else {
                return contradicts("every", "services are counted in Engine Hours with the test above")
            }
            // Old apps compare the threshold: two numbers would be two answers.
            if let limit = threshold.threshold, limit != every {
                contradicts("threshold", "must be the same number of hours as <every>")
            }
            if let soon = threshold.soon, soon >= every { contradicts("soon", "must be less than <every>") }
        }

        private mutating func field(_ element: XMLElement) -> ThresholdField? {
            let name = element.text.trimmed
            if let field = ThresholdField(name: name) { return field }
            note(element, value: name, .notAccepted(ThresholdField.acceptedNames))
            return nil
        }

        private mutating func choice<T: RawRepresentable & CaseIterable>(_ element: XMLElement?, _: T.Type) -> T?
        where T.RawValue == String {
            guard let element else { return nil }
            let text = element.text.trimmed
            if let choice = T(rawValue: text) { return choice }
            note(element, value: text, .notAccepted(T.allCases.map(\.rawValue)))
            return nil
        }

        private mutating func number(_ element: XMLElement?, isFlag: Bool = false) -> Int64? {
            guard let element else { return nil }
            let text = element.text.trimmed
            guard let value = Decimal.scaled(text.utf8, decimals: 3) else {
                note(element, value: text, isFlag ? .notAccepted(["0", "1"]) : .notNumber)
                return nil
            }
            if isFlag, value != 0, value != 1_000 {
                note(element, value: text, .notAccepted(["0", "1"]))
            } else if value.magnitude > UInt64(valueMost) * 1_000 {
                note(element, value: text, .outOfRange(least: -valueMost, most: valueMost))
            } else if ["for", "absent", "every", "soon"].contains(element.name), value < 0 {
                note(element, value: text, .outOfRange(least: 0, most: valueMost))
            }
            return value
        }

        private mutating func text(_ element: XMLElement?) -> String? {
            guard let element else { return nil }
            let text = element.text.trimmed
            if text.utf8.count > textBytesMax { note(element, .tooLong(bytesMax: textBytesMax)) }
            return text.isEmpty ? nil : text
        }

        private mutating func note(_ element: XMLElement, value: String? = nil, _ reason: ThresholdProblem.Reason) {
            problems.append(
                ThresholdProblem(file: file, line: element.line, element: element.name, value: value, reason: reason))
        }
    }
}
