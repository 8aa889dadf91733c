package import Postgres

/// All that is held of a person, read as it is needed: `drover.person_data` names the tables.
package struct PersonDataQueries: Sendable {
    package enum Subject: Sendable {
        /// The account that is logged in, by the page's login.
        case session([UInt8])
        /// By the owner's.
        case account(String)
    }

    /// Rows that are held at a time.
    private static let rowsMax = 100

    private let of: Subject
    package init(_ of: Subject) { self.of = of }

    /// Tables with rows about people, by name.
    package static func relations(on connection: Connection) throws -> [String] {
        try connection.query(
            "SELECT relation FROM drover.person_data() WHERE condition IS NOT NULL ORDER BY relation COLLATE \"C\""
        ).map { try $0.text(0)! }
    }

    /// Lends each row, as JSON. Precondition: a transaction is open.
    package func rows(of relation: String, on connection: Connection, _ take: (String) throws -> Void) throws {
        let source =
            switch of {
            case .session: "drover.own_rows($1, $2)"
            case .account: "drover.rows_of_person($1, $2)"
            }
        try connection.eachRow(
            "SELECT found FROM \(source) AS found", [who, .text(relation)], atATime: PersonDataQueries.rowsMax
        ) { try take(try $0.text(0)!) }
    }

    /// Lends each picture, film and report. Precondition: a transaction is open.
    package func files(on connection: Connection, _ take: (_ name: String, _ content: [UInt8]) throws -> Void) throws {
        let source =
            switch of {
            case .session: "drover.own_files($1)"
            case .account: "drover.files_of_person($1)"
            }
        // One at a time: a film has tens of megabytes.
        try connection.eachRow("SELECT name, content FROM \(source)", [who], atATime: 1) {
            try take(try $0.text(0)!, try $0.bytes(1)!)
        }
    }

    private var who: Parameter {
        switch of {
        case .session(let digest): .bytes(digest)
        case .account(let account): .text(account)
        }
    }
}
