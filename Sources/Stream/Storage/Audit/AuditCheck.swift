internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
package import Postgres

/// Walks the chain and finds the first entry that does not fit. The hashes are made here and not by the database: whoever
/// changed entries may have changed its functions, too.
package struct AuditCheck {
    package struct Fault: Error, Equatable, CustomStringConvertible {
        package let sequence: Int64
        package let description: String
    }

    package struct Outcome: Equatable, Sendable {
        package let entries: Int64
        package let head: AuditQueries.Head
    }

    /// A head that somebody has kept elsewhere.
    package struct Anchor: Equatable, Sendable {
        /// Nil: not written down.
        package let sequence: Int64?
        package let hash: [UInt8]

        /// Whether that head is meant: a number that is not the hash's own is another head.
        func isOf(_ head: AuditQueries.Head) -> Bool {
            hash == head.hash && (sequence ?? head.sequence) == head.sequence
        }

        /// `12:ab34…` or `ab34…`
        package init?(_ text: String) {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2, let hash = parts.last.flatMap({ Hex.bytes(of: $0) }),
                hash.count == 32
            else { return nil }
            guard parts.count == 1 || Int64(parts[0]) != nil else { return nil }
            sequence = parts.count == 2 ? Int64(parts[0]) : nil
            self.hash = hash
        }
    }

    private static let pageRows: Int64 = 5_000

    private let connection: Connection
    private let anchor: Anchor?
    private var last: AuditQueries.Head
    private var isAnchored = false
    private var entries: Int64 = 0

    /// - Throws: `Fault`, or what went wrong with the database.
    package static func run(_ anchor: Anchor?, on connection: Connection) throws -> Outcome {
        try connection.snapshot {
            var check = AuditCheck(connection, anchor, from: try start(on: connection))
            try check.walk()
            try check.compareHead()
            try check.compareNames()
            return Outcome(entries: check.entries, head: check.last)
        }
    }

    private init(_ connection: Connection, _ anchor: Anchor?, from start: AuditQueries.Head) {
        self.connection = connection
        self.anchor = anchor
        last = start
        isAnchored = anchor?.isOf(start) ?? false
    }

    /// From where it goes on after retention: an entry says it, which is in the chain itself.
    private static func start(on connection: Connection) throws -> AuditQueries.Head {
        let rows = try connection.query(
            """
            SELECT substring(e.detail FROM '"sequence": ([0-9]{1,18})')::bigint AS sequence,
                decode(substring(e.detail FROM '"hash": "([0-9a-f]{64})"'), 'hex') AS hash
            FROM drover.audit_entry e WHERE e.action = 'log_shortened' ORDER BY e.sequence DESC LIMIT 1
            """)
        guard let row = rows.first, let sequence = try row.int("sequence"), let hash = try row.bytes("hash") else {
            return AuditQueries.Head(sequence: 0, hash: AuditEntry.root)
        }
        return AuditQueries.Head(sequence: Int64(sequence), hash: hash)
    }

    private mutating func walk() throws {
        var read: Int64?
        while true {
            let page = try connection.query(
                """
                SELECT \(AuditEntry.columns) FROM \(AuditEntry.tables) WHERE $1::bigint IS NULL OR e.sequence > $1
                ORDER BY e.sequence LIMIT $2
                """, [read.map { .int8($0) } ?? .null, .int8(AuditCheck.pageRows)]
            ).map { try AuditEntry($0) }
            guard let final = page.last else { return }
            for entry in page { try verify(entry) }
            read = final.sequence
        }
    }

    private mutating func verify(_ entry: AuditEntry) throws(Fault) {
        guard entry.sequence == last.sequence + 1 else {
            throw entry.sequence <= last.sequence
                ? Fault(
                    sequence: entry.sequence,
                    description:
                        "entry \(entry.sequence) is there, and entries up to \(last.sequence) were said to be removed")
                : Fault(
                    sequence: last.sequence + 1,
                    description:
                        "entry \(last.sequence + 1) is gone: \(last.sequence == 0 ? "the log" : "behind \(last.sequence)") goes on with \(entry.sequence)"
                )
        }
        guard entry.hash(after: last.hash) == entry.hash else {
            throw Fault(
                sequence: entry.sequence,
                description:
                    "entry \(entry.sequence) does not fit: it is another than was written, or was put in or moved, or \(last.sequence) before it was"
            )
        }
        last = AuditQueries.Head(sequence: entry.sequence, hash: entry.hash)
        entries = entries + 1
        if anchor?.isOf(last) == true { isAnchored = true }
    }

    private func compareHead() throws {
        let head = try AuditQueries.head(on: connection)
        guard head == last else {
            throw Fault(
                sequence: last.sequence + 1,
                description:
                    "the log ends at entry \(last.sequence), and its head says \(head.sequence): its end was cut off, or the head changed"
            )
        }
        guard let anchor, !isAnchored else { return }
        let place = anchor.sequence.map { "entry \($0)" } ?? "the entry of the anchor"
        throw Fault(
            sequence: anchor.sequence ?? last.sequence,
            description:
                "\(place) is not in the log as it was written down: the log was cut or made anew since, or `drover retention` has removed it"
        )
    }

    /// Whom entries mean. What is gone, an erasure has said.
    private func compareNames() throws {
        for row in try connection.query("SELECT digest, account, said, salt FROM drover.audit_name") {
            let told = Array("\(try row.text("account")!)\n\(try row.text("said")!)".utf8)
            guard Secrets.sha256(try row.bytes("salt")! + told) == (try row.bytes("digest")!) else {
                throw Fault(
                    sequence: 0, description: "the name \(try row.text("said")!) is another than entries mean by it")
            }
        }
        let gone = try connection.query(
            """
            SELECT min(e.sequence) FROM drover.audit_entry e CROSS JOIN LATERAL unnest(ARRAY[e.actor, e.subject]) AS who
            WHERE who IS NOT NULL AND NOT EXISTS (SELECT FROM drover.audit_name n WHERE n.digest = who)
                AND NOT EXISTS (SELECT FROM drover.audit_entry g WHERE g.action = 'account_erased' AND g.subject = who)
            """)[0].int(0)
        guard let gone else { return }
        throw Fault(
            sequence: Int64(gone),
            description: "entry \(gone) means somebody whose name is gone, and no entry says that it was erased")
    }
}
