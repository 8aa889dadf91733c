/// Maps our fields to a collector's columns. A line a column, `#` begins a remark:
///
///     Species Name = species
///     Country = "Kenya"
///
/// In the order of the lines; a text in quotation marks is the same in every row.
package struct ForwardFields: Equatable, Sendable {
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let line: Int
        package let reason: String
        package var description: String { "line \(line): \(reason)" }
    }

    package enum Value: Equatable, Sendable {
        case field(ForwardField)
        case constant(String)
    }

    package static let bytesMax = 64 << 10
    static let columnsMax = 100
    private static let textBytesMax = 200

    package private(set) var columns: [(name: String, value: Value)] = []

    package static func == (a: ForwardFields, b: ForwardFields) -> Bool {
        a.columns.map(\.name) == b.columns.map(\.name) && a.columns.map(\.value) == b.columns.map(\.value)
    }

    package init(_ bytes: [UInt8]) throws(Fault) {
        guard bytes.count <= ForwardFields.bytesMax, let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(line: 1, reason: "the file must be UTF-8 text of at most \(ForwardFields.bytesMax) bytes")
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let said = ForwardFields.blankless(line.prefix { $0 != "#" })
            if !said.isEmpty { try parse(said, line: index + 1) }
        }
        guard columns.contains(where: { $0.value == .field(.id) }) else {
            throw Fault(
                line: 1,
                reason: "one column must be `id`, like `Record ID = id`: by it repeats are told from each other")
        }
    }

    private mutating func parse(_ said: Substring, line: Int) throws(Fault) {
        guard let sign = said.firstIndex(of: "=") else { throw Fault(line: line, reason: "must be COLUMN = FIELD") }
        let name = String(ForwardFields.blankless(said[..<sign]))
        let value = ForwardFields.blankless(said[said.index(after: sign)...])
        guard (1...ForwardFields.textBytesMax).contains(name.utf8.count) else {
            throw Fault(line: line, reason: "a column's name must have 1 to \(ForwardFields.textBytesMax) bytes")
        }
        guard !columns.contains(where: { $0.name == name }) else {
            throw Fault(line: line, reason: "the column `\(name)` stands there before")
        }
        guard columns.count < ForwardFields.columnsMax else {
            throw Fault(line: line, reason: "more than \(ForwardFields.columnsMax) columns")
        }
        if value.count >= 2, value.first == "\"", value.last == "\"" {
            columns.append((name, .constant(String(value.dropFirst().dropLast().prefix(ForwardFields.textBytesMax)))))
        } else if let field = ForwardField(rawValue: String(value)) {
            columns.append((name, .field(field)))
        } else {
            let known = ForwardField.allCases.map(\.rawValue).joined(separator: ", ")
            throw Fault(line: line, reason: "`\(value.prefix(60))` is no field: \(known); or a text in quotation marks")
        }
    }

    private static func blankless(_ text: Substring) -> Substring {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

/// The fields that a collector may get. No name, mail or phone of anybody is among them, and no unknown field, whose content nobody has
/// checked.
package enum ForwardField: String, CaseIterable, Sendable {
    /// The id of the record's version, the same at each attempt.
    case id
    case event, occurrence, site, survey, version
    case siteName = "site_name"
    case route
    case surveyProtocol = "protocol"
    case observers, date
    case startTime = "start_time"
    case stopTime = "stop_time"
    case startedAt = "started_at"
    case stoppedAt = "stopped_at"
    case seenAt = "seen_at"
    case surveyComments = "survey_comments"
    case species
    case givenName = "given_name"
    case individuals
    case latitude = "latitude_deg"
    case longitude = "longitude_deg"
    case uncertainty = "uncertainty_m"
    case generalization, section, habitat, conditions, behaviour, certainty
    case lifeStage = "life_stage"
    case sex, mark, animals, plants, comments
    case ownTemperature = "own_temperature_c"
    case ownWindSpeed = "own_wind_speed_mps"
    case ownCloudCover = "own_cloud_cover_pct"
}
