internal import Foundation

/// Where the cluster and its socket are, and which programs serve them.
struct PostgresPlaces: Equatable, Sendable {
    static let portNumber = 5432  // Only a part of the socket's name: the server listens on no network address.

    let user: SystemUser?
    /// The folder that holds `postgres/`: the data folder, or another that the server's user can reach.
    let home: String
    let sockets: String

    var cluster: String { home + "/postgres" }
    var versionOfCluster: String? {
        (try? String(contentsOfFile: cluster + "/PG_VERSION", encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    init(_ folder: DataFolder, log: (String) -> Void) throws {
        user = try SystemUser.forPostgres()
        home = try Self.findHome(folder, user: user, log: log)
        sockets = try Self.findSockets(folder, home: home, user: user)
    }

    /// As root in root's own home, say, the data folder is closed to the user that PostgreSQL runs as. Opening other
    /// people's folders is not ours to do, so the cluster goes where servers keep their data, and the folder says where.
    private static func findHome(_ folder: DataFolder, user: SystemUser?, log: (String) -> Void) throws -> String {
        guard let user else { return folder.path }
        if let recorded = folder.read("postgres.location") {
            guard FileManager.default.fileExists(atPath: recorded + "/postgres") else {
                throw LocalServerError(
                    "\(recorded): the database of \(folder.path) is gone from there. Put it back, or start afresh: "
                        + "remove \(folder.path) or choose another folder with --data.")
            }
            return recorded
        }
        let probe = ["/usr/bin/test", "-x", folder.path + "/."]
        let reachable = try runTool(
            probe, user: user, directory: "/", log: folder.startLog("probe"), seconds: 10)
        folder.remove("probe.log")
        folder.remove("probe.log.1")
        if reachable.code == 0 { return folder.path }
        let shared = "/var/lib/drover"
        if unsafe mkdir(shared, 0o711) == 0 {
            // Whatever our umask says: the database's user goes through it.
            unsafe chmod(shared, 0o711)
        } else if errno != EEXIST {
            throw LocalServerError.failed("make", shared, errno: errno)
        }
        let home = shared + "/" + String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
        try SystemUser.makePrivate(home, for: user)
        try SystemUser.makePrivate(home + "/postgres", for: user)
        try folder.write("postgres.location", home)
        log("the system user postgres cannot enter \(folder.path); the database is kept in \(home)")
        return home
    }

    /// A socket's path has at most 107 bytes, and libpq takes a comma for the end of a host name.
    private static func findSockets(_ folder: DataFolder, home: String, user: SystemUser?) throws -> String {
        let preferred = home + "/run"
        let longest = preferred + "/.s.PGSQL.\(portNumber)"
        if longest.utf8.count <= 107, !preferred.contains(",") {
            try SystemUser.makePrivate(preferred, for: user)
            return preferred
        }
        if let recorded = folder.read("socket.location"), SystemUser.isPrivate(recorded, to: user) { return recorded }
        var template = Array("/tmp/drover-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw LocalServerError.failed("make a folder for the database's socket in", "/tmp", errno: errno)
        }
        let made = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        try SystemUser.makePrivate(made, for: user)
        try folder.write("socket.location", made)
        return made
    }
}

/// The folder of PostgreSQL's programs.
package func findPostgres(_ requested: String?, clusterVersion: String?) throws -> String {
    let needed = ["postgres", "initdb", "psql"]
    func holds(_ folder: String) -> Bool { needed.allSatisfy { unsafe access("\(folder)/\($0)", X_OK) == 0 } }
    if let requested {
        guard holds(requested) else {
            throw LocalServerError(
                "\(requested): does not hold \(needed.joined(separator: ", ")). Name PostgreSQL's bin folder.")
        }
        return requested
    }
    let base = "/usr/lib/postgresql"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: base)) ?? [])
        .compactMap { Int($0) }.sorted(by: >).map { (version: "\($0)", folder: "\(base)/\($0)/bin") }
        .filter { holds($0.folder) }
    if let clusterVersion {
        // A cluster is served by the version that made it; another one refuses its files.
        if let match = versions.first(where: { $0.version == clusterVersion }) { return match.folder }
    } else if let newest = versions.first {
        return newest.folder
    }
    if let onPath = searchPath().first(where: holds) { return onPath }
    let version = clusterVersion ?? "15"
    throw LocalServerError(
        "PostgreSQL \(version): its programs (\(needed.joined(separator: ", "))) are neither under \(base) nor on PATH. "
            + "Install them: apt-get install postgresql-\(version)")
}

func searchPath() -> [String] {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
}
