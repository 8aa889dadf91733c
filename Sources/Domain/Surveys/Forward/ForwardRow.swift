internal import Basics
internal import Codecs
internal import Fleet

/// The cells of one sighting, or of a survey without any. Its place is blurred as in exports for readers with fewer rights.
package struct ForwardRow {
    let survey: Survey
    let version: Int
    let isBlurred: Bool
    let sighting: (number: Int, seen: Sighting)?
    /// The accepted name.
    let species: String?
    let exact: Position?

    func text(_ field: ForwardField) -> String {
        let seen = sighting?.seen
        return switch field {
        case .id: typed(ForwardedSurvey.id(site: survey.site, survey: survey.survey, version: version))
        case .event: typed("\(survey.site):\(survey.survey)")
        case .occurrence: typed(sighting.map { "\(survey.site):\(survey.survey):\($0.number)" })
        case .site: typed(survey.site)
        case .survey: typed(survey.survey)
        case .version: String(version)
        case .siteName: ofPlace(survey.siteName)
        case .route: ofPlace(survey.route)
        case .surveyProtocol: typed(survey.surveyProtocol)
        case .observers: survey.observers.map(String.init) ?? ""
        case .date: String(local(survey.startMs).prefix(10))
        case .startTime: String(local(survey.startMs).dropFirst(11).prefix(5))
        case .stopTime: String(local(survey.stopMs).dropFirst(11).prefix(5))
        case .startedAt: local(survey.startMs)
        case .stoppedAt: local(survey.stopMs)
        case .seenAt: local(seen?.atMs ?? survey.startMs)
        case .surveyComments: ofPlace(survey.comments)
        case .species: typed(species)
        case .givenName: typed(seen?.species)
        case .individuals: seen.map { String($0.count) } ?? ""
        case .latitude: shown.map { Decimal.text(Int64($0.latitude), decimals: 7) } ?? ""
        case .longitude: shown.map { Decimal.text(Int64($0.longitude), decimals: 7) } ?? ""
        case .uncertainty: [blurred?.uncertaintyM, seen?.uncertaintyM].compactMap { $0 }.max().map(String.init) ?? ""
        case .generalization: blurred == nil ? "" : "Coordinates are the middle of a cell of 0.1 degrees."
        case .section: ofPlace(seen?.section)
        case .habitat: ofPlace(seen?.habitat)
        case .conditions: ofPlace(seen?.conditions)
        case .behaviour: typed(seen?.behaviour)
        case .certainty: typed(seen?.certainty?.rawValue)
        case .lifeStage: typed(seen?.lifeStage)
        case .sex: typed(seen?.sex)
        case .mark: typed(seen?.mark)
        case .animals: ofPlace(seen?.animals)
        case .plants: ofPlace(seen?.plants)
        case .comments: ofPlace(seen?.comments)
        case .ownTemperature: weather(\.temperatureC)
        case .ownWindSpeed: weather(\.windSpeedMps)
        case .ownCloudCover: weather(\.cloudCoverPct)
        }
    }

    private var blurred: BlurredPlace? { isBlurred ? exact.map { BlurredPlace($0) } : nil }
    private var shown: Position? { blurred?.place ?? exact }

    private func local(_ ts: Int64) -> String { UTC.localText(ts, offsetMin: survey.offsetMin) }

    /// The sighting's own, else the survey's.
    private func weather(_ quantity: KeyPath<Survey.OwnWeather, Int64?>) -> String {
        let value = sighting?.seen.weather[keyPath: quantity] ?? survey.weather[keyPath: quantity]
        return value.map { Decimal.text($0, decimals: 3) } ?? ""
    }

    // MARK: Cells

    /// Text that may reveal the place.
    private func ofPlace(_ text: String?) -> String { isBlurred ? "" : typed(text) }

    private func typed(_ text: String?) -> String { ForwardRow.cell(text ?? "") }

    /// Typed text: a value that begins like a formula gets an apostrophe in front (OWASP, "CSV Injection").
    package static func cell(_ text: String) -> String {
        var text = text
        if let first = text.utf8.first, "=+-@\t\r".utf8.contains(first) { text = "'" + text }
        guard text.utf8.contains(where: { $0 == 0x2C || $0 == 0x22 || $0 == 0x0D || $0 == 0x0A }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
