internal import Foundation

/// The PostgreSQL server of one data folder.
final class PostgresServer: Sendable {
    /// The memory of each of its processes, beside the buffers that they share. PostgreSQL bounds sorts and hashes (work_mem) and no values: without
    /// this a statement takes what there is, Linux kills its process, and PostgreSQL ends all others with it. 512 MiB are several times
    /// what work of ours takes (the largest sort may have 64 MB, a batch or an answer 16 MB), and six questions at once take 3 GiB.
    static let dataBytesMax = 512 << 20

    let child: Child
    private let places: PostgresPlaces
    private let binaries: String
    private let folder: DataFolder

    init(folder: DataFolder, places: PostgresPlaces, binaries: String, log: (String) -> Void) throws {
        self.folder = folder
        self.places = places
        self.binaries = binaries
        try Self.endStrayServer(places, log: log)
        if places.versionOfCluster == nil {
            log("making a PostgreSQL cluster in \(places.cluster)")
            try Self.makeCluster(folder: folder, places: places, binaries: binaries)
        }
        let command = ["\(binaries)/postgres", "-D", places.cluster] + Self.options(places).flatMap { ["-c", $0] }
        // SIGINT is PostgreSQL's fast stop: open transactions roll back. SIGTERM would wait for every client to leave.
        child = try Child(
            "postgres", command, user: places.user, directory: places.home, output: folder.startLog("postgres"),
            stopSignal: SIGINT, dataBytesMax: Self.dataBytesMax)
    }

