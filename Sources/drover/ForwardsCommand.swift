import Observe
import Postgres
import Reports
import Settings
import Storage

/// `drover sightings forwards`: which versions of surveys a collector was sent, and what it said.
extension Command {
    private static let states = ["waiting", "sent", "refused", "stopped"]

    static func listForwards(_ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let state = arguments.text("--state")
        if let state, !states.contains(state) {
            throw UsageError("--state \(state): must be one of \(states.joined(separator: ", "))")
        }
        let rows = try Store.connect(settings.text("postgres.url")).query(
            """
            SELECT site, survey, version, account, state, tries, status, answer, made_at, settled_at,
                CASE WHEN state = 'waiting' THEN try_at END AS next_try_at
            FROM forward
            WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR site = $2)
                AND ($3::text IS NULL OR survey = $3)
            ORDER BY made_at DESC, site, survey, version LIMIT 1000
            """, [.text(state), .text(arguments.text("--site")), .text(arguments.text("--survey"))])
        Out.result(render(try QueryOutput(rows)))
        return .done
    }

    static func retryForwards(_ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let count = try ForwardStore.retry(
            site: arguments.text("--site"), survey: arguments.text("--survey"),
            on: Store.connect(settings.text("postgres.url")))
        Out.note("\(count) version\(count == 1 ? "" : "s") of surveys will be tried again by `drover notify`")
        return .done
    }
}
