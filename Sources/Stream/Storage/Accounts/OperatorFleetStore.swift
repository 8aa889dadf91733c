internal import Basics
internal import Codecs
internal import Crypto
package import Fleet
package import Postgres

/// Fleets as the operator keeps them, through the owner's login: named sets of vehicles and people, nested once.
package enum OperatorFleetStore {
    package static func count(on connection: Connection) throws -> Int {
        try connection.query("SELECT count(*) FROM drover.fleet")[0].int(0)!
    }

    /// Makes a fleet, or gives one another name or place.
    package static func put(_ fleet: String, name: String, partOf: String?, on connection: Connection) throws {
        try connection.query(
            """
            INSERT INTO drover.fleet (fleet, name, part_of) VALUES ($1, $2, $3)
            ON CONFLICT (fleet) DO UPDATE SET name = EXCLUDED.name, part_of = EXCLUDED.part_of
            """, [.text(fleet), .text(name), .text(partOf)])
    }

    /// With what it holds; vehicles and people stay. False: there is none, or it has parts.
    package static func remove(_ fleet: String, on connection: Connection) throws -> Bool {
        try connection.query(
            """
            DELETE FROM drover.fleet f WHERE f.fleet = $1 AND NOT EXISTS (SELECT FROM drover.fleet p WHERE p.part_of = f.fleet)
            """, [.text(fleet)]
        ).rowsChanged == 1
    }

    package static func add(_ vehicle: String, kind: VehicleKind, to fleet: String, on connection: Connection) throws {
        try connection.query(
            "INSERT INTO drover.fleet_vehicle (fleet, kind, vehicle) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [.text(fleet), .text(kind.rawValue), .text(vehicle)])
    }

    /// Those of them that nobody has registered and that have never reported.
    package static func unknown(_ vehicles: [String], kind: VehicleKind, on connection: Connection) throws -> [String] {
        try connection.query(
            """
            SELECT asked.vehicle FROM unnest($1::text[]) WITH ORDINALITY AS asked(vehicle, place)
            WHERE NOT EXISTS (SELECT FROM drover.vehicle v WHERE v.vehicle = asked.vehicle AND v.kind = $2) ORDER BY place
            """, [.textArray(vehicles), .text(kind.rawValue)]
        ).map { try $0.text(0)! }
    }

    /// False: it was not in it.
    package static func remove(_ vehicle: String, kind: VehicleKind, from fleet: String, on connection: Connection)
        throws
        -> Bool
    {
        try connection.query(
            "DELETE FROM drover.fleet_vehicle WHERE fleet = $1 AND kind = $2 AND vehicle = $3",
            [.text(fleet), .text(kind.rawValue), .text(vehicle)]
        ).rowsChanged == 1
    }

    package static func add(member account: String, to fleet: String, on connection: Connection) throws {
        try connection.query(
            "INSERT INTO drover.fleet_member (fleet, account) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [.text(fleet), .text(account)])
    }

    /// False: it was not in it.
    package static func remove(member account: String, from fleet: String, on connection: Connection) throws -> Bool {
        try connection.query(
            "DELETE FROM drover.fleet_member WHERE fleet = $1 AND account = $2", [.text(fleet), .text(account)]
        ).rowsChanged == 1
    }
}

/// Logins of people in psql, held to what their accounts see.
package enum DatabaseLogin {
    /// The role's name; it needs no quotes in a connection string. PostgreSQL cuts names after 63 bytes: long ones end in a digest.
    package static func name(of account: String) -> String {
        let name = "drover_account_" + account
        guard name.utf8.count > 63 else { return name }
        return name.prefix(46) + "_" + Hex.text(Secrets.digest(Array(account.utf8)).prefix(8))
    }

    package enum Outcome: Sendable {
        case made, noAccount
        /// Others' rows are in the same database, and PostgreSQL tells more of them than they should know.
        case hasNeighbours
    }

    /// Makes the login, or gives it another password. A login may read what its account sees, for at most ten minutes a statement,
    /// on five connections; `endLong` ends who undoes the time-outs.
    package static func put(_ account: String, password: String, on connection: Connection) throws -> Outcome {
        let login = name(of: account)
        return try connection.transaction {
            // Fleets are made one at a time: none comes between the look and the login.
            try connection.query("SELECT drover.take_turn('drover.fleet')")
            guard
                try connection.query(
                    "SELECT FROM drover.account WHERE account = $1 AND disabled_at IS NULL FOR SHARE", [.text(account)]
                ).count == 1
            else { return .noAccount }
            guard try connection.query("SELECT drover.may_have_login($1)", [.text(account)])[0].bool(0) == true else {
                return .hasNeighbours
            }
            let isThere = try !connection.query("SELECT FROM pg_roles WHERE rolname = $1", [.text(login)]).isEmpty
            // The server gets what it keeps, so that no log of statements ever holds a password.
            let verifier = try connection.passwordVerifier(password, of: login)
            // Names and passwords are no parameters of these statements: the server quotes them.
            let statements = try connection.query(
                """
                SELECT format('%s ROLE %I LOGIN CONNECTION LIMIT 5 PASSWORD %L; GRANT drover_sight TO %2$I; '
                    'ALTER ROLE %2$I SET statement_timeout = ''10min''; '
                    'ALTER ROLE %2$I SET idle_in_transaction_session_timeout = ''1min''; ALTER ROLE %2$I SET default_transaction_read_only = on; '
                    'GRANT CONNECT ON DATABASE %4$I TO %2$I; GRANT %2$I TO CURRENT_USER',
                    CASE WHEN $3 THEN 'ALTER' ELSE 'CREATE' END, $1::text, $2::text, current_database())
                """, [.text(login), .text(verifier), .bool(isThere)])[0].text(0)!
            try connection.execute(statements)
            try connection.query(
                """
                INSERT INTO drover.account_login (login, account) VALUES ($1, $2)
                ON CONFLICT (login) DO UPDATE SET account = EXCLUDED.account
                """, [.text(login), .text(account)])
            return .made
        }
    }

    /// Ends sessions of people's logins that take longer than they may, whatever they set for themselves; returns how many.
    /// By a login in drover_relay.
    package static func endLong(on connection: Connection) throws -> Int {
        try connection.query("SELECT drover.end_long_logins('1 minute', '10 minutes', '15 minutes')")[0].int(0)!
    }

    /// Ends those that may not be, and says how many there were: a copy of a database may have brought some.
    package static func endNeighbours(on connection: Connection) throws -> Int {
        try connection.query("SELECT drover.end_logins_of_neighbours()")[0].int(0) ?? 0
    }

    /// Accounts that have a login of the database.
    package static func accounts(on connection: Connection) throws -> Set<String> {
        Set(try connection.query("SELECT account FROM drover.account_login").map { try $0.text(0)! })
    }

    /// Ends the login and its connections. False: there is none.
    package static func remove(_ account: String, on connection: Connection) throws -> Bool {
        let isThere = try connection.query("SELECT drover.end_database_login($1)", [.text(account)])[0].bool(0)!
        try endLost(on: connection)
        return isThere
    }

    /// Connections that came in while their login was being ended, before that was committed.
    package static func endLost(on connection: Connection) throws {
        try connection.query("SELECT drover.end_lost_connections()")
    }
}
