internal import Fleet
package import Postgres
package import Surveys

/// Surveys in PostgreSQL: writes what was said of them and the rows that follow. Decides nothing.
package enum SurveyStore {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    package static let tables = SurveyTables.all

    /// Precondition: within the transaction that moves the partition on.
    static func write(_ changes: SurveyChanges, partition: Int32, on connection: Connection) throws {
        try writeSaid(changes, on: connection)
        try write(changes.rows, partition: partition, on: connection)
    }

    /// Versions that a collector may get.
    package static func versions(_ changes: SurveyChanges) -> [StoredVersion] {
        changes.versions.map {
            StoredVersion(site: $0.key.site, survey: $0.key.survey, version: $0.number, account: $0.account)
        }
    }

    // MARK: What was said

    private static func writeSaid(_ changes: SurveyChanges, on connection: Connection) throws {
        try SurveyTables.version.write(changes.versions, on: connection) { row, copy in
            copy.text(row.key.site)
            copy.text(row.key.survey)
            copy.int4(Int32(row.number))
            SurveyTables.fill(row.version, &copy, basedOnInside: true)
        }
        try SurveyTables.waiting.write(changes.waiting, on: connection) { row, copy in
            copy.text(row.key.site)
            copy.text(row.key.survey)
            copy.int4(Int32(row.basedOn))
            SurveyTables.fill(row.review, &copy, basedOnInside: false)
        }
        for (key, base) in changes.done {
            try connection.query(
                "DELETE FROM survey_waiting WHERE site = $1 AND survey = $2 AND based_on = $3",
                [.text(key.site), .text(key.survey), .int4(Int32(base))])
        }
        try SurveyTables.weather.write(changes.weather, on: connection) { row, copy in
            copy.text(row.key.site)
            copy.text(row.key.survey)
            copy.timestampMs(row.hourMs)
            copy.text(row.answer.text)
        }
    }

    // MARK: What follows from it

    /// Precondition: within the transaction that holds the taxonomy as it was when the rows were made.
    package static func write(_ rows: SurveyRows, partition: Int32, on connection: Connection) throws {
        guard !rows.sites.isEmpty else { return }
        var periods = SurveyPeriodStore()
        try drop(rows.replaced, &periods, on: connection)
        for year in Set(rows.sightings.map { SurveyPeriodStore.year($0.sighting.seenMs) }).sorted() {
            try connection.query("SELECT drover.make_sighting_year($1)", [.int4(Int32(year))])
        }
        try SurveyTables.survey.write(rows.surveys, on: connection) {
            SurveyTables.fill($0, partition: partition, &$1)
        }
        try SurveyTables.surveyor.write(rows.surveyors, on: connection) {
            SurveyTables.fill($0.person, $0.number, of: $0.survey, &$1)
        }
        for each in rows.sightings { periods.add(each.of.survey.site, localDay: each.sighting.localDay) }
        try SurveyTables.sighting.write(rows.sightings, on: connection) {
            SurveyTables.fill($0.sighting, $0.number, of: $0.of, &$1)
        }
        try blur(rows.sites.sorted(), on: connection)
        try periods.write(on: connection)
    }

    /// All walks of a site that a sensitive species was ever seen at, and what was seen on them: its other walks would give
    /// the place away.
    private static func blur(_ sites: [String], on connection: Connection) throws {
        for table in ["sighting", "survey"] {
            for isBlurred in [true, false] {
                try connection.query(
                    """
                    UPDATE \(table) s SET is_blurred = \(isBlurred)
                    FROM (SELECT site FROM unnest($1::text[]) AS asked(site)
                        WHERE \(isBlurred ? "" : "NOT") EXISTS (
                            SELECT FROM sighting n WHERE n.site = asked.site AND n.is_sensitive)) AS changed
                    WHERE s.site = changed.site AND \(isBlurred ? "NOT" : "") s.is_blurred
                    """, [.textArray(sites)])
            }
        }
    }

    /// Drops the rows that the surveys' earlier versions made.
    private static func drop(_ keys: [SurveyKey], _ periods: inout SurveyPeriodStore, on connection: Connection) throws
    {
        guard !keys.isEmpty else { return }
        let named: [Parameter] = [.textArray(keys.map(\.site)), .textArray(keys.map(\.survey))]
        try connection.query(
            """
            DELETE FROM surveyor USING unnest($1::text[], $2::text[]) AS key(site, survey)
            WHERE surveyor.site = key.site AND surveyor.survey = key.survey
            """, named)
        // Sightings lie within a day of their survey: the years that are searched are few.
        let dropped = try connection.query(
            """
            DELETE FROM sighting USING survey AS s, unnest($1::text[], $2::text[]) AS key(site, survey)
            WHERE s.site = key.site AND s.survey = key.survey
                AND sighting.site = key.site AND sighting.survey = key.survey
                AND sighting.seen_at BETWEEN s.started_at - interval '1 day' AND s.stopped_at + interval '1 day'
            RETURNING sighting.site, sighting.local_date - date '1970-01-01'
            """, named)
        for row in dropped { periods.add(try row.text(0)!, localDay: Int64(try row.int(1)!)) }
    }
}
