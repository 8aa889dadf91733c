package import Fleet
package import Postgres

/// The accounts of `drover up --sample`, through the owner's login. They have no password: an identity of the sample's own lets them in,
/// by a program that knows it.
package enum SampleStore {
    /// Makes the account, or takes it up again. False: somebody else has that id or mail address.
    /// - Parameter issuer: nil: nobody logs in as them.
    package static func put(
        _ account: String, mail: String, firstName: String, lastName: String, roles: [Role], issuer: String?,
        on connection: Connection
    ) throws -> Bool {
        try connection.transaction {
            let isNew =
                try connection.query(
                    """
                    INSERT INTO drover.account (account, mail, first_name, last_name, roles, zone, confirmed_at)
                    VALUES ($1, $2, $3, $4, $5, 'Europe/Helsinki', now()) ON CONFLICT DO NOTHING
                    """,
                    [
                        .text(account), .text(mail), .text(firstName), .text(lastName),
                        .textArray(roles.map(\.rawValue)),
                    ]
                ).rowsChanged == 1
            guard let issuer else { return isNew }
            if isNew {
                try connection.query(
                    "INSERT INTO drover.account_identity (issuer, subject, account) VALUES ($1, $2, $2)",
                    [.text(issuer), .text(account)])
            }
            guard try accounts(of: issuer, on: connection).contains(account) else { return false }
            try connection.query("SELECT drover.enable_account($1)", [.text(account)])
            return true
        }
    }

    /// Disabling ends what they have: sessions, links, tokens.
    package static func shut(issuer: String, on connection: Connection) throws -> Int {
        try connection.query(
            """
            SELECT drover.disable_account(a.account) FROM drover.account_identity i JOIN drover.account a USING (account)
            WHERE i.issuer = $1 AND a.disabled_at IS NULL
            """, [.text(issuer)]
        ).count
    }

    /// Those whose identity it is.
    private static func accounts(of issuer: String, on connection: Connection) throws -> Set<String> {
        Set(
            try connection.query(
                """
                SELECT i.account FROM drover.account_identity i JOIN drover.account a USING (account)
                WHERE i.issuer = $1 AND i.subject = i.account
                """, [.text(issuer)]
            ).map { try $0.text(0)! })
    }

    /// Who they are on a campus whose people are known. Precondition: nobody else is bound to that person.
    package static func bind(_ account: String, campus: String, person: String, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.person_account (campus, person, account) VALUES ($1, $2, $3)
            ON CONFLICT (campus, person) DO NOTHING
            """, [.text(campus), .text(person), .text(account)])
    }

    /// The dealer looks after the machine, and sees what was before. Of no effect where it has asked already.
    package static func dealer(_ dealer: String, of vehicle: String, owner: String, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.dealership (vehicle, dealer, confirmed_at, confirmed_by, shares_past)
            SELECT $1, $2, now(), $3, true
            WHERE NOT EXISTS (SELECT FROM drover.dealership d WHERE d.vehicle = $1 AND d.dealer = $2)
            """, [.text(vehicle), .text(dealer), .text(owner)])
    }
}