    /// libpq's connection string. Values are in quotes, so that paths with spaces work.
    func conninfo(user: String, database: String) -> String {
        func quoted(_ value: String) -> String {
            "'" + value.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        return "host=\(quoted(places.sockets)) port=\(PostgresPlaces.portNumber) user=\(quoted(user)) "
            + "dbname=\(quoted(database))"
    }

    /// postmaster.pid's eighth line says "ready" once connections are taken.
    func waitUntilReady(seconds: Double) throws {
        let deadline = Monotonic.now + seconds
        while Monotonic.now < deadline {
            if child.exitStatus() != nil { throw failure("ended while starting") }
            let lines = postmasterLines(places.cluster)
            if lines.count >= 8, lines[0] == "\(child.pid)", lines[7].hasPrefix("ready") { return }
            usleep(10_000)
        }
        throw failure("is not ready after \(Int(seconds)) s")
    }

    /// Runs statements as the cluster's superuser.
    func execute(_ statements: String, database: String, seconds: Double = 60) throws {
        // A file, because psql's \gexec (CREATE DATABASE unless it exists) works in scripts only.
        try folder.write("statements.sql", statements)
        defer {
            folder.remove("statements.sql")
            folder.remove("psql.log")
        }
        let command = [
            "\(binaries)/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d",
            conninfo(user: "postgres", database: database),
        ]
        let result = try runTool(
            command, directory: folder.path, input: folder.file("statements.sql"), log: folder.file("psql.log"),
            seconds: seconds)
        guard result.code == 0 else {
            throw LocalServerError("the database in \(places.cluster) refused a statement of ours:\n\(result.output)")
        }
    }

    /// A short path made for the socket goes away with the server.
    func removeSocketFolder() {
        guard places.sockets.hasPrefix("/tmp/"), folder.read("socket.location") == places.sockets else { return }
        unsafe rmdir(places.sockets)
        folder.remove("socket.location")
    }

    private func failure(_ what: String) -> LocalServerError {
        let log = folder.file("postgres.log")
        return LocalServerError(
            "the PostgreSQL server of \(places.cluster) \(what). The end of \(log):\n\(tail(of: log, lines: 12))"
                + diskAdvice(log))
    }

    private static func options(_ places: PostgresPlaces) -> [String] {
        let sockets = "\"" + places.sockets.replacing("\"", with: "\"\"") + "\""  // a list, its items in double quotes
        return [
            "listen_addresses=", "port=\(PostgresPlaces.portNumber)", "unix_socket_directories=\(sockets)",
            "unix_socket_permissions=0700", "max_connections=40", "shared_buffers=64MB", "min_wal_size=32MB",
            "max_wal_size=512MB", "timezone=UTC", "log_timezone=UTC", "cluster_name=drover",
            // The server's own collector would need a folder of its own; what it says goes to our log.
            "logging_collector=off",
        ]
    }

    /// Built beside and renamed when whole: a kill in the middle leaves no half cluster that looks like one.
    private static func makeCluster(folder: DataFolder, places: PostgresPlaces, binaries: String) throws {
        let growing = places.cluster + ".new"
        try requireSpace(places.home, megabytes: 200)
        // Ignored: usually there is none; when it cannot be removed, initdb says that it is not empty.
        try? FileManager.default.removeItem(atPath: growing)
        try SystemUser.makePrivate(growing, for: places.user)
        // Whoever can open the socket is trusted, without a password: the socket is in a folder of mode 0700, so that
        // is root and the user who started us (as root: the system user postgres), who could read the data files
        // anyway. There is no other way in: no network address is listened on, and host lines reject.
        let command = [
            "\(binaries)/initdb", "-D", growing, "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8",
            "--data-checksums", "--auth-local=trust", "--auth-host=reject",
        ]
        let result = try runTool(
            command, user: places.user, directory: places.home, log: folder.startLog("initdb"), seconds: 120)
        guard result.code == 0 else {
            throw LocalServerError(
                "\(growing): initdb could not make a cluster. The end of \(folder.file("initdb.log")):\n\(result.output)"
                    + diskAdvice(folder.file("initdb.log")))
        }
        // A relocated cluster's place is made beforehand, empty: rename replaces an empty folder.
        guard unsafe rename(growing, places.cluster) == 0 else {
            throw LocalServerError.failed("put the new cluster at", places.cluster, errno: errno)
        }
    }

    /// A server that still holds the cluster although nobody wrote it down is ended; the lock files of a dead one are
    /// removed, for its number may by now belong to a stranger and would keep the server from starting.
    private static func endStrayServer(_ places: PostgresPlaces, log: (String) -> Void) throws {
        if let first = postmasterLines(places.cluster).first, let pid = pid_t(first), pid > 1 {
            let deadline = Monotonic.now + 20
            while serves(pid, places.cluster) {
                if Monotonic.now > deadline {
                    throw LocalServerError(
                        "\(places.cluster): PostgreSQL process \(pid) from an earlier run does not end. "
                            + "End it: kill -QUIT \(pid)")
                }
                log("ending the PostgreSQL server \(pid) left by an earlier run")
                kill(pid, SIGINT)
                usleep(300_000)
            }
        }
        let socket = "\(places.sockets)/.s.PGSQL.\(PostgresPlaces.portNumber)"
        for file in [places.cluster + "/postmaster.pid", socket, socket + ".lock"] { unsafe unlink(file) }
    }

    private static func serves(_ pid: pid_t, _ cluster: String) -> Bool {
        guard let entry = ProcessTable.entry(pid), !entry.isDead,
            let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")
        else { return false }
        return folder == URL(fileURLWithPath: cluster).resolvingSymlinksInPath().path
    }
}

private func postmasterLines(_ cluster: String) -> [Substring] {
    let text = (try? String(contentsOfFile: cluster + "/postmaster.pid", encoding: .utf8)) ?? ""
    return text.split(separator: "\n", omittingEmptySubsequences: false)
}

/// Refuses early what would end in a half-written cluster.
package func requireSpace(_ path: String, megabytes: UInt) throws {
    var info = statvfs()
    guard unsafe statvfs(path, &info) == 0 else { return }
    let free = UInt(info.f_bavail) * UInt(info.f_frsize) / 1_000_000
    guard free >= megabytes else {
        throw LocalServerError(
            "\(path): only \(free) MB are free, a new database needs \(megabytes) MB. "
                + "Free some space or choose another disk with --data.")
    }
}

private func diskAdvice(_ log: String) -> String {
    tail(of: log, lines: 40).contains("No space left on device")
        ? "\nThe disk is full. Free some space or choose another disk with --data." : ""
}
