package import Fleet

/// A version of a survey as a collector is sent it: CSV (RFC 4180), a row a sighting; one row where nothing was seen.
package struct ForwardedSurvey: Sendable {
    private let survey: Survey
    private let version: Int
    private let isBlurred: Bool
    private let names: @Sendable (String) -> TaxonMatch

    /// - Parameters:
    ///   - isSiteSensitive: a species whose places are nobody's business was ever seen at its site.
    ///   - names: what each given name stands for.
    package init(
        _ survey: Survey, version: Int, isSiteSensitive: Bool, names: @escaping @Sendable (String) -> TaxonMatch
    ) {
        self.survey = survey
        self.version = version
        self.names = names
        isBlurred = isSiteSensitive || survey.sightings.contains { names($0.species).isSensitive }
    }

    /// The same at each try, and of no other version.
    package static func id(site: String, survey: String, version: Int) -> String { "\(site):\(survey):\(version)" }

    package func csv(_ fields: ForwardFields) -> [UInt8] {
        let place = Walk(survey).place
        let sightings: [(number: Int, seen: Sighting)?] =
            survey.sightings.isEmpty ? [nil] : survey.sightings.enumerated().map { ($0.offset, $0.element) }
        let rows = sightings.map { sighting in
            let row = ForwardRow(
                survey: survey, version: version, isBlurred: isBlurred, sighting: sighting,
                species: sighting.map { names($0.seen.species).name }, exact: sighting?.seen.place ?? place)
            return fields.columns.map { column in
                switch column.value {
                case .constant(let text): ForwardRow.cell(text)
                case .field(let field): row.text(field)
                }
            }
        }
        let lines = [fields.columns.map { ForwardRow.cell($0.name) }] + rows
        return Array(lines.map { $0.joined(separator: ",") + "\r\n" }.joined().utf8)
    }
}
