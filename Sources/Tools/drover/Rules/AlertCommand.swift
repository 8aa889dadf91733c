import Alerts
import App
import Basics
import Fleet
import Postgres
import Reports
import Settings
import Storage

extension Command {
    static let alert = Command(
        name: "alert", operands: "list | show ID | acknowledge ID | silence",
        summary:
            "Stored alerts, from the database: what is open, why, who has seen it, and silences. From a file: `drover alerts`.",
        options: [
            .init("--vehicle", "V", "list, silence: only of this vehicle"),
            .init("--all", nil, "list: also those that are over"),
            .init("--role", "R", "list, show: farmer, dealer or developer (default developer)"),
            .init("--model", "MODEL", "silence: of this model"),
            .init("--parameter", "NAME", "silence: of this parameter, as shown to people"),
            .init("--until", "TIME", "silence: until then (2026-11-21T08:00:00Z); a time that is past takes it back"),
            .init("--limit", "N", "list: at most so many rows (default 1000)"),
            .init("--format", "F", "list: table, csv or json; show: table or json (default table)"),
        ] + ActionPush.options + SettingsSource.options,
        example: "drover alert acknowledge 8R-0001-4-mfk3abc0 --by Anna --note \"radiator cleaned\"",
        run: { arguments in
            switch (arguments.operands.first, arguments.operands.count) {
            case ("list", 1): return try list(arguments)
            case ("show", 2): return try show(arguments)
            case ("acknowledge", 2): return try acknowledge(arguments)
            case ("silence", 1): return try silence(arguments)
            default: throw UsageError("say `list`, `show ID`, `acknowledge ID` or `silence --until TIME`")
            }
        })

    private static func reader(_ arguments: Arguments) throws -> Connection {
        try Connection(conninfo: SettingsSource.load(arguments).readerConninfo)
    }

    private static func audiences(_ arguments: Arguments) throws -> [Audience] {
        try arguments.one("--role", of: audiences, standard: "developer").seen
    }

    static let audiences = Dictionary(uniqueKeysWithValues: Audience.allCases.map { ($0.rawValue, $0) })

    private static func vehicle(_ arguments: Arguments) throws -> VehicleID? {
        guard let text = arguments.text("--vehicle") else { return nil }
        guard let id = VehicleID(text) else {
            throw UsageError("--vehicle \(text): a vehicle's id is 1 to 64 letters, digits, -, _ or .")
        }
        return id
    }

    private static func list(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: queryFormats, standard: "table")
        let rows = try reader(arguments).query(
            Home.reportQueries()["alerts"],
            [
                .text(try vehicle(arguments)?.text ?? ""), .bool(arguments.has("--all")),
                .textArray(try audiences(arguments).map(\.rawValue)),
                .int8(try arguments.integer("--limit", in: 1...1_000_000) ?? 1_000), .int8(Lateness.afterMs),
            ])
        Out.result(format(try QueryOutput(rows)))
        return .done
    }

    private static func show(_ arguments: Arguments) throws -> ExitCode {
        let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
        let id = arguments.operands[1]
        guard
            let story = try AlertDetail.read(
                id, audiences: audiences(arguments), Home.reportQueries(), on: reader(arguments))
        else { throw Failure("\(id): there is no such alert for this role; `drover alert list --all` shows them") }
        Out.result(isJSON ? story.json : story.text)
        return .done
    }

    private static func acknowledge(_ arguments: Arguments) throws -> ExitCode {
        let id = arguments.operands[1]
        guard let vehicle = try AlertQueries.vehicle(of: id, on: reader(arguments)) else {
            throw Failure("\(id): there is no such alert; `drover alert list` shows them")
        }
        let action = try ActionPush.action(
            arguments, vehicle: VehicleID(vehicle), kind: .acknowledgement(alert: id))
        try CommandAudit.run(.alertAcknowledged, arguments, by: action.by, [("alert", id), ("record", action.id)]) {
            try ActionPush(settings: SettingsSource.load(arguments)).push(action)
        }
        return .done
    }

    private static func silence(_ arguments: Arguments) throws -> ExitCode {
        guard let text = arguments.text("--until"), let untilMs = UTC.parse(text) else {
            throw UsageError("silence needs its end: --until with a time and its zone, like 2026-11-21T08:00:00Z")
        }
        let (vehicle, model) = (try vehicle(arguments), arguments.text("--model"))
        var parameter: MachineParameter?
        if let name = arguments.text("--parameter") {
            guard case .parameter(let found)? = ThresholdField(anyName: name) else {
                throw UsageError("--parameter \(name): is no parameter of a machine")
            }
            parameter = found
        }
        guard vehicle != nil || model != nil || parameter != nil else {
            throw UsageError("say what is silenced: --vehicle, --model, --parameter, or several")
        }
        let silence = Action.Silence(model: model, parameter: parameter, untilMs: untilMs)
        let action = try ActionPush.action(arguments, vehicle: vehicle, kind: .silence(silence))
        try CommandAudit.run(
            .alertSilenced, arguments, by: action.by,
            [
                ("vehicle", vehicle?.text ?? ""), ("model", model ?? ""),
                ("parameter", arguments.text("--parameter") ?? ""), ("until", UTC.text(untilMs)),
                ("record", action.id),
            ]
        ) {
            try ActionPush(settings: SettingsSource.load(arguments)).push(action)
        }
        return .done
    }
}
