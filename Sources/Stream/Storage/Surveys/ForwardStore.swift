internal import Codecs
internal import Fleet
package import Postgres
package import Surveys

/// A version that was just stored, and the account that handed its survey in.
package struct StoredVersion: Sendable {
    package let site, survey: String
    package let version: Int
    package let account: String
}

/// A version that a collector is to get, as the relay reads it.
package struct WaitingForward {
    package let site, survey: String
    package let version: Int
    /// Its account still passes surveys on.
    package let isWanted: Bool
    /// The collector that the survey names; nil: none.
    package let collector: String?
    /// Nil: what is stored cannot be read.
    package let content: ForwardedSurvey?
    /// So often it was tried.
    package let tries: Int

    package var id: String { ForwardedSurvey.id(site: site, survey: survey, version: version) }
    fileprivate var key: [Parameter] { [.text(site), .text(survey), .int4(Int32(version))] }
}

/// The table between the worker's transaction and the collector (`drover.forward`).
package enum ForwardStore {
    /// The end of a version's way.
    package enum End: String { case sent, refused, stopped }

    package static let answerBytesMax = 500

    // MARK: The worker

    /// Writes the versions of accounts that pass surveys on. Within the transaction that stores the versions.
    package static func write(_ versions: [StoredVersion], on connection: Connection) throws {
        guard !versions.isEmpty else { return }
        try connection.query(
            """
            WITH wanted AS (
                SELECT account FROM unnest($5::text[]) AS asked(account) WHERE drover.forwards_surveys(account)
            )
            INSERT INTO drover.forward (site, survey, version, account)
            SELECT site, survey, version, account
            FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS stored(site, survey, version, account)
            JOIN wanted USING (account)
            ON CONFLICT DO NOTHING
            """,
            [
                .textArray(versions.map(\.site)), .textArray(versions.map(\.survey)),
                .int8Array(versions.map { Int64($0.version) }), .textArray(versions.map(\.account)),
                .textArray(Set(versions.map(\.account)).sorted()),
            ])
    }

    // MARK: The relay

    /// The version that waits longest of those whose time has come, held until the end of the transaction: of several
    /// relays each takes another one, and of one survey each version after the one before. Nil: none.
    package static func next(on connection: Connection) throws -> WaitingForward? {
        guard let row = try connection.query("SELECT * FROM drover.next_forward()").first else { return nil }
        let survey = try row.text("body").flatMap { body in try? SurveyText.decode(Array(body.utf8)) }
        let matches = try TaxonomyStore.matches(Set(survey?.sightings.map(\.species) ?? []), on: connection)
        let (version, isSensitive) = (try row.int("version")!, try row.bool("is_sensitive")!)
        return WaitingForward(
            site: try row.text("site")!, survey: try row.text("survey")!, version: version,
            isWanted: try row.bool("is_wanted")!, collector: survey?.forwardTo,
            content: survey.map { survey in
                ForwardedSurvey(survey, version: version, isSiteSensitive: isSensitive) { matches[$0]! }
            }, tries: try row.int("tries")!)
    }

    package static func settle(
        _ forward: WaitingForward, as end: End, status: Int?, answer: String, on connection: Connection
    ) throws {
        try connection.query(
            """
            UPDATE drover.forward SET state = $4, tries = tries + 1, settled_at = clock_timestamp(), status = $5,
                answer = $6
            WHERE site = $1 AND survey = $2 AND version = $3
            """,
            forward.key + [.text(end.rawValue), status.map { .int4(Int32($0)) } ?? .null, .text(bounded(answer))])
    }

    package static func putOff(
        _ forward: WaitingForward, byMs: Int64, status: Int?, answer: String, on connection: Connection
    ) throws {
        try connection.query(
            """
            UPDATE drover.forward SET tries = tries + 1, try_at = clock_timestamp() + $4::bigint * interval '1 ms',
                status = $5, answer = $6
            WHERE site = $1 AND survey = $2 AND version = $3
            """,
            forward.key + [.int8(byMs), status.map { .int4(Int32($0)) } ?? .null, .text(bounded(answer))])
    }

    /// The collector has said when it wants to be asked again: all relays keep to it.
    package static func pause(ms: Int64, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.forward_pause AS known (until_at) VALUES (clock_timestamp() + $1::bigint * interval '1 ms')
            ON CONFLICT (is_only) DO UPDATE SET until_at = greatest(known.until_at, EXCLUDED.until_at)
            """, [.int8(ms)])
    }

    private static func bounded(_ answer: String) -> String {
        var text = answer
        while text.utf8.count > answerBytesMax { text.removeLast() }
        return text
    }

    // MARK: People

    /// Makes versions that were refused or stopped wait again, and tries those that wait at once. Returns how many.
    package static func retry(site: String?, survey: String?, on connection: Connection) throws -> Int {
        try connection.query(
            """
            UPDATE drover.forward SET state = 'waiting', try_at = now(), settled_at = NULL
            WHERE state <> 'sent' AND ($1::text IS NULL OR site = $1) AND ($2::text IS NULL OR survey = $2)
            """, [.text(site), .text(survey)]
        ).rowsChanged
    }

    /// For people to read, the newest first: the columns speak for themselves.
    /// - Parameter state: nil: all. The same of site and survey.
    package static func list(
        state: ForwardState?, site: String?, survey: String?, on connection: Connection
    ) throws -> Rows {
        try connection.query(
            """
            SELECT site, survey, version, account, state, tries, status, answer, made_at, settled_at,
                CASE WHEN state = 'waiting' THEN try_at END AS next_try_at
            FROM forward
            WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR site = $2)
                AND ($3::text IS NULL OR survey = $3)
            ORDER BY made_at DESC, site, survey, version LIMIT 1000
            """, [.text(state?.rawValue), .text(site), .text(survey)])
    }
}
