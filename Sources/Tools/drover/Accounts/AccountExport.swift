import App
import Basics
import Fleet
import Foundation
import Reports
import Storage
import Telemetry

extension Command {
    /// All that is held of a person, for whoever has a right to it: nobody else may read the file.
    static func exportAccount(_ account: String, _ arguments: Arguments) throws -> ExitCode {
        guard let folder = arguments.text("--to") else {
            throw UsageError("--to is missing: the folder that the archive goes to")
        }
        let connection = try asOwner(arguments).connection
        guard try OperatorAccountStore.isThere(account, on: connection) else {
            throw Failure("\(account): there is no such account: see `drover account list`")
        }
        try AuditLog.record(.exportTaken, about: account, [("export", "a person's data")], on: connection)
        let today = UTC.dateText(Clock.nowMs())
        let path = (folder.hasSuffix("/") ? folder : folder + "/") + "\(account)-\(today).zip"
        let handle = try newFile(path + ".part")
        let held = try PersonArchive(PersonDataQueries(.account(account)), account: account, today: today).run(
            on: connection
        ) {
            do { try handle.write(contentsOf: Data($0)) } catch {
                throw Failure(
                    "\(path).part: cannot be written: \(error.localizedDescription). Make room and begin anew")
            }
        }
        try handle.close()
        guard unsafe rename(path + ".part", path) == 0 else {
            throw Failure("\(path).part: cannot be renamed to \(path)")
        }
        Out.note("\(account): \(held.rows) rows and \(held.files) files")
        Out.result(path)
        return .done
    }

    private static func newFile(_ path: String) throws -> FileHandle {
        let rights: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: rights),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw Failure("\(path): cannot be written. Check the folder and its permissions") }
        return handle
    }
}
