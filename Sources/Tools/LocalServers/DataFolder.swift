internal import Foundation
internal import Synchronization

/// The data folder, held by this process alone until released.
///
///     lock                 who holds the folder: flock, and the holder's process id for people
///     children             processes started from here, one a line, so that the next start can end leftovers
///     postgres/            the cluster, unless postgres.location names another place
///     broker/ broker.port  the topics, and the port they were last served on
///     broker.choice        which broker these topics are of
///     kafka/               Apache Kafka's nodes, their settings, ports, keys and password
///     run/                 the database's socket, unless socket.location names another place
///     *.log *.log.1        what each server said in this and in the last run
package final class DataFolder: Sendable {
    let path: String
    private let lockFile: Mutex<Int32?>

    package init(_ requested: String) throws {
        path = try Self.make(requested)
        let isOurs = Self.isOurs(path)
        lockFile = Mutex(try Self.lock(path))
        if isOurs { try Self.makePrivate(path) }
    }

    /// Lets the next one in. The lock file stays: a file removed while another process waits for it would let two in.
    func release() {
        lockFile.withLock { descriptor in
            if let held = descriptor { close(held) }
            descriptor = nil
        }
    }

    deinit { release() }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The content of a small file without the last line break; nil when it is missing or empty.
    package func read(_ name: String) -> String? {
        guard let data = FileManager.default.contents(atPath: file(name)) else { return nil }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
        return text.isEmpty ? nil : text
    }

    /// Replaces a small file whole: a kill between two bytes leaves the old one.
    package func write(_ name: String, _ text: String) throws {
        let target = file(name)
        let descriptor = unsafe open(target + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LocalServerError.failed("write", target, errno: errno) }
        defer { close(descriptor) }
        let bytes = Array((text + "\n").utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw LocalServerError.failed("write", target, errno: errno)
        }
        guard unsafe rename(target + ".new", target) == 0 else {
            throw LocalServerError.failed("write", target, errno: errno)
        }
    }

    func remove(_ name: String) {
        // Ignored: what is not there need not be removed, and what stays is overwritten by the next start.
        try? FileManager.default.removeItem(atPath: file(name))
    }

    /// Where a server's output goes. The last run's output is kept beside it, older ones are dropped.
    func startLog(_ name: String) -> String {
        let log = file(name + ".log")
        unsafe rename(log, log + ".1")
        return log
    }

    private static func make(_ requested: String) throws -> String {
        let absolute = URL(fileURLWithPath: requested).standardizedFileURL.path
        var path = ""
        for part in absolute.split(separator: "/") {
            path += "/" + part
            if unsafe mkdir(path, 0o711) == 0 {
                // Whatever our umask says: the database's user goes through it when we are root.
                unsafe chmod(path, 0o711)
                continue
            }
            if errno == EEXIST { continue }
            let code = errno
            // Above us may be folders that exist and in which nobody may make one; what counts is that ours exists.
            if unsafe access(path, F_OK) != 0 {
                throw LocalServerError.failed("make the data folder", absolute, errno: code)
            }
        }
        var info = stat()
        guard unsafe stat(absolute, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw LocalServerError.failed("make the data folder", absolute, errno: ENOTDIR)
        }
        guard unsafe access(absolute, W_OK | X_OK) == 0 else {
            throw LocalServerError.failed("write to the data folder", absolute, errno: errno)
        }
        return absolute
    }

    /// Empty, or a data folder before. Somebody's folder with other things in it stays as open as it is.
    private static func isOurs(_ folder: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.isEmpty || names.contains("lock")
    }

    /// Nobody else on this machine reads what is in it, nor sees its names. As root we let PostgreSQL's user through. Files
    /// of an earlier version, which were open, are closed, too.
    private static func makePrivate(_ folder: String) throws {
        let group = (try? SystemUser.forPostgres())?.group
        if let group { unsafe chown(folder, geteuid(), group) }
        guard unsafe chmod(folder, group == nil ? 0o700 : 0o710) == 0 else {
            throw LocalServerError.failed("close to others", folder, errno: errno)
        }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            var info = stat()
            let path = folder + "/" + name
            guard unsafe lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_mode & 0o077 != 0 else {
                continue
            }
            unsafe chmod(path, 0o600)
        }
    }

    private static func lock(_ folder: String) throws -> Int32 {
        let path = folder + "/lock"
        // Close-on-exec, and children close everything anyway: an inherited lock would outlive us.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LocalServerError.failed("write", path, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else { throw LocalServerError.failed("lock", path, errno: code) }
            let holder = (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(
                in: .whitespacesAndNewlines)
            let who = holder.flatMap { $0.isEmpty ? nil : "process \($0)" } ?? "another process"
            throw LocalServerError(
                "\(folder): in use by \(who), a drover that runs on the same data folder. "
                    + "Stop that one (Ctrl-C, or kill with SIGTERM), or choose another folder with --data.")
        }
        let bytes = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            let code = errno
            close(descriptor)
            throw LocalServerError.failed("write", path, errno: code)
        }
        return descriptor
    }
}
