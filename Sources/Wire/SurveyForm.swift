/// Puts together the JSON object of a survey (docs/survey-records.md) from values that come one by one, each with its
/// path: `weather.rain`, `sections.2.habitat`, `sightings.1.species`. Items of lists count from 1.
struct SurveyForm {
    /// Of any list; what the reader of surveys takes is less.
    static let itemsMax = 5_000

    private(set) var tree = JSONTree.object([])

    /// False: the path leads through a value, or past the end of what a list may hold.
    mutating func put(_ path: [Substring], _ value: JSONTree) -> Bool {
        SurveyForm.put(path[...], value, into: &tree)
    }

    private static func put(_ path: ArraySlice<Substring>, _ value: JSONTree, into tree: inout JSONTree) -> Bool {
        guard let key = path.first else {
            guard tree == .object([]) else { return false }
            tree = value
            return true
        }
        if let number = Int(key) {
            guard (1...itemsMax).contains(number) else { return false }
            var items: [JSONTree]
            switch tree {
            case .list(let there): items = there
            case .object(let fields) where fields.isEmpty: items = []
            default: return false
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
        let field = JSONTree.Field(key: String(key), value: inner)
        if index < fields.count { fields[index] = field } else { fields.append(field) }
        tree = .object(fields)
        return isPut
    }

    // MARK: Texts of people's programs

    private static let numbers: Set<String> = [
        "schema", "observers", "count", "latitude", "longitude", "uncertainty_m", "light_lux", "distance_m",
        "temperature_c", "wind_speed_mps", "wind_beaufort", "wind_direction_deg", "cloud_cover_pct", "sun_pct",
    ]
    private static let flags: Set<String> = ["upland", "rain"]
    private static let truths = ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false]

    /// What a text means in the field `key`. What does not fit stays a text: the reader of surveys tells of it.
    static func value(_ text: String, of key: Substring) -> JSONTree {
        let key = String(key)
        if numbers.contains(key), let number = XMLRPC.jsonNumber(XMLRPC.blankless(text)) { return .number(number) }
        if flags.contains(key), let flag = truths[text.lowercased()] { return .bool(flag) }
        if key == "photos" {
            return .list(text.split { $0 == ";" || $0.isWhitespace }.map { .text(String($0)) })
        }
        return .text(text)
    }
}
