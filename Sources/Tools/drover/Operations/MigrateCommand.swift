import App
import Postgres
import Settings
import Storage

extension Command {
    static let migrate = Command(
        name: "migrate", operands: "[options]",
        summary: "Brings the database's tables up to this program. Safe to run twice, and from two processes at once.",
        options: SettingsSource.options,
        example: "drover migrate --set postgres.owner_url='host=/var/run/postgresql dbname=drover'",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let connection = try Connection(conninfo: settings.ownerConninfo)
            let applied = try Migrator.apply(Home.migrations(), on: connection) { Out.note($0) }
            Out.note(
                applied.isEmpty
                    ? "the database is up to date" : "applied " + applied.map(\.name).joined(separator: ", "))
            let ended = try DatabaseLogin.endNeighbours(on: connection)
            if ended > 0 {
                Out.note(
                    "\(ended) \(ended == 1 ? "database login of a person was" : "database logins of people were") ended: more than one fleet or campus is here (docs/analyst.md)"
                )
            }
            return .done
        })

    static func migrate(_ conninfo: String) throws -> [Migrator.File] {
        try Migrator.apply(Home.migrations(), on: Connection(conninfo: conninfo)) { Out.note($0) }
    }
}
