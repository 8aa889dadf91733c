internal import Fleet
package import Postgres

/// Accounts that are bound to people of campuses, for pages: `drover.person_account`.
package enum BoundPersonStore {
    /// Whom the account is on which campus, the last one bound first. Precondition: the connection reads as the account.
    /// - Parameter key: digest of its session.
    package static func read(_ account: String, key: [UInt8], on connection: Connection) throws -> [Caller] {
        try connection.query("SELECT campus, person, role, name FROM drover.bound_people()").map { row in
            Caller(
                campus: try row.text(0)!, id: try row.text(1)!, role: try row.word(2)!,
                name: try row.text(3)!, account: account, key: key)
        }
    }

    /// The caller that an administrator is: he dispatches every campus, bound or not.
    package static func administrator(_ account: String, key: [UInt8], of campus: String) -> Caller {
        Caller(campus: campus, id: account, role: .dispatcher, name: account, account: account, key: key)
    }

    /// A code for the account that the connection reads as, once.
    package static func bind(
        campus: String, person: String, digest: [UInt8], on connection: Connection
    ) throws -> PersonStore.Outcome {
        let rows = try connection.query(
            "SELECT drover.bind_person($1, $2, $3)", [.text(campus), .text(person), .bytes(digest)])
        return try rows[0].word(0)!
    }

    /// Campuses that the account may watch. Precondition: the connection reads as the account.
    package static func campuses(on connection: Connection) throws -> [(id: String, name: String)] {
        try connection.query("SELECT campus, name FROM drover.campus ORDER BY campus LIMIT 1000").map {
            (try $0.text(0)!, try $0.text(1)!)
        }
    }
}
