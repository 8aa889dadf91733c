internal import Foundation
package import Reports
package import Storage
package import Web

/// Where the files lie that belong to the program: Queries/ and Deploy/. Found above the executable (a checkout's
/// .build) or at `DROVER_HOME` (an installation).
package enum Home {
    package static func directory() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let home = environment["DROVER_HOME"] {
            guard isHome(home) else { throw Failure("DROVER_HOME is \(home), which holds no Queries/migrations") }
            return home
        }
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
        var folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
        while folder.path != "/" {
            if isHome(folder.path) { return folder.path }
            folder.deleteLastPathComponent()
        }
        throw Failure(
            "Queries/migrations is not found above \(executable). Set DROVER_HOME to the folder that holds it")
    }

    private static func isHome(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path + "/Queries/migrations")
    }

    /// A path of a setting: relative ones are meant from the home.
    package static func path(_ setting: String) throws -> String {
        setting.hasPrefix("/") || FileManager.default.fileExists(atPath: setting)
            ? setting : try directory() + "/" + setting
    }

    package static func migrations() throws -> [Migrator.File] {
        let folder = try directory() + "/Queries/migrations"
        return try Files.list(folder).compactMap { name in
            guard let number = Migrator.File.number(of: name) else { return nil }
            return Migrator.File(number: number, name: name, sql: try sql(folder + "/" + name))
        }
    }

    /// The SQL of a file, or of a folder's files, one after the other.
    private static func sql(_ path: String) throws -> String {
        guard !path.hasSuffix(".sql") else { return String(decoding: try Files.read(path), as: UTF8.self) }
        return try Files.list(path).filter { $0.hasSuffix(".sql") }.map { try sql(path + "/" + $0) }.joined()
    }

    /// The newest heading of CHANGELOG.md; nil: no number is given out before the first release. A test compares both.
    package static let release: String? = nil

    /// The number of the newest migration: the database that this program makes.
    package static func migration() throws -> Int { try migrations().map(\.number).max() ?? 0 }

    /// As `drover --version` and pages say it. The number of the database tells apart what is built between releases.
    package static func version() throws -> String { "\(release ?? "not released yet"), database \(try migration())" }

    /// For analysts, by folder and name.
    package static func readyQueries() throws -> [ReadyQuery] {
        let folder = try directory() + "/Queries/"
        return try ReadyQuery.areas.flatMap { group in
            try Files.list(folder + group).filter { $0.hasSuffix(".sql") }.sorted().map { file in
                try ReadyQuery(
                    name: "\(group)/\(file.dropLast(4))",
                    text: String(decoding: Files.read("\(folder)\(group)/\(file)"), as: UTF8.self))
            }
        }
    }

    /// Beside Queries where Drover is installed, in a checkout where the pages' sources are.
    package static func assets() throws -> AssetFiles {
        let installed = try directory() + "/Assets"
        let isInstalled = FileManager.default.fileExists(atPath: installed)
        return try AssetFiles(folder: isInstalled ? installed : directory() + "/Sources/People/Web/Assets")
    }

    package static func reportQueries() throws -> ReportQueries {
        let folder = try directory() + "/Queries/reports/"
        var texts: [String: String] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".sql") {
            texts[String(file.dropLast(4))] = String(decoding: try Files.read(folder + file), as: UTF8.self)
        }
        return ReportQueries(texts)
    }
}
