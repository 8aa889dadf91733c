internal import Basics
internal import Codecs
package import Postgres

/// The session or token that a stream of events was opened with, or a question asked: it ends when that no longer holds.
package struct StreamAccess: Hashable, Sendable {
    /// Digest of a session or a token.
    package let key: [UInt8]
    /// As whom of a campus, where the stream says more than that there is news; else empty.
    package let campus, person: String
    /// Roles of a session's account, all of which it needs to have still: which of them let it in, nobody has to say.
    package let roles: [String]

    package init(key: [UInt8], campus: String = "", person: String = "", roles: [String] = []) {
        self.key = key
        self.campus = campus
        self.person = person
        self.roles = roles
    }
}

/// Asked with each heartbeat, and before an answer that took its time: who was logged out, disabled or erased, whose token was
/// revoked and whose role was taken, is told no more.
package enum StreamAccessQueries {
    /// Those of them that are shut.
    package static func shut(_ doors: Set<StreamAccess>, on connection: Connection) throws -> Set<StreamAccess> {
        guard !doors.isEmpty else { return [] }
        let asked = Array(doors)
        let held = try connection.query(
            """
            SELECT place FROM drover.streams_that_hold(
                ARRAY(SELECT decode(k, 'hex') FROM unnest($1::text[]) WITH ORDINALITY AS u(k, n) ORDER BY n), $2, $3, $4) AS place
            """,
            [
                .textArray(asked.map { Hex.text($0.key) }), .textArray(asked.map(\.campus)),
                .textArray(asked.map(\.person)), .textArray(asked.map { $0.roles.joined(separator: ",") }),
            ]
        ).map { try $0.int(0)! - 1 }
        return doors.subtracting(held.map { asked[$0] })
    }
}
