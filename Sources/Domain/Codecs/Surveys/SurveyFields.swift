internal import Basics
internal import Fleet
internal import Formats

/// The faults of a survey by place, shared by the readers of its objects.
final class SurveyFaults {
    static let most = 50
    private(set) var all: [String] = []

    func add(_ path: String, _ rule: String) {
        guard all.count < SurveyFaults.most else { return }
        all.append("\(path): \(rule)")
    }
}

/// Reads one object of a survey field by field: known fields are removed, and the rest is kept as it is. Faults name the place and the
/// rule, never the value: it may be personal, or a secret place.
struct SurveyFields {
    static let otherBytesMax = 4_096
    private static let otherDepthMax = 8

    let path: String
    let faults: SurveyFaults
    private var fields: [String: JSONValue] = [:]

    /// Nil for what is no object.
    init?(_ tree: JSONValue, path: String, faults: SurveyFaults) {
        self.path = path
        self.faults = faults
        guard case .object(let given) = tree else {
            faults.add(path.isEmpty ? "the survey" : path, "must be a JSON object")
            return nil
        }
        for field in given where fields.updateValue(field.value, forKey: field.key) != nil {
            faults.add(at(SurveyFields.shown(field.key)), "stands there more than once")
        }
    }

    func at(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
    func fault(_ key: String, _ rule: String) { faults.add(at(key), rule) }

    /// The value, which is known from now on; null is not given.
    mutating func remove(_ key: String) -> JSONValue? {
        guard let value = fields.removeValue(forKey: key), !value.isNull else { return nil }
        return value
    }

    // MARK: Texts

    mutating func text(_ key: String, bytesMax: Int = 200) -> String? {
        guard let value = remove(key) else { return nil }
        guard let text = value.text, text.utf8.count <= bytesMax, SurveyFields.isPlain(text) else {
            fault(key, "must be a text of at most \(bytesMax) bytes without control characters")
            return nil
        }
        return text
    }

    mutating func comment(_ key: String) -> String? { text(key, bytesMax: SurveyText.commentBytesMax) }

    /// A text that says something.
    mutating func required(_ key: String) -> String? {
        let isGiven = has(key)
        guard let text = text(key) else {
            if !isGiven { fault(key, "is missing") }
            return nil
        }
        guard text.contains(where: { !$0.isWhitespace }) else {
            fault(key, "must not be empty")
            return nil
        }
        return text
    }

    mutating func id(_ key: String, isRequired: Bool = true) -> String? {
        guard let value = remove(key) else {
            if isRequired { fault(key, "is missing") }
            return nil
        }
        guard let text = value.text, VehicleID.isValid(text.utf8) else {
            fault(key, "must be 1 to 64 letters, digits, -, _ or .")
            return nil
        }
        return text
    }

    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        guard let value = remove(key) else { return nil }
        if let text = value.text, let choice = Choice(rawValue: text) { return choice }
        fault(key, "must be one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        return nil
    }

    /// No control characters but line breaks and tabs, and nothing that XML 1.0 has no place for.
    static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x09, 0x0A, 0x0D: true
            case 0..<0x20, 0x7F..<0xA0, 0xFFFE, 0xFFFF: false
            default: true
            }
        }
    }

    // MARK: Numbers and times

    mutating func flag(_ key: String) -> Bool? {
        guard let value = remove(key) else { return nil }
        if case .bool(let flag) = value { return flag }
        fault(key, "must be true or false")
        return nil
    }

    /// In units of 10^-decimals, rounded. `range` is in whole units.
    mutating func scaled(_ key: String, decimals: Int, _ range: ClosedRange<Int64>) -> Int64? {
        guard let value = remove(key) else { return nil }
        let one = Decimal.powerOfTen(decimals)
        if case .number(let text) = value, text.utf8.count <= 40,
            let number = Decimal.scaled(text.utf8, decimals: decimals),
            (range.lowerBound * one...range.upperBound * one).contains(number)
        {
            return number
        }
        fault(key, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    mutating func whole(_ key: String, _ range: ClosedRange<Int64>) -> Int? {
        guard let value = remove(key) else { return nil }
        if case .number(let text) = value, text.utf8.count <= 40,
            let number = Decimal.scaled(text.utf8, decimals: 6), number % 1_000_000 == 0,
            range.contains(number / 1_000_000)
        {
            return Int(number / 1_000_000)
        }
        fault(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    mutating func time(_ key: String) -> (ts: Int64, offsetMin: Int)? {
        guard let value = remove(key) else { return nil }
        if let text = value.text, text.utf8.count <= 40, let time = UTC.parseLocal(text),
            SurveyText.times.contains(time.ts)
        {
            return time
        }
        fault(key, "must be a time from 1700 to 2100 with its offset, like 2020-05-01T13:00:00+03:00")
        return nil
    }

    mutating func place(isRequired: Bool = false) -> Position? {
        let isGiven = (has("latitude"), has("longitude"))
        let latitude = scaled("latitude", decimals: 7, -90...90)
        let longitude = scaled("longitude", decimals: 7, -180...180)
        switch isGiven {
        case (true, false): fault("longitude", "is missing: a place has both")
        case (false, true): fault("latitude", "is missing: a place has both")
        case (false, false): if isRequired { fault("latitude", "is missing") }
        case (true, true): break
        }
        guard let latitude, let longitude else { return nil }
        return Position(latitude: Int32(latitude), longitude: Int32(longitude))
    }

    func has(_ key: String) -> Bool { fields[key].map { !$0.isNull } ?? false }

    // MARK: Objects and lists

    /// Reads at most `most` items. What is no list is a fault; so is a list that is too long, which is not read.
    mutating func list<Item>(_ key: String, most: Int, _ read: (JSONValue, String) -> Item?) -> [Item] {
        guard let value = remove(key) else { return [] }
        guard let items = value.items, items.count <= most else {
            fault(key, "must be a list of at most \(most)")
            return []
        }
        return items.enumerated().compactMap { index, item in read(item, "\(at(key))[\(index)]") }
    }

    /// Ends the reading: the remaining fields are kept, in the order of the names.
    func others() -> [Survey.OtherField] {
        var (kept, bytes): ([Survey.OtherField], Int) = ([], 0)
        for key in fields.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        where !SurveyFields.isSecret(key) {
            guard let value = fields[key], SurveyFields.isPlain(key), key.utf8.count <= 200,
                SurveyFields.isKept(value, depth: 0)
            else {
                fault(SurveyFields.shown(key), "cannot be kept: control characters, repeated names, too deep or large")
                continue
            }
            let json = SurveyFields.withoutSecrets(value).rendered()
            bytes += key.utf8.count + json.utf8.count
            kept.append(Survey.OtherField(key: key, json: json))
        }
        guard bytes <= SurveyFields.otherBytesMax else {
            faults.add(
                path.isEmpty ? "the survey" : path,
                "fields of unknown names: \(bytes) bytes, at most \(SurveyFields.otherBytesMax) are kept")
            return []
        }
        return kept
    }

    /// Clients of collectors may put their user's password there into a survey: it is nobody's business here, and goes no
    /// further.
    private static func isSecret(_ key: String) -> Bool {
        let letters = String(key.lowercased().filter(\.isLetter))
        return letters == "pass"
            || ["password", "passwd", "passphrase", "passwort", "pwd"].contains { letters.contains($0) }
    }

    private static func withoutSecrets(_ tree: JSONValue) -> JSONValue {
        switch tree {
        case .null, .bool, .number, .text: tree
        case .list(let items): .list(items.map(withoutSecrets))
        case .object(let fields):
            .object(
                fields.filter { !isSecret($0.key) }.map { (key: $0.key, value: withoutSecrets($0.value)) }
            )
        }
    }

    /// True when every JSON reader, and PostgreSQL's `jsonb`, accepts it.
    private static func isKept(_ tree: JSONValue, depth: Int) -> Bool {
        switch tree {
        case .null, .bool: return true
        case .number(let text): return text.utf8.count <= 40 && isNear(text)
        case .text(let text): return isPlain(text)
        case .list(let items): return depth < otherDepthMax && items.allSatisfy { isKept($0, depth: depth + 1) }
        case .object(let fields):
            return depth < otherDepthMax && Set(fields.map(\.key)).count == fields.count
                && fields.allSatisfy { isPlain($0.key) && isKept($0.value, depth: depth + 1) }
        }
    }

    /// An exponent that a double has, too.
    private static func isNear(_ number: String) -> Bool {
        guard let sign = number.firstIndex(where: { $0 == "e" || $0 == "E" }) else { return true }
        guard let exponent = Int(number[number.index(after: sign)...]) else { return false }
        return exponent.magnitude <= 300
    }

    /// A name from outside, short enough for a message.
    private static func shown(_ key: String) -> String { isPlain(key) ? String(key.prefix(60)) : "(a name)" }
}
