import Foundation
import LocalServers
import Testing

/// Other users of the machine read nothing of a data folder; no server is needed.
@Suite struct PrivateFolderTests {
    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `a data folder and its files are ours alone`() throws {
        let folder = try TemporaryFolder("private")
        defer { folder.remove() }
        let data = try DataFolder(folder.path)
        try data.write("broker.port", "9092")
        for name in ["broker.port", "lock"] { #expect(try mode(folder.path + "/" + name) & 0o077 == 0, "\(name)") }
        // As root its group is that of PostgreSQL's user, who goes through it and sees no names.
        #expect(try mode(folder.path) & 0o067 == 0)
    }

    @Test func `what an earlier version left open is closed`() throws {
        let folder = try TemporaryFolder("opened")
        defer { folder.remove() }
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        for name in ["lock", "postgres.log"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/" + name))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.path + "/" + name)
        }
        _ = try DataFolder(folder.path)
        #expect(try mode(folder.path + "/postgres.log") == 0o600 && mode(folder.path) & 0o067 == 0)
    }

    @Test func `somebody's folder with other things in it stays as it is`() throws {
        let folder = try TemporaryFolder("theirs")
        defer { folder.remove() }
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/letter"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        _ = try DataFolder(folder.path)
        #expect(try mode(folder.path) == 0o755)
    }
}
