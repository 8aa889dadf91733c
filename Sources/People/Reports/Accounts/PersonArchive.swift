internal import Formats
package import Postgres
package import Storage

/// All that is held of a person as a ZIP archive, written as it is read: a table of JSON each, and files.
package struct PersonArchive: Sendable {
    private static let pieceBytes = 1 << 18

    private let data: PersonDataQueries
    private let account, today: String

    /// - Parameter today: for its first page, like 2026-05-01.
    package init(_ data: PersonDataQueries, account: String, today: String) {
        self.data = data
        self.account = account
        self.today = today
    }

    /// - Parameter write: takes the archive's bytes in order; what it throws ends the writing.
    /// - Returns: how many rows and files it holds.
    package func run(
        on connection: Connection, write: @escaping ([UInt8]) throws -> Void
    ) throws -> (rows: Int, files: Int) {
        try connection.transaction(Connection.beginSnapshot) {
            var (zip, rows, files) = (ZipWriter(write: write), 0, 0)
            try zip.begin("README.txt")
            try zip.add(Array(about.utf8))
            try zip.end()
            for relation in try PersonDataQueries.relations(on: connection) {
                rows += try add(relation, to: &zip, connection)
            }
            try data.files(on: connection) { name, content in
                try zip.begin("files/" + PersonArchive.plain(name))
                // In pieces, so that a slow reader does not hold a whole film in memory.
                for start in stride(from: 0, to: content.count, by: PersonArchive.pieceBytes) {
                    try zip.add(Array(content[start..<min(start + PersonArchive.pieceBytes, content.count)]))
                }
                try zip.end()
                files += 1
            }
            try zip.finish()
            return (rows, files)
        }
    }

    /// A list of objects, a row a line; no entry for a table without any.
    private func add(_ relation: String, to zip: inout ZipWriter, _ connection: Connection) throws -> Int {
        var rows = 0
        try data.rows(of: relation, on: connection) { row in
            if rows == 0 { try zip.begin("\(relation).json") }
            try zip.add(Array((rows == 0 ? "[\n" : ",\n").utf8) + Array(row.utf8))
            rows += 1
        }
        guard rows > 0 else { return 0 }
        try zip.add(Array("\n]\n".utf8))
        try zip.end()
        return rows
    }

    private var about: String {
        """
        What Drover held about the account \(account) on \(today).

        Each .json file is a table of the database: a list of rows, by the names of its columns; docs/analyst.md says what they
        mean, with units, and docs/packed-samples.md how packed samples are read. files/ has pictures, films and reports.
        Left out are secrets (digests of passwords and tokens, keys) and what is about vehicles, whoever drives.

        """
    }

    /// A safe path in the archive, whatever a report is called: it cannot leave the folder.
    private static func plain(_ name: String) -> String {
        name.split(separator: "/").map { part in
            let text = part.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" }
            return String(text.drop { $0 == "." })
        }.filter { !$0.isEmpty }.joined(separator: "/")
    }
}
