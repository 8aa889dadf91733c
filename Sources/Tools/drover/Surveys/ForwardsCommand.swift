import App
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
        let rows = try ForwardStore.list(
            state: state, site: arguments.text("--site"), survey: arguments.text("--survey"),
            on: Store.connect(settings.text("postgres.url")))
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
