import Foundation
import Postgres
import Storage

/// Set DROVER_TEST_POSTGRES to a libpq connection string of a role that may create databases. Without it these tests are
/// skipped.
let testDatabase = ProcessInfo.processInfo.environment["DROVER_TEST_POSTGRES"]

/// Databases of the tests' own; the server they are on is thrown away.
enum TestDatabase {
    static let migrations: Result<[Migrator.File], any Error> = Result {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Queries/migrations")
        return try files(folder).compactMap { file in
            try Migrator.File.number(of: file.lastPathComponent).map {
                Migrator.File(number: $0, name: file.lastPathComponent, sql: try sql(file))
            }
        }
    }

    private static func files(_ folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    /// Of a folder that of its files, one after the other.
    private static func sql(_ file: URL) throws -> String {
        guard file.pathExtension != "sql" else { return try String(contentsOf: file, encoding: .utf8) }
        return try files(file).map(sql).joined()
    }

    private static let migrating = NSLock()

    /// An empty database; returns how to connect to it.
    static func make(_ purpose: String) throws -> String {
        let name = "drover_\(purpose)_test_\(ProcessInfo.processInfo.processIdentifier)"
        try Connection(conninfo: testDatabase ?? "").execute("CREATE DATABASE \(name)")
        return "\(testDatabase ?? "") dbname=\(name)"
    }

    /// A database with all migrations.
    static func migrated(_ purpose: String) throws -> String {
        let conninfo = try make(purpose)
        // Roles belong to the whole server: two databases that are migrated at once would make the same one.
        return try migrating.withLock {
            _ = try Migrator.apply(migrations.get(), on: Connection(conninfo: conninfo))
            return conninfo
        }
    }
}
