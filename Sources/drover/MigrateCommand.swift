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
            let applied = try migrate(settings.ownerConninfo)
            Out.note(
                applied.isEmpty
                    ? "the database is up to date" : "applied " + applied.map(\.name).joined(separator: ", "))
            return .done
        })

    static func migrate(_ conninfo: String) throws -> [Migrator.File] {
        try Migrator.apply(Home.migrations(), on: Connection(conninfo: conninfo))
    }
}
