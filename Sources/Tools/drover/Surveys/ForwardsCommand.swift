import App
import Reports
import Settings
import Storage
import Surveys

/// `drover sightings forwards`: which versions of surveys a collector was sent, and what it said.
extension Command {
    static func listForwards(_ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let state = try arguments.text("--state").map { text in
            guard let state = ForwardState(rawValue: text) else {
                let states = ForwardState.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--state \(text): must be one of \(states)")
            }
            return state
        }
        let rows = try ForwardStore.list(
            state: state, site: arguments.text("--site"), survey: arguments.text("--survey"),
            on: SchemaConnection.connect(settings.text("postgres.url")))
        Out.result(render(try QueryOutput(rows)))
        return .done
    }

    static func retryForwards(_ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let count = try ForwardStore.retry(
            site: arguments.text("--site"), survey: arguments.text("--survey"),
            on: SchemaConnection.connect(settings.text("postgres.url")))
        Out.note("\(count) version\(count == 1 ? "" : "s") of surveys will be tried again by `drover notify`")
        return .done
    }
}
