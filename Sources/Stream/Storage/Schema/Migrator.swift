package import Postgres

/// Applies the numbered migrations of Queries/migrations, each in a transaction of its own that locks the list of them: safe to
/// run from two processes at once, of which the second waits and finds the work done.
package struct Migrator {
    package struct File: Sendable {
        package let number: Int
        package let name: String
        package let sql: String
        package init(number: Int, name: String, sql: String) {
            self.number = number
            self.name = name
            self.sql = sql
        }

        /// `0077_wider.sql` → 77, and of a folder, whose files are one migration, `0076_baseline` → 76; nil for a name without a
        /// number or of another kind.
        package static func number(of name: String) -> Int? {
            guard name.hasSuffix(".sql") || !name.contains("."), let end = name.firstIndex(of: "_") else { return nil }
            return Int(name[..<end])
        }
    }

    /// A migration in the list of a database.
    struct Entry: Equatable {
        let name, digest: String
    }

    package struct Fault: Error, CustomStringConvertible { public let description: String }

    /// How long a file waits for others' transactions. Whoever comes after waits behind it, so it gives way in between.
    package struct Patience: Sendable {
        package let lockMs, restMs: Int64
        package let tries: Int
        package init(lockMs: Int64, restMs: Int64, tries: Int) {
            self.lockMs = lockMs
            self.restMs = restMs
            self.tries = tries
        }
        package static let standard = Patience(lockMs: 3_000, restMs: 2_000, tries: 24)
    }

    /// The numbers of what was applied.
    package static func applied(on connection: Connection) throws -> Set<Int> {
        Set(try connection.query("SELECT number FROM drover.migration").map { try $0.int(0)! })
    }

    /// As people read them.
    package static func numbers(_ numbers: [Int]) -> String {
        let shown = numbers.prefix(5).map { format(number: $0) }.joined(separator: ", ")
        let more = numbers.count > 5 ? " and \(numbers.count - 5) more" : ""
        return (numbers.count == 1 ? "migration " : "migrations ") + shown + more
    }

    private static func format(number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Returns the files that were applied now.
    /// - Parameter waits: once a file that others' transactions hold up, who and how long it is tried.
    package static func apply(
        _ files: [File], patience: Patience = .standard, on connection: Connection, waits: (String) -> Void = { _ in }
    ) throws -> [File] {
        try makeList(on: connection)
        var applied: [Int: Entry] = [:]
        for row in try connection.query("SELECT number, name, digest FROM drover.migration") {
            applied[try row.int("number")!] = Entry(name: try row.text("name")!, digest: try row.text("digest")!)
        }
        try Baseline.check(applied)
        if let last = applied.keys.max(), !files.contains(where: { $0.number == last }) {
            throw Fault(
                description:
                    "the database is at migration \(last), which this program does not have. Run a newer drover")
        }
        var now: [File] = []
        for file in files.sorted(by: { $0.number < $1.number }) where try isNew(file, applied, connection) {
            let isOurs = try waiting(file, patience, connection, waits) { try apply(file, patience, connection) }
            if isOurs { now.append(file) }
        }
        return now
    }

    /// All of the file or nothing. False: another process did it meanwhile.
    private static func apply(_ file: File, _ patience: Patience, _ connection: Connection) throws -> Bool {
        try connection.transaction {
            // Readers of the list go on, and none of them can hold this up; another `drover migrate` is waited for.
            try connection.execute("LOCK TABLE drover.migration IN SHARE ROW EXCLUSIVE MODE")
            let number = Parameter.int4(Int32(file.number))
            guard try connection.query("SELECT FROM drover.migration WHERE number = $1", [number]).isEmpty else {
                return false
            }
            try connection.execute("SET LOCAL lock_timeout = \(patience.lockMs)")
            try connection.execute(file.sql)
            try connection.query(
                "INSERT INTO drover.migration (number, name, digest) VALUES ($1, $2, md5($3))",
                [number, .text(file.name), .text(file.sql)])
            return true
        }
    }

    /// Again and again while somebody else's transaction is in the way.
    private static func waiting(
        _ file: File, _ patience: Patience, _ connection: Connection, _ waits: (String) -> Void,
        _ body: () throws -> Bool
    ) throws -> Bool {
        var holders: [MigrationLocks.Holder]?
        for _ in 0..<patience.tries {
            do {
                return try body()
            } catch let error as PostgresError where MigrationLocks.isInTheWay(error) {
                let now = try MigrationLocks.holders(on: connection)
                if holders == nil { waits(MigrationLocks.waiting(file.name, now, patience)) }
                holders = holders.map { before in before.filter(now.contains) } ?? now
                try connection.query("SELECT pg_sleep($1::float8 / 1000)", [.int8(patience.restMs)])
            }
        }
        throw Fault(description: MigrationLocks.advice(file.name, holders ?? []))
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

    private static func isNew(_ file: File, _ applied: [Int: Entry], _ connection: Connection) throws -> Bool {
        guard let known = applied[file.number] else { return true }
        if file.number == Baseline.number, Baseline.isReached(bySingles: known) { return false }
        let digest = try connection.query("SELECT md5($1) AS digest", [.text(file.sql)])[0].text("digest")
        guard digest == known.digest else {
            throw Fault(
                description: "\(file.name): was applied as \(known.name) and has changed since. "
                    + "Put the change into a migration with the next number")
        }
        return false
    }
}
