internal import CLibpq

/// An error of PostgreSQL or on the way to it, and what to do. Contains no values: the server quotes them in some messages, and those
/// parts are removed here.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// insufficient_privilege
    package static let noRight = "42501"
    /// lock_not_available
    package static let lockNotAvailable = "55P03"

    /// Five characters, SQL standard and PostgreSQL's appendix A. Empty when the failure has none: no server answered.
    package let sqlState: String
    package let message: String
    /// The key, row or limit, without its value.
    package let detail: String?
    /// Where: function, COPY line and column.
    package let context: String?
    /// Names from the server, for callers that branch on them.
    package let table: String?
    package let constraint: String?
    /// The connection is of no more use; make a new one.
    package let isConnectionLost: Bool
    /// A COMMIT went out and no answer came back. Whether it happened must be read back, never guessed.
    package internal(set) var isOutcomeUnknown = false

    /// The server understood what it was given and does not take it: given again it would say the same. Data exceptions,
    /// integrity, syntax and limits of a program (SQL standard and appendix A, classes 22, 23, 42, 54, P0).
    package var isRefusal: Bool {
        !isConnectionLost && sqlState != PostgresError.noRight
            && ["22", "23", "42", "54", "P0"].contains(sqlState.prefix(2))
    }

    package var description: String {
        var text = "PostgreSQL: \(message)"
        if !sqlState.isEmpty { text += " (\(sqlState))" }
        if let detail { text += "; \(detail)" }
        if let context { text += "; \(context)" }
        return text + (advice.map { (text.last.map(".?!".contains) == true ? " " : ". ") + $0 } ?? "")
    }

    /// One sentence on what to do, for the usual causes.
    package var advice: String? {
        if let known = Advice.bySQLState[sqlState] { return known }
        if sqlState.isEmpty, isConnectionLost { return Advice.forText(message) }
        return nil
    }

    init(
        sqlState: String, message: String, detail: String? = nil, context: String? = nil, table: String? = nil,
        constraint: String? = nil, isConnectionLost: Bool = false
    ) {
        self.sqlState = sqlState
        self.message = message
        self.detail = detail
        self.context = context
        self.table = table
        self.constraint = constraint
        self.isConnectionLost = isConnectionLost
    }

    /// A mistake on our side of the wire.
    static func usage(_ message: String) -> PostgresError { PostgresError(sqlState: "", message: message) }
}

/// Takes values out of the server's texts. See PostgreSQL's errdetail calls: values come in quotes after a colon, after
/// `)=(`, or as a whole row.
package enum Withheld {
    /// Classes 22 (bad data) and 23 (constraint), whose texts repeat the values sent.
    static func isAboutData(_ sqlState: String) -> Bool { sqlState.hasPrefix("22") || sqlState.hasPrefix("23") }

    package static func message(_ text: String, _ sqlState: String) -> String {
        // Class 22 quotes the value itself, before or after the rule: keep the text outside the quotes. Class 23 quotes names only.
        sqlState.hasPrefix("22") ? withoutQuoted(text) : text
    }

    package static func detail(_ text: String, _ sqlState: String) -> String? {
        guard isAboutData(sqlState) else { return text }
        // "Key (account, name)=(7, x) already exists." keeps its columns.
        guard text.hasPrefix("Key ("), let cut = text.firstRange(of: ")=(") else { return nil }
        return String(text[..<cut.lowerBound]) + ")"
    }

    /// "COPY t, line 3, column x: "value"" and "unnamed portal parameter $1 = 'value'" lose what follows.
    package static func context(_ text: String) -> String {
        let cuts = [text.firstRange(of: ": \""), text.firstRange(of: " = '")].compactMap { $0?.lowerBound }
        return String(text[..<(cuts.min() ?? text.endIndex)])
    }

    static func withoutQuoted(_ text: String) -> String {
        guard let first = text.firstIndex(of: "\""), let last = text.lastIndex(of: "\"") else { return text }
        return text[..<first] + "(value withheld)" + text[text.index(after: last)...]
    }
}

