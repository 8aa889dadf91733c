package import Foundation

/// Files of the checkout, and data that lies beside it.
package enum Repository {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// Recordings and benchmarks that are for tests only: not every checkout has them.
    package static let shared = root.deletingLastPathComponent().appending(path: "shared/data")

    package static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appending(path: path)))
    }

    package static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// Files of a folder whose names end so, in the order of their names.
    package static func names(_ folder: String, ending: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(ending) }.sorted()
    }

    package static func hasShared(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: shared.appending(path: folder).path)
    }
}

/// DROVER_LONG: as much as an hour takes, where usually a minute must do.
package enum Length {
    package static let isLong = ProcessInfo.processInfo.environment["DROVER_LONG"] != nil
    package static func count(_ short: Int, long: Int) -> Int { isLong ? long : short }
}

/// What another program, which is not ours, prints for these files: they are its last arguments.
package func output(of program: String, _ arguments: [String], _ files: [[UInt8]]) throws -> [UInt8] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "drover-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // Left behind, it disturbs nobody.
    let paths = try files.enumerated().map { number, bytes in
        let path = folder.appending(path: "\(number).bin")
        try Data(bytes).write(to: path)
        return path.path
    }
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments + paths
    process.standardOutput = pipe
    try process.run()
    let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
        throw ProgramFailed(program: program, status: process.terminationStatus)
    }
    return [UInt8](said)
}

/// What it said stands on the standard error output.
package struct ProgramFailed: Error {
    let program: String
    let status: Int32
}
