import App
import Foundation
import Postgres
import Reports
import Settings
import Storage

extension Command {
    static let query = Command(
        name: "query", operands: "[NAME [KEY=VALUE…] | \"SELECT …\"]",
        summary:
            "Runs a query that comes with Drover, or a SELECT of one's own as an account sees; without either, lists them.",
        options: [
            .init("--format", "F", "table (default), csv or json"),
            .init("--psql", nil, "a script for psql instead, with what is asked for as psql's variables"),
            .init("--explain", nil, "how PostgreSQL goes about it, with times, instead of the rows"),
            .init("--timeout", "S", "ended after so many seconds (default 60)"),
            .init("--as", "ID", "SELECT: the account whose rows are asked (on this machine, by postgres.query_url)"),
            .init("--url", "U", "SELECT: asks that server instead, with the token in DROVER_TOKEN (https://…)"),
        ] + SettingsSource.options,
        example: "drover query sightings/counts_by_week species='Papilio demodocus' year=2020",
        run: { arguments in
            guard let name = arguments.operands.first else {
                Out.result(try list())
                return .done
            }
            // No query's name has a blank.
            if name.contains(where: \.isWhitespace) { return try ask(name, arguments) }
            for option in ["--as", "--url"] where arguments.has(option) {
                throw UsageError("\(option) is for a SELECT of one's own, in quotes")
            }
            let query = try named(name)
            if arguments.has("--psql") {
                Out.result(query.psql)
                return .done
            }
            let render = try arguments.one("--format", of: queryFormats, standard: "table")
            let seconds = try arguments.integer("--timeout", in: 1...86_400) ?? 60
            let values: [Parameter]
            do {
                values = try query.values(given(arguments.operands.dropFirst()))
            } catch let fault as ReadyQuery.Fault {
                throw UsageError("\(fault)\n\n" + help(query))
            }
            let asked = arguments.has("--explain") ? try query.explained() : query
            let settings = try SettingsSource.load(arguments)
            let connection = try Connection(conninfo: settings.readerConninfo)
            try CommandAudit.noteTaken(
                .queryRun, [("query", name), ("with", arguments.operands.dropFirst().joined(separator: " "))],
                on: connection)
            Out.result(render(try asked.run(values, timeoutMs: Int(seconds) * 1_000, on: connection)))
            return .done
        })

    private static func given(_ words: ArraySlice<String>) throws -> [String: String] {
        var given: [String: String] = [:]
        for word in words {
            guard let sign = word.firstIndex(of: "=") else { throw UsageError("\(word): write KEY=VALUE") }
            guard given.updateValue(String(word[word.index(after: sign)...]), forKey: String(word[..<sign])) == nil
            else { throw UsageError("\(word): its key is there twice") }
        }
        return given
    }

    private static func named(_ name: String) throws -> ReadyQuery {
        let queries = try Home.readyQueries().filter { $0.name == name || $0.ownName == name }
        guard let query = queries.first else {
            throw UsageError("there is no query \(name). `drover query` lists them")
        }
        guard queries.count == 1 else {
            throw UsageError("\(name): one of \(queries.map(\.name).joined(separator: ", "))")
        }
        return query
    }

    private static func list() throws -> String {
        try Home.readyQueries().map(help).joined(separator: "\n")
    }

    private static func help(_ query: ReadyQuery) -> String {
        let rows = query.parameters.map { parameter in
            "    \(parameter.name)=\(parameter.standard ?? parameter.kind.rawValue.uppercased())  \(parameter.meaning)\n"
        }
        return "\(query.name): \(query.question)\n" + rows.joined()
    }
}
