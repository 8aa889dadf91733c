internal import Alerts
internal import Fleet
internal import Foundation
internal import Presentation

/// A report as a file in a folder: whole or not at all.
package enum ReportFile {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// `fuel-2026-11-01-to-2026-11-30-Europe-Berlin-fleet-north.pdf`: the same for the same question, of others another.
    package static func name(_ report: Report, _ ask: ReportParameters, _ format: ReportFormat) -> String {
        let parts = [
            report.name, ask.span.date.replacing("/", with: "-to-"), ask.span.zone == "UTC" ? "" : plain(ask.span.zone),
            plain(ask.of), ask.fleet.isEmpty ? "" : "fleet-\(plain(ask.fleet))", ask.units == .us ? "us" : "",
        ]
        let ending = format == .table ? "txt" : format.rawValue
        return parts.filter { !$0.isEmpty }.joined(separator: "-") + ".\(ending)"
    }

    /// Signs that a folder or a header may take amiss become `-`; what was changed so bears a number of its own.
    private static func plain(_ text: String) -> String {
        let kept = String(
            text.unicodeScalars.map { scalar -> Character in
                VehicleID.isValid(String(scalar).utf8) ? Character(scalar) : "-"
            }.prefix(64))
        // A zone's slash is no secret: there is no other zone of that name with a hyphen.
        if kept == text || ZonedDay(date: "2026-01-01", zone: text) != nil { return kept }
        // FNV-1a (Fowler, Noll, Vo), 32 bits.
        let number = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return kept + "-" + String(number, radix: 16)
    }

    /// Written beside, brought to the disk, and renamed into place.
    /// - Parameter place: a file, or a folder that is there.
    /// - Returns: the file's path.
    @discardableResult
    package static func write(_ bytes: [UInt8], named name: String, to place: String) throws(Fault) -> String {
        var isFolder: ObjCBool = false
        let isThere = unsafe FileManager.default.fileExists(atPath: place, isDirectory: &isFolder)
        if !isThere, place.hasSuffix("/") {
            throw Fault(description: "\(place): there is no such folder. Make it, or name another")
        }
        let path = isThere && isFolder.boolValue ? place + (place.hasSuffix("/") ? "" : "/") + name : place
        let part = path + ".\(getpid()).part"
        let file = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw fault(path, errno) }
        do throws(Fault) {
            do throws(Fault) {
                try put(bytes, file, path)
            } catch {
                close(file)
                throw error
            }
            guard close(file) == 0 else { throw fault(path, errno) }
            guard unsafe rename(part, path) == 0 else { throw fault(path, errno) }
        } catch {
            // Half a report is of no use; if it cannot be taken away, the next try writes over it.
            unsafe unlink(part)
            throw error
        }
        keepName(path)
        return path
    }

    private static func put(_ bytes: [UInt8], _ file: Int32, _ path: String) throws(Fault) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                unsafe Foundation.write(file, all.baseAddress! + done, all.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fault(path, errno) }
            done += count
        }
        guard fsync(file) == 0 else { throw fault(path, errno) }
    }

    /// The new name is the folder's matter: without this a power cut can take it away.
    private static func keepName(_ path: String) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let opened = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return }
        fsync(opened)
        close(opened)
    }

    private static func fault(_ path: String, _ code: Int32) -> Fault {
        let todo =
            switch code {
            case ENOSPC, EDQUOT: "Make room and run it again; the file of before stays as it was"
            case EACCES, EPERM, EROFS: "Choose a folder that this user may write in"
            case ENOENT, ENOTDIR: "There is no such folder: make it, or name another"
            default: "Nothing was changed there"
            }
        return Fault(description: "\(path): cannot be written: \(unsafe String(cString: strerror(code))). \(todo)")
    }
}
