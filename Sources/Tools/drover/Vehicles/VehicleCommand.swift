import Alerts
import App
import Basics
import Fleet
import Postgres
import Reports
import Settings
import Storage

extension Command {
    static let vehicle = Command(
        name: "vehicle",
        operands: "list | register VEHICLE | assign CAR | service VEHICLE | history VEHICLE | scan CAR | scans CAR",
        summary: "The vehicles: how they are called and reached, their services, readings and health scans.",
        options: [
            .init("--kind", "KIND", "register: machine or car (default machine); list: only these"),
            .init("--name", "NAME", "register: as people call it"),
            .init("--model", "MODEL", "register: of a machine as in tractors.xml, of a car its maker's name for it"),
            .init("--address", "HOST:PORT", "register: the box or adapter that is polled; `none`: upload only"),
            .init("--certificate", "SHA256", "register: of the box's certificate (hexadecimal); `none`: plain TCP"),
            .init("--tags", "A,B", "register: its tags"), .init("--tag", "T", "list: only with this tag"),
            .init("--disable", nil, "register: keep it, but do not poll it"),
            .init("--enable", nil, "register: undo that"),
            .init("--search", "TEXT", "list: only those with this in id, name or model"),
            .init(
                "--sort", "COLUMN",
                "list: by vehicle, name, model, last_reading_at, open_alerts or worst_severity (default: disabled ones last)"
            ),
        ] + carOptions + [
            .init("--driver", "ACCOUNT", "assign: who drives the car from now on, where no phone says who does"),
            .init("--nobody", nil, "assign: nobody does; its owner's limits hold"),
            .init("--from", "TIME", "assign: from this time on (2026-11-21T08:00:00Z; default: now)"),
            .init("--hours", "H", "service: the engine hours at which it was done"),
            .init("--before", "TIME", "history: readings before this time (the next page)"),
            .init("--limit", "N", "list, history, scans: at most so many rows (default 100)"),
            .init("--wait", "S", "scan: how long the answer is waited for (default 60)"),
            .init("--format", "F", "list, history, scans: table, csv or json (default table)"),
        ] + ActionPush.options + SettingsSource.options,
        example: "drover vehicle register 8R-0001 --model \"8R Tractor\" --address 192.168.1.10:7701 --by Anna",
        run: { arguments in
            switch (arguments.operands.first, arguments.operands.count) {
            case ("list", 1): return try list(arguments)
            case ("register", 2): return try register(arguments)
            case ("assign", 2): return try assign(arguments)
            case ("service", 2): return try service(arguments)
            case ("history", 2): return try history(arguments)
            case ("scan", 2): return try scan(arguments)
            case ("scans", 2): return try scans(arguments)
            default:
                throw UsageError(
                    "say `list`, `register VEHICLE`, `assign CAR --driver ACCOUNT`, `service VEHICLE --hours H`, `history VEHICLE`, `scan CAR` or "
                        + "`scans CAR`")
            }
        })

    static let queryFormats: [String: @Sendable (QueryOutput) -> String] = [
        "table": { $0.table.text() }, "csv": { $0.table.csv() }, "json": { $0.json },
    ]

    static func vehicleReader(_ arguments: Arguments) throws -> Connection {
        try Connection(conninfo: SettingsSource.load(arguments).readerConninfo)
    }

    /// For what is said of a machine: of one that is not there it would be kept, and never seen.
    static func machineReader(_ vehicle: VehicleID, _ arguments: Arguments) throws -> Connection {
        let reader = try vehicleReader(arguments)
        let found = try reader.query(Home.reportQueries()["vehicle_kinds"], [.text(vehicle.text)])
        guard try found.contains(where: { try $0.word("kind") == VehicleKind.machine }) else {
            throw Failure("\(vehicle): there is no such machine; see `drover vehicle list --kind machine`")
        }
        return reader
    }

    static func vehicleID(_ arguments: Arguments) throws -> VehicleID {
        let text = arguments.operands[1]
        guard let id = VehicleID(text) else {
            throw UsageError("\(text): a vehicle's id is 1 to 64 letters, digits, -, _ or .")
        }
        return id
    }

    private static let sortColumns = Dictionary(
        uniqueKeysWithValues: ["vehicle", "name", "model", "last_reading_at", "open_alerts", "worst_severity"].map {
            ($0, $0)
        })

    private static func list(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: queryFormats, standard: "table")
        let limit = try arguments.integer("--limit", in: 1...1_000_000) ?? 100
        let isSorted = arguments.has("--sort")
        let column = try arguments.one("--sort", of: sortColumns, standard: "vehicle")
        let kind = arguments.has("--kind") ? try vehicleKind(arguments) : nil
        // How a box is reached is for operators only; pages and programs ask without.
        let rows = try DeviceStore.reached(
            Home.reportQueries()["vehicles"],
            [
                .text(arguments.text("--tag") ?? ""), .text(arguments.text("--search") ?? ""),
                .text(kind?.rawValue ?? ""),
                .textArray(Audience.developer.seen.map(\.rawValue)), .bool(false), .text(""),
                .int8(isSorted ? 1_000_000 : limit),
            ], on: vehicleReader(arguments))
        // What dealers call machines is theirs: no program has any.
        let output = try QueryOutput(rows).without(["own_class", "own_tags"])
        Out.result(format(isSorted ? output.sorted(by: column).prefix(Int(limit)) : output))
        return .done
    }

    private static func history(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: queryFormats, standard: "table")
        var beforeMs = UTC.plausible.upperBound
        if let text = arguments.text("--before") {
            guard let time = UTC.parse(text) else {
                throw UsageError("--before \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
            }
            beforeMs = time
        }
        let limit = try arguments.integer("--limit", in: 1...1_000_000) ?? 100
        let output = try QueryOutput(
            try vehicleReader(arguments).query(
                Home.reportQueries()["readings"],
                [.text(try vehicleID(arguments).text), .timestampMs(beforeMs), .int8(limit)]))
        Out.result(format(output))
        if Int64(output.count) == limit {
            Out.note("there may be more: --before the last row's time shows the next page")
        }
        return .done
    }

    private static func service(_ arguments: Arguments) throws -> ExitCode {
        guard let text = arguments.text("--hours"), let hours = Decimal.scaled(text.utf8, decimals: 3),
            MachineParameter.engineHours.row.isPossible(hours)
        else { throw UsageError("service needs the engine hours at which it was done: --hours 1234.5") }
        let vehicle = try vehicleID(arguments)
        let reader = try machineReader(vehicle, arguments)
        let newest = try MachineDetail.engineHours(vehicle, Home.reportQueries(), on: reader)
        let action = try ActionPush.action(arguments, vehicle: vehicle, kind: .service(atHours: hours))
        if let why = newest?.fault(hours, doneMs: action.ts) { throw Failure("\(vehicle): \(why)") }
        try ActionPush(settings: SettingsSource.load(arguments)).push(action)
        return .done
    }
}
