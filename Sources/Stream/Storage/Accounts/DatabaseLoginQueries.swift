package import Postgres

/// Logins of the database and the roles that they are in.
package enum DatabaseLoginQueries {
    package struct Membership: Sendable {
        /// The user of a connection.
        package let user: String
        package let isMember: Bool
    }

    package static func membership(of role: String, on connection: Connection) throws -> Membership {
        let row = try connection.query(
            """
            SELECT session_user::text, EXISTS (
                SELECT FROM pg_roles WHERE rolname = $1 AND pg_has_role(session_user, oid, 'MEMBER')) AS may
            """, [.text(role)])[0]
        return Membership(user: try row.text(0) ?? "", isMember: try row.bool(1) ?? false)
    }
}
