internal import Basics
package import Fleet
package import Postgres

/// A survey of which not all hours have their weather.
package struct SurveyLackingWeather: Sendable {
    package let site, survey, account: String
    package let submittedMs: Int64
    package let place: Position?
    /// Starts of the hours that are over and not known, epoch milliseconds.
    package let hours: [Int64]

    fileprivate init(_ row: Row) throws {
        site = try row.text("site")!
        survey = try row.text("survey")!
        account = try row.text("account")!
        submittedMs = try row.timestampMs("submitted_at")!
        place = Position(degrees: try row.double("latitude_deg"), try row.double("longitude_deg"))
        hours = try row.text("hours")?.split(separator: " ").compactMap { Int64($0) } ?? []
    }
}

package enum SurveyWeatherStore {
    /// The next after this one, the last handed in first. An hour that is not over is asked for later: its weather is told of as
    /// it was.
    /// - Parameter last: nil begins with the newest.
    package static func lacking(
        after last: (submittedMs: Int64, site: String, survey: String)?, most: Int, on connection: Connection
    ) throws -> [SurveyLackingWeather] {
        try connection.query(
            """
            SELECT s.site, s.survey, s.account, s.latitude_deg, s.longitude_deg, s.submitted_at, (
                SELECT string_agg((extract(epoch FROM hour_at) * 1000)::bigint::text, ' ' ORDER BY hour_at)
                FROM generate_series(date_trunc('hour', s.started_at, 'UTC'), s.stopped_at, interval '1 hour') AS hour_at
                WHERE hour_at + interval '1 hour' <= now() AND NOT EXISTS (
                    SELECT FROM drover.survey_weather w
                    WHERE w.site = s.site AND w.survey = s.survey AND w.hour_at = hour_at.hour_at)) AS hours
            FROM drover.survey s
            WHERE s.weather_missing > 0 AND s.latitude_deg IS NOT NULL
                AND ($1::timestamptz IS NULL OR (s.submitted_at, s.site, s.survey) < ($1, $2, $3))
            ORDER BY s.submitted_at DESC, s.site DESC, s.survey DESC LIMIT $4
            """,
            [
                last.map { .timestampMs($0.submittedMs) } ?? .null, .text(last?.site), .text(last?.survey),
                .int8(Int64(most)),
            ]
        ).map { try SurveyLackingWeather($0) }
    }
}
