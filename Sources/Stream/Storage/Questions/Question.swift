package import Postgres

/// A statement of somebody's own: one SELECT over the views of `analyst`, as an account sees them. It runs on a login that may do
/// nothing else, behind a binding that it cannot undo and without EXPLAIN (`drover.begin_question`).
package struct Question: Sendable {
    package struct Limits: Sendable {
        package let rows, bytes, seconds: Int
        package init(rows: Int, bytes: Int, seconds: Int) {
            self.rows = rows
            self.bytes = bytes
            self.seconds = seconds
        }
    }

    /// The statement is not taken, or took too much. PostgreSQL's words, without values.
    package struct Refusal: Error, Sendable {
        package let text: String
        package init(_ text: String) { self.text = text }
    }

    package static let bytesMax = 20_000
    /// The most rows of an answer, whoever asks.
    package static let answerRowsMax = 100_000
    package static let answerBytesMax = 16 << 20
    private let text: String

    package init(_ statement: String) throws(Refusal) {
        guard statement.utf8.count <= Question.bytesMax else {
            throw Refusal("A statement has at most \(Question.bytesMax) bytes.")
        }
        guard !statement.utf8.contains(0) else { throw Refusal("A statement holds no NUL.") }
        text = QuestionNames.own(statement)
    }

    /// Rows, of more than so many the first ones and one more. The connection is as before afterwards.
    /// - Throws: `Refusal`, `QuestionAsker.Gone`, or what is wrong with the server.
    package func ask(
        as account: String, by access: StreamAccess? = nil, _ limits: Limits, on connection: Connection
    ) throws -> Rows {
        _ = try QuestionAsker.read(account, by: access, on: connection)
        let rows = try answer(account, limits, connection)
        // The answer is of the moment at which it began. Whoever was let go meanwhile gets none, nor whose token or role was taken.
        _ = try QuestionAsker.read(account, by: access, on: connection)
        return rows
    }

    private func answer(_ account: String, _ limits: Limits, _ connection: Connection) throws -> Rows {
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        // Never committed: the binding goes with the transaction. Where it cannot be sent, the server rolls back by itself.
        defer { if connection.isOpen { _ = try? connection.execute("ROLLBACK") } }
        try connection.query("SELECT drover.begin_question($1)", [.text(account)])
        try connection.execute(
            """
            SET LOCAL search_path = own; SET LOCAL statement_timeout = '\(limits.seconds)s'; SET LOCAL lock_timeout = '2s';
            SET LOCAL work_mem = '16MB'; SET LOCAL hash_mem_multiplier = 1; SET LOCAL jit = off; SET LOCAL TimeZone = 'UTC';
            SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL drover.question_bytes = '\(limits.bytes)'; SAVEPOINT looked_at
            """)
        do {
            let columns = try columns(on: connection)
            // From here on no statement of the transaction can write, and none can take that back.
            try connection.execute("ROLLBACK TO looked_at; SET TRANSACTION READ ONLY")
            return try connection.query(
                """
                SELECT \(columns) FROM (
                \(text)
                ) AS answer WHERE drover.admit_row(octet_length((answer.*)::text)) LIMIT \(limits.rows + 1)
                """)
        } catch let error as PostgresError {
            throw Question.refusal(error, limits) ?? error
        }
    }

    /// The columns of the answer, each as a type that we read. PostgreSQL's parser has seen the question by then; nothing of it has run.
    private func columns(on connection: Connection) throws -> String {
        // One statement by itself: with several, or with anything but a SELECT, there is no view.
        try connection.query("CREATE TEMPORARY VIEW drover_question AS\n\(text)")
        let faults = try connection.query(
            "SELECT * FROM drover.question_faults('pg_temp.drover_question'::regclass) LIMIT 10"
        ).compactMap { try $0.text(0) }
        // Whether there is a role or not of such a name, the answer is the same.
        if faults.contains(where: { $0.hasPrefix("the type") }) { throw Question.ofServer }
        guard faults.isEmpty else { throw Refusal("Not taken: \(faults.joined(separator: "; ")).") }
        let tree = try connection.query(
            "SELECT ev_action::text FROM pg_rewrite WHERE ev_class = 'pg_temp.drover_question'::regclass")[0].text(0)
        guard let tree, QuestionComplexity.isLight(tree) else { throw Refusal("Not taken: \(Question.tooHeavy)") }
        let steps = try QuestionStepCost.read(on: connection)
        let endless = steps.endless(in: tree)
        guard endless.isEmpty else { throw Question.endless(endless) }
        guard steps.areFew(in: tree) else { throw Refusal("Not taken: \(Question.tooMany)") }
        return try connection.query(
            """
            SELECT string_agg(format('answer.%1$I%2$s AS %1$I', a.attname, CASE
                WHEN a.atttypid IN ('bool'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'float8'::regtype,
                    'text'::regtype, 'text[]'::regtype, 'timestamptz'::regtype) THEN ''
                WHEN a.atttypid IN ('numeric'::regtype, 'float4'::regtype) THEN '::float8' ELSE '::text' END), ', ' ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = 'pg_temp.drover_question'::regclass AND a.attnum > 0
            """)[0].text(0) ?? "1"
    }

    /// Nil: the server is gone. Whatever else fails here, the statement brought about.
    private static func refusal(_ error: PostgresError, _ limits: Limits) -> Refusal? {
        switch error.sqlState {
        case "57014": return Refusal("It took longer than \(limits.seconds) s. \(narrower)")
        case "54000": return Refusal("Its answer is longer than \(limits.bytes) bytes. \(narrower)")
        case "53100", "53200", "53400": return Refusal("It needs more memory or room than there is. \(narrower)")
        case "42P16": return Refusal("Not taken: \(error.message). Every column has a type and a name of its own.")
        case "42701": return Refusal("Not taken: \(error.message). Give each column a name of its own, by AS.")
        case "42704": return ofServer
        case "0A000" where error.message.contains("constant of the type"): return ofServer
        case "42601", "0A000": return Refusal("Not taken: \(error.message). \(onlyOne)")
        case "25006", PostgresError.noRight: return Refusal("Not taken: \(error.message). \(onlyOne)")
        default: return error.isConnectionLost ? nil : Refusal("Not taken: \(error.message).")
        }
    }

    private static let ofServer = Refusal(
        "Not taken: it names a type, or what is PostgreSQL's own, that may not be asked.")
    private static let narrower = "Ask for fewer vehicles or a shorter time, or for sums instead of rows."
    private static let tooHeavy =
        "it nests too deep, or its parts use one another too often. Take fewer steps, or WITH … AS MATERIALIZED."
    private static func endless(_ steps: [String]) -> Refusal {
        Refusal(
            "Not taken: \(steps.joined(separator: ", ")) of two computed values: PostgreSQL cannot stop within such a step. "
                + "Write one of the two out, at most \(QuestionStepCost.most) bytes or elements of it (LIKE '%north%', <@ ARRAY['a', 'b']), "
                + "or compare by = ANY (…), starts_with, ~ or a join with unnest.")
    }
    private static let tooMany =
        "it looks at texts, arrays or JSON too often in one row. Take shorter patterns, ~ with | between them, or a join."
    private static let onlyOne =
        "It is to be one SELECT, VALUES or TABLE (WITH before it) over the views, without EXPLAIN."
}
