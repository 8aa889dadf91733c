internal import Foundation
internal import Synchronization

/// The data folder, held by this process alone until released.
///
///     lock                 who holds the folder: flock, and the holder's process id for people
///     children             processes started from here, one a line, so that the next start can end leftovers
///     postgres/            the cluster, unless postgres.location names another place
///     broker/ broker.port  the topics, and the port they were last served on
///     run/                 the database's socket, unless socket.location names another place
///     *.log *.log.1        what each server said in this and in the last run
package final class DataFolder: Sendable {
    let path: String
    private let lockFile: Mutex<Int32?>

    package init(_ requested: String) throws {
        path = try Self.make(requested)
        lockFile = Mutex(try Self.lock(path))
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
        let descriptor = unsafe open(target + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw EmbeddedError.failed("write", target, errno: errno) }
        defer { close(descriptor) }
        let bytes = Array((text + "\n").utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw EmbeddedError.failed("write", target, errno: errno)
        }
        guard unsafe rename(target + ".new", target) == 0 else {
            throw EmbeddedError.failed("write", target, errno: errno)
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
            if unsafe mkdir(path, 0o755) == 0 || errno == EEXIST { continue }
            let code = errno
            // Above us may be folders that exist and in which nobody may make one; what counts is that ours exists.
            if unsafe access(path, F_OK) != 0 {
                throw EmbeddedError.failed("make the data folder", absolute, errno: code)
            }
        }
        var info = stat()
        guard unsafe stat(absolute, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else {
            throw EmbeddedError.failed("make the data folder", absolute, errno: ENOTDIR)
        }
        guard unsafe access(absolute, W_OK | X_OK) == 0 else {
            throw EmbeddedError.failed("write to the data folder", absolute, errno: errno)
        }
        return absolute
    }

    private static func lock(_ folder: String) throws -> Int32 {
        let path = folder + "/lock"
        // Close-on-exec, and children close everything anyway: an inherited lock would outlive us.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw EmbeddedError.failed("write", path, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else { throw EmbeddedError.failed("lock", path, errno: code) }
            let holder = (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(
                in: .whitespacesAndNewlines)
            let who = holder.flatMap { $0.isEmpty ? nil : "process \($0)" } ?? "another process"
            throw EmbeddedError(
                "\(folder): in use by \(who), a drover that runs on the same data folder. "
                    + "Stop that one (Ctrl-C, or kill with SIGTERM), or choose another folder with --data.")
        }
        let bytes = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            let code = errno
            close(descriptor)
            throw EmbeddedError.failed("write", path, errno: code)
        }
        return descriptor
    }
}
