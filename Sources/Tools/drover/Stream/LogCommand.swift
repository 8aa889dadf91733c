import App
import Codecs
import Fleet
import Postgres
import Reports
import Settings
import Storage

extension Command {
    static let log = Command(
        name: "log", operands: "list | show ID | search TEXT",
        summary: "The debug logs of boxes that `drover gateway log --vehicle` has kept. For developers.",
        options: [
            .init("--vehicle", "V", "list, search: only of this vehicle"),
            .init("--level", "L", "search: only lines of this level: \(levels.keys.sorted().joined(separator: ", "))"),
            .init("--limit", "N", "list, search: at most so many rows (default 1000)"),
            .init("--format", "F", "list, search: table, csv or json (default table)"),
        ] + SettingsSource.options,
        example: "drover log search \"no carrier\" --vehicle 8R-0001",
        run: { arguments in
            switch (arguments.operands.first, arguments.operands.count) {
            case ("list", 1): return try listLogs(arguments)
            case ("show", 2): return try showLog(arguments)
            case ("search", 2): return try searchLogs(arguments)
            default: throw UsageError("say `list`, `show ID` or `search TEXT`")
            }
        })

    private static let levels = Dictionary(uniqueKeysWithValues: DebugLogText.Level.allCases.map { ($0.rawValue, $0) })

    static func debugLogs(_ settings: Settings) throws -> Connection {
        try Connection(conninfo: settings.debugConninfo)
    }

    private static func logs(_ arguments: Arguments, limit: Int64, on connection: Connection) throws -> Rows {
        let vehicle = arguments.text("--vehicle") ?? ""
        return try connection.query(Home.reportQueries()["debug_logs"], [.text(vehicle), .int8(limit)])
    }

    private static func limit(_ arguments: Arguments) throws -> Int64 {
        try arguments.integer("--limit", in: 1...1_000_000) ?? 1_000
    }

    private static func listLogs(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: queryFormats, standard: "table")
        let connection = try debugLogs(SettingsSource.load(arguments))
        Out.result(format(try QueryOutput(try logs(arguments, limit: limit(arguments), on: connection))))
        return .done
    }

    /// As the box gave it, byte for byte.
    private static func showLog(_ arguments: Arguments) throws -> ExitCode {
        guard let id = Int(arguments.operands[1]) else { throw UsageError("an id is a number: `drover log list`") }
        guard let log = try DebugLogStore.read(id, on: debugLogs(SettingsSource.load(arguments))) else {
            throw Failure("there is no debug log \(id): `drover log list` shows the ids")
        }
        Out.result(log)
        return .done
    }

    /// The logs are read one by one: all of them need not fit into memory.
    private static func searchLogs(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: queryFormats, standard: "table")
        let level = try arguments.text("--level").map { _ in try arguments.one("--level", of: levels, standard: "") }
        let (wanted, limit) = (arguments.operands[1].lowercased(), Int(try limit(arguments)))
        let connection = try debugLogs(SettingsSource.load(arguments))
        var found: [[FieldValue]] = []
        for row in try logs(arguments, limit: .max, on: connection) where found.count < limit {
            let (id, vehicle) = (try row.int("id")!, try row.text("vehicle")!)
            // One that is gone by now was pruned.
            guard let log = try DebugLogStore.read(id, on: connection) else { continue }
            let lines = DebugLogText(log).lines.filter { line in
                (level == nil || line.level == level) && line.text.lowercased().contains(wanted)
            }
            found += lines.prefix(limit - found.count).map {
                [.integer(id), .text(vehicle), .integer($0.number), .text($0.level.rawValue), .text($0.text)]
            }
        }
        Out.result(format(QueryOutput(columns: ["id", "vehicle", "line", "level", "text"], rows: found)))
        if found.count == limit { Out.note("there may be more: --limit") }
        return .done
    }
}