enum Advice {
    static let bySQLState: [String: String] = [
        "28P01": "The password is wrong: check the connection settings or ~/.pgpass",
        "28000": "The server refuses this user from this address: check the user name and pg_hba.conf",
        "3D000": "Create the database first (createdb NAME) or correct its name in the connection settings",
        PostgresError.noRight:
            "This login lacks a right: is it the one meant (postgres.…_url)? Run `drover migrate` as the owner, then see docs/operator.md, Rights",
        "42P01": "A table or view is missing: run the migrations",
        "3F000": "The schema is missing: run the migrations",
        "53100": "The server's disk is full: free space or run retention; nothing is lost, writing goes on afterwards",
        "53200": "The server ran out of memory: lower its work_mem or the number of connections",
        "53300": "All connection slots are taken: raise max_connections or run fewer lanes",
        "57P01": "The server is shutting down; it is tried again",
        "57P02": "The server crashed and restarts; it is tried again",
        "57P03": "The server is starting up; it is tried again",
        "25006": "The server is a standby or read-only: connect to the primary",
        PostgresError.lockNotAvailable:
            "Another session keeps it locked; it can be run again. Where it lasts, see pg_locks",
        "57014": "The statement took longer than allowed or was cancelled",
        "40001": "Another transaction was faster; the whole transaction can be run again",
        "40P01": "Deadlock; the whole transaction can be run again",
        "08P01": "Server and client do not understand each other: is this port really PostgreSQL's?",
    ]

    /// libpq has no code for failures before a session exists. Its own texts are English as long as nobody calls setlocale; a server set
    /// to another language gets the general advice.
    static func forText(_ text: String) -> String {
        let table = [
            ("Connection refused", "Start the server or correct host and port in the connection settings"),
            ("No such file or directory", "Start the server or correct the socket directory (host) in the settings"),
            ("could not translate host name", "Correct the host name in the connection settings"),
            (
                "certificate verify failed",
                "The server's certificate is not signed by the roots of sslrootcert, or has run out: correct sslrootcert, or renew it"
            ),
            ("does not match host name", "The server's certificate is another host's: connect by a name that it holds"),
            ("root certificate file", "Put the roots there, or correct sslrootcert in the connection settings"),
            ("server does not support SSL", "Set ssl=on at the server, or correct sslmode in the connection settings"),
            ("timeout expired", "The host does not answer: check address, route and firewall"),
            ("password authentication failed", bySQLState["28P01"]!),
            ("no password supplied", "Give a password in the connection settings or ~/.pgpass"),
            ("no pg_hba.conf entry", bySQLState["28000"]!),
            ("too many clients", bySQLState["53300"]!),
            ("starting up", bySQLState["57P03"]!),
            ("shutting down", bySQLState["57P01"]!),
        ]
        if let row = table.first(where: { text.contains($0.0) }) { return row.1 }
        if text.contains("database"), text.contains("does not exist") { return bySQLState["3D000"]! }
        return "Check that the server runs and can be reached"
    }
}

extension PostgresError {
    /// From a result; `result` nil means libpq itself gave up and the reason is the connection's.
    static func of(_ result: OpaquePointer?, on connection: OpaquePointer) -> PostgresError {
        let lost = unsafe PQstatus(connection) != CONNECTION_OK
        // Field codes are characters in libpq's interface (postgres_ext.h).
        func field(_ code: Unicode.Scalar) -> String? {
            guard let result = unsafe result, let text = unsafe PQresultErrorField(result, Int32(code.value)) else {
                return nil
            }
            return unsafe String(cString: text)
        }
        let sqlState = field("C") ?? ""
        let said = unsafe field("M") ?? text(PQerrorMessage(connection))
        return PostgresError(
            sqlState: sqlState, message: Withheld.message(said, sqlState),
            detail: field("D").flatMap { Withheld.detail($0, sqlState) },
            context: field("W").map(Withheld.context), table: field("t"), constraint: field("n"),
            isConnectionLost: lost || sqlState.hasPrefix("08"))
    }

    /// libpq's texts end in a newline and may have several lines.
    static func text(_ message: UnsafePointer<CChar>?) -> String {
        guard let message = unsafe message else { return "unknown error" }
        let lines = unsafe String(cString: message).split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }
        return lines.isEmpty ? "no reason given" : lines.joined(separator: "; ")
    }
}
