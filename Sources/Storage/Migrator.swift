public import Postgres

/// Applies the numbered SQL files of Queries/migrations, each in a transaction of its own. An advisory lock makes it
/// safe to run from two processes at once: the second waits and finds the work done.
public struct Migrator {
    public struct File: Sendable {
        public let number: Int
        public let name: String
        public let sql: String
        public init(number: Int, name: String, sql: String) { (self.number, self.name, self.sql) = (number, name, sql) }

        /// `0001_first_path.sql` → 1; nil for a name without a number or of another kind.
        public static func number(of name: String) -> Int? {
            guard name.hasSuffix(".sql"), let end = name.firstIndex(of: "_") else { return nil }
            return Int(name[..<end])
        }
    }

    public struct Fault: Error, CustomStringConvertible { public let description: String }

    /// Any number that no other program uses as an advisory lock of the same database: "drover" in ASCII.
    private static let lock: Int64 = 0x6472_6F76_6572

    /// Returns the files that were applied now.
    public static func apply(_ files: [File], on connection: Connection) throws -> [File] {
        try connection.query("SELECT pg_advisory_lock($1)", [.int8(lock)])
        // Ends with the session anyway, so a failure here changes nothing.
        defer { _ = try? connection.query("SELECT pg_advisory_unlock($1)", [.int8(lock)]) }
        try connection.execute(
            """
            CREATE SCHEMA IF NOT EXISTS drover;
            CREATE TABLE IF NOT EXISTS drover.migration (
                number int PRIMARY KEY, name text NOT NULL, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
            """)
        var applied: [Int: (name: String, digest: String)] = [:]
        for row in try connection.query("SELECT number, name, digest FROM drover.migration") {
            applied[try row.int("number")!] = (try row.text("name")!, try row.text("digest")!)
        }
        if let last = applied.keys.max(), !files.contains(where: { $0.number == last }) {
            throw Fault(
                description:
                    "the database is at migration \(last), which this program does not have. Run a newer drover")
        }
        var now: [File] = []
        for file in files.sorted(by: { $0.number < $1.number }) where try isNew(file, applied, connection) {
            try connection.transaction {
                try connection.execute(file.sql)
                try connection.query(
                    "INSERT INTO drover.migration (number, name, digest) VALUES ($1, $2, md5($3))",
                    [.int4(Int32(file.number)), .text(file.name), .text(file.sql)])
            }
            now.append(file)
        }
        return now
    }

    private static func isNew(
        _ file: File, _ applied: [Int: (name: String, digest: String)], _ connection: Connection
    ) throws -> Bool {
        guard let known = applied[file.number] else { return true }
        let digest = try connection.query("SELECT md5($1) AS digest", [.text(file.sql)])[0].text("digest")
        guard digest == known.digest else {
            throw Fault(
                description: "\(file.name): was applied as \(known.name) and has changed since. "
                    + "Put the change into a migration with the next number")
        }
        return false
    }
}
