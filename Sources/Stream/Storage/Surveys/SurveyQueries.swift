internal import Codecs
internal import Fleet
package import Postgres
package import Surveys

/// Reads back what was said of surveys.
package enum SurveyQueries {
    /// Nothing for those of which nothing was said.
    package static func histories(
        _ keys: [SurveyKey], on connection: Connection
    ) throws -> [SurveyKey: SurveyHistory] {
        guard !keys.isEmpty else { return [:] }
        let named: [Parameter] = [.textArray(keys.map(\.site)), .textArray(keys.map(\.survey))]
        var versions: [SurveyKey: [SurveyHistory.Version]] = [:]
        for row in try connection.query(
            """
            SELECT v.* FROM survey_version v JOIN unnest($1::text[], $2::text[]) AS key(site, survey) USING (site, survey)
            ORDER BY v.site, v.survey, v.version
            """, named)
        { versions[try key(row), default: []].append(try version(row)) }
        var waiting: [SurveyKey: [Int: SurveyHistory.Version]] = [:]
        for row in try connection.query(
            "SELECT w.* FROM survey_waiting w JOIN unnest($1::text[], $2::text[]) AS key(site, survey) USING (site, survey)",
            named)
        { waiting[try key(row), default: [:]][try row.int("based_on")!] = try version(row) }
        var weather: [SurveyKey: [Int64: WeatherAnswer]] = [:]
        for row in try connection.query(
            "SELECT w.* FROM survey_weather w JOIN unnest($1::text[], $2::text[]) AS key(site, survey) USING (site, survey)",
            named)
        {
            guard let answer = WeatherAnswer(json: Array(try row.text("answer")!.utf8)) else { continue }
            weather[try key(row), default: [:]][try row.timestampMs("hour_at")!] = answer
        }
        let known = Set(versions.keys).union(waiting.keys).union(weather.keys)
        return Dictionary(
            uniqueKeysWithValues: known.map { key in
                (
                    key,
                    SurveyHistory(
                        versions: versions[key] ?? [], waiting: waiting[key] ?? [:], weather: weather[key] ?? [:])
                )
            })
    }

    private static func key(_ row: Row) throws -> SurveyKey {
        SurveyKey(site: try row.text("site")!, survey: try row.text("survey")!)
    }

    private static func version(_ row: Row) throws -> SurveyHistory.Version {
        let survey: Survey
        do throws(SurveyText.Faults) {
            survey = try SurveyText.decode(Array(try body(row).utf8))
        } catch {
            throw SurveyStore.Fault(
                description: "survey \(try key(row).survey): its stored version cannot be read: \(error)")
        }
        return SurveyHistory.Version(
            id: try row.text("record_id")!, offset: Int64(try row.int("record_offset")!),
            saidMs: try row.timestampMs("said_at")!, account: try row.text("account")!, by: try row.text("said_by")!,
            note: try row.text("note"), basedOn: try row.int("based_on"), survey: survey)
    }

    private static func body(_ row: Row) throws(SurveyText.Faults) -> String { (try? row.text("body")) ?? "" }
}
