public import Formats

/// Puts together the JSON object of a survey (docs/survey-records.md) from values that come one by one, each with its
/// path: `weather.rain`, `sections.2.habitat`, `sightings.1.species`. Items of lists count from 1.
public struct SurveyForm {
    /// For any list; the reader of surveys accepts fewer.
    static let itemsMax = 5_000

    private(set) var tree = JSONValue.object([])

    /// False: the path leads through a value, or past the end of what a list may hold.
    mutating func put(_ path: [Substring], _ value: JSONValue) -> Bool {
        SurveyForm.put(path[...], value, into: &tree)
    }

    private static func put(_ path: ArraySlice<Substring>, _ value: JSONValue, into tree: inout JSONValue) -> Bool {
        guard let key = path.first else {
            guard tree == .object([]) else { return false }
            tree = value
            return true
        }
        if let number = Int(key) {
            guard (1...itemsMax).contains(number) else { return false }
            var items: [JSONValue]
            switch tree {
            case .list(let there): items = there
            case .object(let fields) where fields.isEmpty: items = []
            case .null, .bool, .number, .text, .object: return false
            }
            // One copy is enough: the list is this one's alone while it is changed.
            tree = .null
            while items.count < number { items.append(.object([])) }
            let isPut = put(path.dropFirst(), value, into: &items[number - 1])
            tree = .list(items)
            return isPut
        }
        guard case .object(var fields) = tree else { return false }
        tree = .null
        let index = fields.firstIndex { $0.key == key } ?? fields.count
        var inner = index < fields.count ? fields[index].value : .object([])
        let isPut = put(path.dropFirst(), value, into: &inner)
        let field = (key: String(key), value: inner)
        if index < fields.count { fields[index] = field } else { fields.append(field) }
        tree = .object(fields)
        return isPut
    }

    // MARK: Forms of pages

    /// The fields of a browser's form as a survey; what is left empty is left out, also whole items of lists. Times are by the
    /// clocks of `offset`: `2026-05-01T13:00`, of sightings `13:04`. Nil: a name is no path of a survey.
    public static func tree(of fields: [(name: String, value: String)]) -> JSONValue? {
        let filled = fields.map { ($0.name, XMLRPC.blankless($0.value)) }.filter { !$0.1.isEmpty }
        let offset = filled.first { $0.0 == "offset" }?.1 ?? ""
        let day = String((filled.first { $0.0 == "start" }?.1 ?? "").prefix(10))
        var form = SurveyForm()
        guard form.put(["schema"], .number("1")) else { return nil }
        for (name, text) in filled where name != "offset" {
            let path = name.split(separator: ".", omittingEmptySubsequences: false)
            guard path.count <= 4, let key = path.last, path.allSatisfy({ !$0.isEmpty }) else { return nil }
            var value = SurveyForm.value(text, of: key)
            if ["start", "stop"].contains(key) { value = .text(text + (text.utf8.count == 16 ? ":00" : "") + offset) }
            if key == "time", text.utf8.count <= 8 {
                value = .text(day + "T" + text + (text.utf8.count == 5 ? ":00" : "") + offset)
            }
            guard form.put(path, value) else { return nil }
        }
        guard case .object(let members) = form.tree else { return nil }
        var whole = members.map { member -> JSONValue.Field in
            guard case .list(let items) = member.value else { return member }
            let kept = items.filter { $0 != .object([]) }.map { member.key == "surveyors" ? recording($0) : $0 }
            return (key: member.key, value: .list(kept))
        }
        if form.tree["sightings"] == nil { whole.append((key: "sightings", value: .list([]))) }
        return .object(whole)
    }

    /// A surveyor without a role is the recorder.
    private static func recording(_ surveyor: JSONValue) -> JSONValue {
        guard case .object(let fields) = surveyor, surveyor["role"] == nil else { return surveyor }
        return .object(fields + [(key: "role", value: .text("recorder"))])
    }

    // MARK: Texts of people's programs

    private static let numbers: Set<String> = [
        "schema", "observers", "count", "latitude", "longitude", "uncertainty_m", "light_lux", "distance_m",
        "temperature_c", "wind_speed_mps", "wind_beaufort", "wind_direction_deg", "cloud_cover_pct", "sun_pct",
    ]
    private static let flags: Set<String> = ["upland", "rain"]
    private static let truths = ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false]

    /// The value of a text in the field `key`. A text that does not fit stays a text: the reader of surveys reports it.
    static func value(_ text: String, of key: Substring) -> JSONValue {
        let key = String(key)
        if numbers.contains(key), let number = XMLRPC.jsonNumber(XMLRPC.blankless(text)) { return .number(number) }
        if flags.contains(key), let flag = truths[text.lowercased()] { return .bool(flag) }
        if key == "photos" {
            return .list(text.split { $0 == ";" || $0.isWhitespace }.map { .text(String($0)) })
        }
        return .text(text)
    }
}
