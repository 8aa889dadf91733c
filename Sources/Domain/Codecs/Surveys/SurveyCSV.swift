public import Formats

/// A whole survey as CSV: a header, then a row a sighting; docs/survey-apps.md. What it says becomes the object of
/// docs/survey-records.md.
public enum SurveyCSV {
    public static let bytesMax = 1 << 20
    private static let columnsMax = 900
    /// Columns of the survey rather than of a sighting, by the first word of their name.
    private static let ofSurvey: Set<Substring> = [
        "schema", "survey", "site", "site_name", "route", "start", "stop", "waypoints", "sections", "surveyors",
        "observers", "protocol", "upland", "forward_to",
    ]

    private struct Column {
        let name: String
        let path: [Substring]
        let isOfSurvey: Bool

        /// `survey.comments` is the survey's, `comments` the sighting's.
        init(_ name: String) {
            self.name = name
            let words = name.split(separator: ".", omittingEmptySubsequences: false)
            let isPrefixed = words.count > 1 && words[0] == "survey"
            isOfSurvey = isPrefixed || SurveyCSV.ofSurvey.contains(words[0])
            let isKnown = isOfSurvey || words[0] == "weather"
            // A dot in a name that nobody knows is a part of it.
            path = isPrefixed ? Array(words.dropFirst()) : isKnown ? words : [name[...]]
        }
    }

    public static func decode(_ bytes: [UInt8]) throws(SurveyText.Faults) -> JSONValue {
        guard bytes.count <= bytesMax else { throw fault("\(bytes.count) bytes, at most \(bytesMax) are read") }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw fault("the file is not UTF-8 text: save it as UTF-8")
        }
        var records = CSVRecords(bytes)
        guard let header = records.next(), !header.isBlank else { throw fault("the file is empty") }
        let columns = try columns(header)
        var (form, sightings, said) = (SurveyForm(), [JSONValue](), [String: (text: String, line: Int)]())
        var faults: [String] = []
        while let record = records.next() {
            if record.isBlank { continue }
            guard faults.count < 50, sightings.count <= SurveyText.sightingsMax else { break }
            if record.isQuoteOpen || record.fields.count > columns.count {
                faults.append("line \(record.line): a quotation mark is open, or there are more cells than columns")
                continue
            }
            var sighting = SurveyForm()
            for (column, cell) in zip(columns, record.fields) where !cell.isEmpty {
                let text = String(decoding: cell, as: UTF8.self)
                if column.isOfSurvey, let before = said[column.name] {
                    if before.text != text {
                        faults.append(
                            "line \(record.line): `\(column.name)` is not what line \(before.line) says: one file, one survey"
                        )
                    }
                    continue
                }
                let value = SurveyForm.value(text, of: column.path[column.path.count - 1])
                let isPut = column.isOfSurvey ? form.put(column.path, value) : sighting.put(column.path, value)
                if column.isOfSurvey { said[column.name] = (text, record.line) }
                if !isPut { faults.append("line 1: `\(column.name)` does not go together with another column") }
            }
            if sighting.tree != .object([]) { sightings.append(sighting.tree) }
        }
        guard faults.isEmpty else { throw SurveyText.Faults(all: faults) }
        return whole(form.tree, sightings)
    }

    private static func whole(_ survey: JSONValue, _ sightings: [JSONValue]) -> JSONValue {
        guard case .object(var fields) = survey else { return survey }
        if survey["schema"] == nil { fields.insert((key: "schema", value: .number("1")), at: 0) }
        fields.append((key: "sightings", value: .list(sightings)))
        return .object(fields)
    }

    private static func columns(_ header: CSVRecords.Record) throws(SurveyText.Faults) -> [Column] {
        guard !header.isQuoteOpen, header.fields.count <= columnsMax else {
            throw fault("line 1: a quotation mark is open, or there are more than \(columnsMax) columns")
        }
        let names = header.fields.map { XMLRPC.blankless(String(decoding: $0, as: UTF8.self)) }
        for name in names where name.isEmpty || name.utf8.count > 100 || name.hasSuffix(".") {
            throw fault("line 1: each column needs a name of 1 to 100 bytes")
        }
        guard Set(names).count == names.count else { throw fault("line 1: a column stands twice") }
        for name in ["survey", "site", "start", "stop", "species", "count"] where !names.contains(name) {
            throw fault("line 1: the column `\(name)` is missing; this table has \(names.count) columns")
        }
        return names.map(Column.init)
    }

    private static func fault(_ text: String) -> SurveyText.Faults { SurveyText.Faults(all: [text]) }
}
