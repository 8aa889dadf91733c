package import Fleet
internal import Formats

extension SurveyRecord {
    /// - Parameter answers: at least one.
    package init(weather answers: [WeatherAnswer], of survey: String, site: String, account: String, ts: Int64) {
        self.init(
            id: "weather-\(answers[0].fetchedMs)-\(answers[0].hour.ts)", site: site, ts: ts, account: account,
            by: "weather",
            kind: .weather(survey: survey, answers: answers.map { JSONValue.object($0.fields).rendered() }))
    }
}
