internal import Foundation
package import Settings

/// Reading and writing whole files with messages that say which file, what happened and what to do.
package enum Files {
    package static let bytesMax = 1_000_000_000

    package static func read(_ path: String) throws -> [UInt8] {
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

    /// The first line of a file with a secret.
    package static func firstLine(_ path: String) throws -> ArraySlice<UInt8> {
        try read(path).prefix { $0 != 0x0A && $0 != 0x0D }
    }

    /// The gateway's spool. Of the default, which is where `drover up` keeps its data, the folder is made.
    package static func spool(_ settings: Settings) throws -> String {
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

    package static func name(_ path: String) -> String { (path as NSString).lastPathComponent }

    package static func list(_ directory: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            throw Failure("\(directory): this folder cannot be read: \(error.localizedDescription)")
        }
    }
}
