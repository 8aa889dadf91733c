public import Postgres

/// Applies the numbered SQL files of Queries/migrations, each in a transaction of its own that locks the list of them: safe to
/// run from two processes at once, of which the second waits and finds the work done.
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

    /// Returns the files that were applied now.
    public static func apply(_ files: [File], on connection: Connection) throws -> [File] {
        try makeList(on: connection)
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
            let isOurs = try connection.transaction {
                // Readers of the list go on, and none of them can hold this up.
                try connection.execute("LOCK TABLE drover.migration IN SHARE ROW EXCLUSIVE MODE")
                let number = Parameter.int4(Int32(file.number))
                guard try connection.query("SELECT FROM drover.migration WHERE number = $1", [number]).isEmpty else {
                    return false
                }
                try connection.execute(file.sql)
                try connection.query(
                    "INSERT INTO drover.migration (number, name, digest) VALUES ($1, $2, md5($3))",
                    [number, .text(file.name), .text(file.sql)])
                return true
            }
            if isOurs { now.append(file) }
        }
        return now
    }

    private static func makeList(on connection: Connection) throws {
        let list =
            """
            CREATE SCHEMA IF NOT EXISTS drover;
            CREATE TABLE IF NOT EXISTS drover.migration (
                number int PRIMARY KEY, name text NOT NULL, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
            """
        do {
            try connection.execute(list)
        } catch let error as PostgresError where madeMeanwhile.contains(error.sqlState) {
            // `IF NOT EXISTS` looks before it makes: another process came between. By now it is done.
            try connection.execute(list)
        }
    }

    /// unique_violation, duplicate_schema, duplicate_table, duplicate_object.
    private static let madeMeanwhile = ["23505", "42P06", "42P07", "42710"]

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
