import App
import Crypto
import Foundation
import Settings

/// Files that `drover up` keeps in its data folder beside its servers: the key that second factors are sealed under, and the rules as
/// people change them on pages, so that the checkout stays as it was.
struct UpFolder {
    let codeKey: String
    let thresholds: String

    init(_ data: String) {
        let folder = URL(filePath: data)
        // Also for other commands, from wherever they are run.
        codeKey = folder.appending(path: "code-key").path
        thresholds = folder.appending(path: "thresholds").path
    }

    /// Where nobody says otherwise.
    var defaults: [String: String] {
        ["people.code_key_file": codeKey, "alerts.thresholds_dir": thresholds]
    }

    /// How other commands find them.
    func beside(_ settings: Settings) throws -> [String: String] {
        let (key, rules) = (settings.text("people.code_key_file"), settings.text("alerts.thresholds_dir"))
        return [
            "people.code_key_file": key.isEmpty ? "" : URL(filePath: key).path,
            "alerts.thresholds_dir": URL(filePath: try Home.path(rules)).path,
        ]
    }

    /// Makes of them what is missing. Precondition: this process holds the data folder.
    func prepare(for settings: Settings) throws {
        if settings.text("people.code_key_file") == codeKey {
            try makeOnce(codeKey, UpFolder.writeKey)
        }
        guard settings.text("alerts.thresholds_dir") == thresholds else { return }
        let shipped = try Home.directory() + "/Deploy/thresholds"
        try makeOnce(thresholds) { try UpFolder.copy(shipped, to: $0) }
        Out.note("rules are changed in \(thresholds), which began as a copy of \(shipped)")
    }

    /// A kill amid it leaves nothing that looks whole.
    private func makeOnce(_ path: String, _ make: (_ path: String) throws -> Void) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let part = path + ".new"
        do {
            // Of a start that was killed; mostly there is none.
            try? FileManager.default.removeItem(atPath: part)
            try make(part)
            try FileManager.default.moveItem(atPath: part, toPath: path)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure("\(path): cannot be made: \(error.localizedDescription). Look at the data folder (--data)")
        }
    }

    private static func writeKey(_ path: String) throws {
        let bytes = Data(Secrets.random(CodeKey.bytesMin))
        guard
            FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: path)
        else { throw CocoaError(.fileWriteUnknown) }
        // Before anything is sealed under it.
        try file.synchronize()
        try file.close()
    }

    /// Names and bytes, and no modes: where the program is installed for reading only the copy can be written all the same.
    private static func copy(_ folder: String, to place: String) throws {
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        for name in try Files.list(folder) {
            let (from, to) = ("\(folder)/\(name)", "\(place)/\(name)")
            var isFolder: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: from, isDirectory: &isFolder)
            if isFolder.boolValue {
                try copy(from, to: to)
            } else {
                try Data(Files.read(from)).write(to: URL(filePath: to))
            }
        }
    }
}
