import App
import Foundation
import Postgres
import Settings
import Storage

extension Command {
    /// `drover account copy ID`: the account's rows in a database of their own, named by a variable that no list of processes shows.
    static func copyRows(of account: String, _ arguments: Arguments) throws -> ExitCode {
        let conninfo = try SettingsSource.load(arguments).text("postgres.query_url")
        guard !conninfo.isEmpty else {
            throw Failure("postgres.query_url is not set: what an account sees is read by its login (docs/analyst.md)")
        }
        guard let to = ProcessInfo.processInfo.environment["DROVER_COPY_TO"], !to.isEmpty else {
            throw UsageError("DROVER_COPY_TO is not set: the connection string of the database that the rows go to")
        }
        try CommandAudit.note(.exportTaken, arguments, about: account, [("export", "a copy of what the account sees")])
        let asker = try Connection(conninfo: conninfo, applicationName: "drover copy")
        do {
            let copied = try AccountDatabaseCopy.run(of: account, from: asker, to: Connection(conninfo: to))
            for (view, rows) in copied { Out.result("analyst.\(view): \(rows) rows") }
        } catch let fault as AccountDatabaseCopy.Fault {
            throw Failure("\(fault)")
        }
        return .done
    }
}
