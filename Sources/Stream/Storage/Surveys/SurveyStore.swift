package import Codecs
package import Fleet
package import Postgres
internal import Surveys

/// Surveys in PostgreSQL. Keeps nothing in memory: what is known of the surveys that records speak of is read back, folded,
/// and written as it is then. Decides nothing.
package enum SurveyStore {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// A survey's natural key.
    package struct Key: Hashable, Comparable {
        package let site, survey: String
        package init(site: String, survey: String) { (self.site, self.survey) = (site, survey) }
        package static func < (a: Key, b: Key) -> Bool { (a.site, a.survey) < (b.site, b.survey) }
    }

    package static let tables = SurveyTables.all

    /// Takes records in the order of the log, within the transaction that moves the partition on.
    ///
    /// - Returns: what was refused, by the record's place in `records`, how many rows were written, and the versions
    ///   that are new.
    package static func take(
        _ records: [(record: SurveyRecord, offset: Int64)], partition: Int32, on connection: Connection
    ) throws -> (refused: [Int: DecodeError], rows: Int, versions: [StoredVersion]) {
        let keys = Set(records.map { key(of: $0.record) }).sorted()
        let before = try SurveyReads.histories(keys, on: connection)
        var (after, touched, refused) = (before, Set<Key>(), [Int: DecodeError]())
        for (index, entry) in records.enumerated() {
            let key = key(of: entry.record)
            switch after[key, default: SurveyHistory()].apply(entry.record, offset: entry.offset) {
            case .taken: touched.insert(key)
            case .repeated: break
            case .refused(let error): refused[index] = error
            }
        }
        let changed = touched.sorted()
        let versions = try writeHistories(changed, before, after, on: connection)
        let rows = try settle(
            changed.map { ($0, after[$0]!, !(before[$0]?.versions.isEmpty ?? true)) }, partition: partition,
            on: connection)
        return (refused, rows, versions)
    }

    /// Makes the rows of surveys again, after the taxonomy has changed. Precondition: within a transaction.
    package static func settleAgain(_ keys: [Key], partition: Int32, on connection: Connection) throws {
        let histories = try SurveyReads.histories(keys, on: connection)
        let known = keys.sorted().compactMap { key in histories[key].map { (key, $0, true) } }
        _ = try settle(known, partition: partition, on: connection)
    }

    package static func key(of record: SurveyRecord) -> Key {
        switch record.kind {
        case .submitted(let survey), .reviewed(let survey, _, _): Key(site: record.site, survey: survey.survey)
        case .weather(let survey, _): Key(site: record.site, survey: survey)
        }
    }

    // MARK: What was said

    private static func writeHistories(
        _ keys: [Key], _ before: [Key: SurveyHistory], _ after: [Key: SurveyHistory], on connection: Connection
    ) throws -> [StoredVersion] {
        var versions: [(Key, Int, SurveyHistory.Version)] = []
        var (waiting, done): ([(Key, Int, SurveyHistory.Version)], [(Key, Int)]) = ([], [])
        var weather: [(Key, Int64, WeatherAnswer)] = []
        for key in keys {
            let (old, new) = (before[key] ?? SurveyHistory(), after[key]!)
            for number in old.versions.count..<new.versions.count {
                versions.append((key, number, new.versions[number]))
            }
            for (base, review) in new.waiting where old.waiting[base] != review { waiting.append((key, base, review)) }
            for base in old.waiting.keys where new.waiting[base] == nil { done.append((key, base)) }
            for (hour, answer) in new.weather where old.weather[hour] != answer { weather.append((key, hour, answer)) }
        }
        try SurveyTables.version.write(versions, on: connection) { row, copy in
            copy.text(row.0.site)
            copy.text(row.0.survey)
            copy.int4(Int32(row.1))
            SurveyTables.fill(row.2, &copy, basedOnInside: true)
        }
        try SurveyTables.waiting.write(waiting, on: connection) { row, copy in
            copy.text(row.0.site)
            copy.text(row.0.survey)
            copy.int4(Int32(row.1))
            SurveyTables.fill(row.2, &copy, basedOnInside: false)
        }
        for (key, base) in done {
            try connection.query(
                "DELETE FROM survey_waiting WHERE site = $1 AND survey = $2 AND based_on = $3",
                [.text(key.site), .text(key.survey), .int4(Int32(base))])
        }
        try SurveyTables.weather.write(weather, on: connection) { row, copy in
            copy.text(row.0.site)
            copy.text(row.0.survey)
            copy.timestampMs(row.1)
            copy.text(row.2.text)
        }
        return versions.map { key, number, _ in
            StoredVersion(
                site: key.site, survey: key.survey, version: number, account: after[key]!.versions[0].account)
        }
    }

    // MARK: What follows from it

    private static func settle(
        _ surveys: [(key: Key, history: SurveyHistory, isKnown: Bool)], partition: Int32, on connection: Connection
    ) throws -> Int {
        guard !surveys.isEmpty else { return 0 }
        try SurveyTaxonomy.lockShared(on: connection)
        let given = surveys.flatMap { $0.history.versions.last?.survey.sightings.map(\.species) ?? [] }
        let matches = try SurveyTaxonomy.matches(Set(given), on: connection)
        let folded = surveys.compactMap { FoldedSurvey($0.history) { matches[$0]! } }
        var periods = SurveyPeriods()
        try drop(surveys.filter(\.isKnown).map(\.key), &periods, on: connection)
        for year in Set(folded.flatMap { $0.sightings.map { SurveyPeriods.year($0.seenMs) } }).sorted() {
            try connection.query("SELECT drover.make_sighting_year($1)", [.int4(Int32(year))])
        }
        try SurveyTables.survey.write(folded, on: connection) { SurveyTables.fill($0, partition: partition, &$1) }
        let people = folded.flatMap { each in
            each.survey.surveyors.enumerated().map { (each.survey, $0.offset, $0.element) }
        }
        try SurveyTables.surveyor.write(people, on: connection) { SurveyTables.fill($0.2, $0.1, of: $0.0, &$1) }
        let sightings = folded.flatMap { each in
            each.sightings.enumerated().map { (each, $0.offset, $0.element) }
        }
        for (whole, _, sighting) in sightings { periods.add(whole.survey.site, localDay: sighting.localDay) }
        try SurveyTables.sighting.write(sightings, on: connection) { SurveyTables.fill($0.2, $0.1, of: $0.0, &$1) }
        try blur(Array(Set(surveys.map(\.key.site))).sorted(), on: connection)
        try periods.write(on: connection)
        return folded.count + people.count + sightings.count
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

    /// What the surveys' earlier versions made.
    private static func drop(_ keys: [Key], _ periods: inout SurveyPeriods, on connection: Connection) throws {
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
