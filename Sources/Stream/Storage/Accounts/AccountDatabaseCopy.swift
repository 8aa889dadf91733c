package import Postgres

/// A database of an account's own rows, for who needs psql or a tool that speaks to PostgreSQL: the views of `analyst` as tables, read
/// as questions are (`Question`), so that nothing of others' is in it.
package enum AccountDatabaseCopy {
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    private static let chunkBytes = 8 << 20

    /// Everything anew, of one moment; who reads the copy meanwhile sees the one before. Returns the rows of each view.
    /// - Parameters:
    ///   - asker: a login in `drover_query` and in nothing else.
    ///   - target: of another database, where the login may make a schema.
    package static func run(
        of account: String, from asker: Connection, to target: Connection
    ) throws -> [(view: String, rows: Int)] {
        guard try target.query("SELECT to_regnamespace('drover') IS NULL")[0].bool(0) == true else {
            throw Fault(description: "the database to copy to is one of Drover: take an empty one of its own")
        }
        do {
            _ = try QuestionAsker.read(account, on: asker)
        } catch let gone as QuestionAsker.Gone {
            throw Fault(description: gone.text)
        }
        try asker.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        // Never committed, as of a question.
        defer { if asker.isOpen { _ = try? asker.execute("ROLLBACK") } }
        try asker.query("SELECT drover.begin_question($1)", [.text(account)])
        try asker.execute("SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '1h'")
        let views = try asker.query(
            """
            SELECT c.relname::text, quote_ident(c.relname),
                string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
            WHERE c.relnamespace = 'own'::regnamespace AND c.relkind = 'v' GROUP BY c.relname ORDER BY 1
            """
        ).map { (view: try $0.text(0)!, quoted: try $0.text(1)!, columns: try $0.text(2)!) }
        return try target.transaction {
            try target.execute("CREATE SCHEMA IF NOT EXISTS analyst")
            return try views.map { ($0.view, try copy($0.quoted, $0.columns, from: asker, to: target)) }
        }
    }

    private static func copy(
        _ view: String, _ columns: String, from asker: Connection, to target: Connection
    ) throws -> Int {
        try target.execute("DROP TABLE IF EXISTS analyst.\(view); CREATE TABLE analyst.\(view) (\(columns))")
        var (held, rows) = ([UInt8](), 0)
        func send() throws {
            if !held.isEmpty { rows += try target.copyIn("COPY analyst.\(view) FROM STDIN", bytes: held) }
            held.removeAll(keepingCapacity: true)
        }
        try unsafe asker.copyOut("COPY (SELECT * FROM own.\(view)) TO STDOUT") { row in
            unsafe held.append(contentsOf: row)
            if held.count >= chunkBytes { try send() }
        }
        try send()
        try target.execute("ANALYZE analyst.\(view)")
        return rows
    }
}
