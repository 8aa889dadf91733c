internal import Basics
internal import Codecs
internal import Crypto
internal import Postgres

/// An entry as it is stored, with whom its digests mean.
package struct AuditEntry: Sendable {
    package let sequence: Int64
    /// Microseconds since 1970.
    package let atUs: Int64
    package let action: String
    package let actor, subject, remote: Name?
    /// One line of JSON.
    package let detail: String
    package let hash: [UInt8]

    package struct Name: Sendable {
        package let digest: [UInt8]
        /// Nil: erased.
        package let said: String?
    }

    static let columns = """
        e.sequence, (extract(epoch FROM e.at) * 1000000)::bigint AS at_us, e.action, e.actor, e.subject, e.remote, e.detail,
        e.hash, a.said AS actor_said, s.said AS subject_said, r.said AS remote_said
        """
    static let tables = """
        drover.audit_entry e LEFT JOIN drover.audit_name a ON a.digest = e.actor
        LEFT JOIN drover.audit_name s ON s.digest = e.subject LEFT JOIN drover.audit_name r ON r.digest = e.remote
        """

    init(_ row: Row) throws {
        func name(_ column: String) throws -> Name? {
            try row.bytes(column).map { Name(digest: $0, said: try row.text(column + "_said")) }
        }
        sequence = Int64(try row.int("sequence")!)
        atUs = Int64(try row.int("at_us")!)
        action = try row.text("action")!
        detail = try row.text("detail")!
        hash = try row.bytes("hash")!
        actor = try name("actor")
        subject = try name("subject")
        remote = try name("remote")
    }

    /// The bytes that the hash is over, behind the hash before: `drover.audit_bytes` has the same.
    package var bytes: [UInt8] {
        let words =
            [String(sequence), String(atUs), action] + [actor, subject, remote].map { Hex.text($0?.digest ?? []) }
        return Array((words + [detail]).joined(separator: "\n").utf8)
    }

    func hash(after previous: [UInt8]) -> [UInt8] { Secrets.sha256(previous + bytes) }

    /// Where a chain begins.
    static let root = [UInt8](repeating: 0, count: 32)
}
