import Foundation
import Settings
import Synchronization
import Telemetry

/// Reading and writing whole files with messages that say which file, what happened and what to do.
enum Files {
    static let bytesMax = 1_000_000_000

    static func read(_ path: String) throws -> [UInt8] {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure("\(path): \(unsafe String(cString: strerror(errno))). Check the name and the permissions")
        }
        defer { try? handle.close() }  // Read only: nothing can be lost by a failing close.
        var isDirectory: ObjCBool = false
        if unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw Failure("\(path): is a folder, not a file")
        }
        do {
            let data = try handle.read(upToCount: bytesMax + 1) ?? Data()
            guard data.count <= bytesMax else { throw Failure("\(path): is larger than \(bytesMax) bytes. Split it") }
            return [UInt8](data)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(path): cannot be read: \(error.localizedDescription)")
        }
    }

    /// The gateway's spool. Of the default, which is where `drover up` keeps its data, the folder is made.
    static func spool(_ settings: Settings) throws -> String {
        let path = settings.text("gateway.spool_path")
        guard settings.place("gateway.spool_path") == nil else { return path }
        let former = "drover-spool.sqlite"
        guard !FileManager.default.fileExists(atPath: former) else {
            throw Failure(
                "\(former): the spool of an earlier version lies in this folder. Name it in gateway.spool_path, or move it: "
                    + "mkdir -p \((path as NSString).deletingLastPathComponent) && mv \(former) \(path)")
        }
        let folder = (path as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw Failure("\(folder): cannot be made: \(error.localizedDescription). Name a file in gateway.spool_path")
        }
        return path
    }

    static func name(_ path: String) -> String { (path as NSString).lastPathComponent }

    static func list(_ directory: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            throw Failure("\(directory): this folder cannot be read: \(error.localizedDescription)")
        }
    }
}

/// Results go to standard output, everything else to standard error.
enum Out {
    /// A line end is added where there is none. Bytes decide: to Swift a CRLF is one character that does not end in LF.
    static func result(_ text: String) {
        write(Data((text.utf8.last == 0x0A ? text : text + "\n").utf8), to: FileHandle.standardOutput)
    }
    /// As they are.
    static func result(_ bytes: [UInt8]) { write(Data(bytes), to: FileHandle.standardOutput) }
    /// A line of the log where that is one for programs; the level counts there.
    static func note(_ text: String, level: Log.Level = .info) {
        guard Roles.logFormat.withLock({ $0 }) == .text else {
            return Log(level: .debug, format: .json).log(level, text)
        }
        write(Data((text + "\n").utf8), to: FileHandle.standardError)
    }

    private static func write(_ data: Data, to handle: FileHandle) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Foundation.write(handle.fileDescriptor, bytes.baseAddress!, bytes.count)
            }
            let failure = errno
            if count >= 0 { rest = rest.dropFirst(count) }
            guard count < 0, failure != EINTR else { continue }
            // The reader is gone (`| head`): that is no news to anybody.
            if failure != EPIPE, handle.fileDescriptor != STDERR_FILENO {
                note("standard output cannot be written: \(unsafe String(cString: strerror(failure)))")
            }
            exit(1)
        }
    }
}
