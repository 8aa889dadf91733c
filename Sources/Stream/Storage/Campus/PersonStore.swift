package import Fleet
package import Postgres

/// The person whose token is shown.
package struct Caller: Equatable, Sendable {
    package let campus, id: String
    package let role: PersonRole
    package let name: String
    /// Set: who is logged in with a page, and is held to what this account sees.
    package let account: String?
    /// Digest of the token or session that was shown.
    package let key: [UInt8]

    /// The access that a stream is opened with.
    package var access: StreamAccess { StreamAccess(key: key, campus: campus, person: id) }
}

/// The people of campuses: the roster, mailed codes, tokens of devices.
package enum PersonStore {
    /// The outcome of a code that was handed in. Wrong: also nobody of that id, too late, or tried too often.
    package enum Outcome: String, Sendable { case taken, wrong, tooMany = "too_many" }

    /// The numbers of people that an import changed.
    package struct Changes: Equatable, Sendable {
        package var added = 0
        package var changed = 0
        /// The number of those with another mail address: their tokens and codes are gone.
        package var signedOut = 0
        /// No longer on the roster.
        package var left = 0
        package init(added: Int = 0, changed: Int = 0, signedOut: Int = 0, left: Int = 0) {
            self.added = added
            self.changed = changed
            self.signedOut = signedOut
            self.left = left
        }
    }

    // MARK: For the page's login

    /// Asked with each request, so that what an operator does holds from the next one on.
    /// - Returns: nil: unknown, revoked, expired, or of somebody who is disabled or no longer on the roster.
    package static func caller(digest: [UInt8], on connection: Connection) throws -> Caller? {
        try connection.query("SELECT * FROM drover.person_of_token($1)", [.bytes(digest)]).first.map { row in
            Caller(
                campus: try row.text("campus")!, id: try row.text("person")!,
                role: try row.word("role")!, name: try row.text("name")!, account: nil,
                key: digest)
        }
    }

    /// For whom codes and tries are counted beside the person that they are of: nobody uses up what all have together.
    package enum Asker: Sendable {
        case account(String)
        case address(String)

        var text: String {
            switch self {
            case .account(let account): "account " + account
            case .address(let address): "address " + address
            }
        }
    }

    /// Keeps a code's digest and the mail that brings it, if there is such a person; says nothing of whether there is.
    /// - Returns: false: too many were asked for.
    package static func askCode(
        campus: String, person: String, digest: [UInt8], mailID: String, subject: String, sealedBody: [UInt8],
        asker: Asker? = nil, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.ask_code($1, $2, $3, $4, $5, $6, $7) AS admitted",
            [
                .text(campus), .text(person), .bytes(digest), .text(mailID), .text(subject), .bytes(sealedBody),
                .text(asker?.text),
            ]
        )[0].bool("admitted")!
    }

    /// A code for a token, once.
    package static func redeemCode(
        campus: String, person: String, digest: [UInt8], token: [UInt8], device: String, asker: Asker? = nil,
        on connection: Connection
    ) throws -> Outcome {
        let rows = try connection.query(
            "SELECT drover.take_code($1, $2, $3, $4, $5, $6) AS outcome",
            [.text(campus), .text(person), .bytes(digest), .bytes(token), .text(device), .text(asker?.text)])
        return try rows[0].word("outcome")!
    }

    /// Ends a token; of no effect on one that is over or unknown.
    package static func endToken(digest: [UInt8], on connection: Connection) throws {
        try connection.query("SELECT drover.end_person_token($1)", [.bytes(digest)])
    }

    // MARK: For the owner

    /// Takes the whole roster over, or nothing of it.
    /// - Parameter disablesMissing: whoever is not in `people` is no longer on the roster.
    package static func update(
        _ people: [RosterEntry], campus: String, disablesMissing: Bool, on connection: Connection
    ) throws -> Changes {
        try connection.transaction {
            try waitForCodes(connection)
            let row = try connection.query(
                """
                WITH said AS (
                    SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS s(person, role, name, mail)
                ), before AS (
                    SELECT p.* FROM drover.person p WHERE p.campus = $1
                ), written AS (
                    INSERT INTO drover.person AS p (campus, person, role, name, mail)
                    SELECT $1, person, role, name, mail FROM said
                    ON CONFLICT (campus, person) DO UPDATE SET role = EXCLUDED.role, name = EXCLUDED.name,
                        mail = EXCLUDED.mail, imported_at = now(), left_at = NULL
                    WHERE (p.role, p.name, p.mail) IS DISTINCT FROM (EXCLUDED.role, EXCLUDED.name, EXCLUDED.mail)
                        OR p.left_at IS NOT NULL
                    RETURNING p.person
                ), gone AS (
                    UPDATE drover.person p SET left_at = now()
                    WHERE $6 AND p.campus = $1 AND p.left_at IS NULL
                        AND NOT EXISTS (SELECT FROM said WHERE said.person = p.person)
                    RETURNING p.person
                ), moved AS (
                    SELECT b.person FROM before b JOIN said USING (person) WHERE b.mail <> said.mail
                ), out AS (
                    SELECT person FROM gone UNION SELECT person FROM moved
                ), tokens AS (
                    UPDATE drover.person_token t SET revoked_at = now() FROM out
                    WHERE t.campus = $1 AND t.person = out.person AND t.revoked_at IS NULL
                ), codes AS (
                    DELETE FROM drover.person_code c USING out WHERE c.campus = $1 AND c.person = out.person
                ), accounts AS (
                    DELETE FROM drover.person_account a USING out WHERE a.campus = $1 AND a.person = out.person
                )
                SELECT (SELECT count(*) FROM written WHERE person NOT IN (SELECT person FROM before)) AS added,
                    (SELECT count(*) FROM written WHERE person IN (SELECT person FROM before)) AS changed,
                    (SELECT count(*) FROM moved) AS signed_out, (SELECT count(*) FROM gone) AS gone
                """,
                [
                    .text(campus), .textArray(people.map(\.id)), .textArray(people.map(\.role.rawValue)),
                    .textArray(people.map(\.name)), .textArray(people.map(\.mail)), .bool(disablesMissing),
                ])[0]
            return Changes(
                added: try row.int("added")!, changed: try row.int("changed")!, signedOut: try row.int("signed_out")!,
                left: try row.int("gone")!)
        }
    }

    /// Disabling ends what the person has; enabling gives nothing of it back. False: there is no such person.
    package static func set(
        disabled: Bool, campus: String, person: String, on connection: Connection
    ) throws -> Bool {
        try connection.transaction {
            try waitForCodes(connection)
            let found =
                try connection.query(
                    """
                    UPDATE drover.person SET disabled_at = CASE WHEN $3 THEN coalesce(disabled_at, now()) END
                    WHERE campus = $1 AND person = $2
                    """, [.text(campus), .text(person), .bool(disabled)]
                ).rowsChanged == 1
            if disabled { try end(campus, person, connection) }
            return found
        }
    }

    /// Tokens, codes and the account of one person. Nil: there is no such person; else how many tokens were ended.
    package static func revokeTokens(campus: String, person: String, on connection: Connection) throws -> Int? {
        try connection.transaction {
            try waitForCodes(connection)
            let isKnown =
                try connection.query(
                    "SELECT FROM drover.person WHERE campus = $1 AND person = $2", [.text(campus), .text(person)]
                ).count == 1
            let ended = try end(campus, person, connection)
            return isKnown ? ended : nil
        }
    }

    @discardableResult
    private static func end(_ campus: String, _ person: String, _ connection: Connection) throws -> Int {
        let who: [Parameter] = [.text(campus), .text(person)]
        try connection.query("DELETE FROM drover.person_code WHERE campus = $1 AND person = $2", who)
        try connection.query("DELETE FROM drover.person_account WHERE campus = $1 AND person = $2", who)
        return try connection.query(
            """
            UPDATE drover.person_token SET revoked_at = now()
            WHERE campus = $1 AND person = $2 AND revoked_at IS NULL AND expires_at > now()
            """, who
        ).rowsChanged
    }

    /// A code that is being asked for goes to the address from before, or is asked for after this transaction.
    private static func waitForCodes(_ connection: Connection) throws {
        try NamedLocks.acquire(.codeRequests, on: connection)
    }
}
