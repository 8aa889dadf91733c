internal import Foundation
internal import Glibc
internal import HTTPServer
internal import Postgres
internal import Storage
internal import Synchronization

/// Packages of tours that were asked for lately, as open files without a name: many phones download the same one, each in many
/// parts. What is not here is brought from the database again.
final class PackageCache: Sendable {
    struct Key: Hashable {
        let tour: String
        let version, fromVersion: Int
    }

    struct Fault: Error, CustomStringConvertible { let description: String }

    static let filesMax = 16
    static let bytesMax = 512 << 20

    /// The one used last stands last.
    private let files = Mutex<[(key: Key, file: FileBody)]>([])
    /// One is brought at a time: who waits for the same one then finds it here.
    private let bringing = Mutex(())

    func file(_ key: Key, _ package: TourVersionStore.Package, on connection: Connection) throws -> FileBody {
        if let known = find(key) { return known }
        return try bringing.withLock { _ in
            if let known = find(key) { return known }
            let file = try PackageCache.bring(key, package, on: connection)
            keep(key, file)
            return file
        }
    }

    private func find(_ key: Key) -> FileBody? {
        files.withLock { files in
            guard let index = files.firstIndex(where: { $0.key == key }) else { return nil }
            let found = files.remove(at: index)
            files.append(found)
            return found.file
        }
    }

    /// Files that are taken off the shelf are closed when the last answer that sends them has ended.
    private func keep(_ key: Key, _ file: FileBody) {
        files.withLock { files in
            files.append((key, file))
            while files.count > PackageCache.filesMax
                || files.count > 1 && files.reduce(0, { $0 + $1.file.count }) > PackageCache.bytesMax
            {
                files.removeFirst()
            }
        }
    }

    private static func bring(
        _ key: Key, _ package: TourVersionStore.Package, on connection: Connection
    ) throws -> FileBody {
        var name = Array((NSTemporaryDirectory() + "/drover-tour-XXXXXX").utf8CString)
        let descriptor = unsafe mkstemp(&name)
        guard descriptor >= 0 else {
            throw Fault(
                description:
                    "no file can be made in \(NSTemporaryDirectory()): \(unsafe String(cString: strerror(errno)))")
        }
        _ = unsafe unlink(name)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // From here on it is closed with the body.
        let file = FileBody(descriptor: descriptor, count: Int(package.bytes))
        var (number, written) = (0, 0)
        while let part = try TourVersionStore.part(number, of: package, tour: key.tour, on: connection) {
            try write(part, to: descriptor)
            number = number + 1
            written = written + part.count
        }
        guard written == Int(package.bytes) else {
            throw Fault(description: "a package's parts have \(written) bytes of \(package.bytes)")
        }
        return file
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
            }
            guard count > 0 || errno == EINTR else {
                throw Fault(description: "a package cannot be kept: \(unsafe String(cString: strerror(errno)))")
            }
            done += max(0, count)
        }
    }
}
