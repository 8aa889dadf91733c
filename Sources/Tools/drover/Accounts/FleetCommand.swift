import App
import Fleet
import Postgres
import Reports
import Storage
import Telemetry

extension Command {
    static let fleet = Command(
        name: "fleet",
        operands:
            "list | put FLEET | remove FLEET | add FLEET VEHICLE… | take FLEET VEHICLE… | join FLEET ACCOUNT… | leave FLEET ACCOUNT…",
        summary: "Fleets: which vehicles belong together, and who sees them. A fleet may be part of one other.",
        options: [
            .init("--name", "TEXT", "put: as people call it (default: its id)"),
            .init("--part-of", "FLEET", "put: the fleet that it is a part of; whoever is in that one sees it too"),
            .init("--kind", "K", "add, take: machine (default) or car"),
            .init("--format", "F", "list: table, csv or json (default table)"),
        ] + SettingsSource.options,
        example:
            "drover fleet put north --name 'North farm' && drover fleet add north mtg-1 && drover fleet join north miller",
        run: { arguments in
            let words = arguments.operands
            if words == ["list"] { return try listFleets(arguments) }
            guard words.count >= 2, words.dropFirst().allSatisfy({ VehicleID.isValid($0.utf8) }) else {
                throw UsageError("say what, and to which fleet: ids are 1 to 64 letters, digits, -, _ or .")
            }
            let (fleet, rest) = (words[1], Array(words.dropFirst(2)))
            switch (words[0], rest.isEmpty) {
            case ("put", true): return try putFleet(fleet, arguments)
            case ("remove", true): return try removeFleet(fleet, arguments)
            case ("add", false): return try addVehicles(rest, fleet, arguments)
            case ("take", false): return try removeVehicles(rest, fleet, arguments)
            case ("join", false): return try join(rest, fleet, arguments)
            case ("leave", false): return try leave(rest, fleet, arguments)
            default: throw UsageError("say `list`, `put`, `remove`, `add`, `take`, `join` or `leave`, and for whom")
            }
        })

    private static func listFleets(_ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        Out.result(render(try QueryOutput(asOwner(arguments).connection.query(Home.reportQueries()["fleets"]))))
        return .done
    }

    private static func putFleet(_ fleet: String, _ arguments: Arguments) throws -> ExitCode {
        let name = arguments.text("--name") ?? fleet
        guard (1...200).contains(name.utf8.count) else { throw UsageError("--name has 1 to 200 bytes") }
        let partOf = arguments.text("--part-of")
        let connection = try asOwner(arguments).connection
        let (hadNone, logins) = (
            try OperatorFleetStore.count(on: connection) == 0, try DatabaseLogin.accounts(on: connection)
        )
        try said(fleet, missing: "there is no fleet \(partOf ?? fleet): see `drover fleet list`") {
            try connection.transaction {
                try OperatorFleetStore.put(fleet, name: name, partOf: partOf, on: connection)
                try note(fleet, [("part_of", partOf ?? "")], connection)
            }
        }
        Out.note("fleet \(fleet): \(name)" + (partOf.map { ", part of \($0)" } ?? ""))
        let ended = logins.subtracting(try DatabaseLogin.accounts(on: connection)).sorted()
        if !ended.isEmpty {
            Out.note(
                "psql has ended for \(ended.joined(separator: ", ")): with more than one fleet its logins told what they may not see. "
                    + "They ask on the page /query or by `drover query \"SELECT …\"`, or get a copy of their rows: `drover account copy ID`",
                level: .warning)
        }
        if hadNone {
            Out.note(
                "this is the first fleet: from now on only operators may upload for machines that are in none and have readings. "
                    + "Add them: drover fleet add \(fleet) MACHINE…")
        }
        return .done
    }

    private static func removeFleet(_ fleet: String, _ arguments: Arguments) throws -> ExitCode {
        let connection = try asOwner(arguments).connection
        try connection.transaction {
            guard try OperatorFleetStore.remove(fleet, on: connection) else {
                throw Failure("\(fleet): there is no such fleet, or others are part of it: see `drover fleet list`")
            }
            try note(fleet, [("is", "removed")], connection)
        }
        Out.note("fleet \(fleet) is no more; its vehicles and people stay")
        if try OperatorFleetStore.count(on: connection) == 0 {
            Out.note("no fleet is left: every token with the scope upload may upload for every machine")
        }
        return .done
    }

    private static func addVehicles(_ vehicles: [String], _ fleet: String, _ arguments: Arguments) throws -> ExitCode {
        let (kind, connection) = (try kind(arguments), try asOwner(arguments).connection)
        try said(fleet, missing: "there is no fleet \(fleet): see `drover fleet list`") {
            try connection.transaction {
                for vehicle in vehicles { try OperatorFleetStore.add(vehicle, kind: kind, to: fleet, on: connection) }
                try note(fleet, [("added", vehicles.joined(separator: " ")), ("kind", kind.rawValue)], connection)
            }
        }
        Out.note("fleet \(fleet): \(vehicles.joined(separator: ", ")) (\(kind.rawValue)) added")
        // Vehicles may be given to a fleet before they report; a slip of the pen looks the same.
        let unknown = try OperatorFleetStore.unknown(vehicles, kind: kind, on: connection)
        if !unknown.isEmpty { Out.note("not known so far: \(unknown.joined(separator: ", "))") }
        return .done
    }

    private static func removeVehicles(_ vehicles: [String], _ fleet: String, _ arguments: Arguments) throws -> ExitCode
    {
        let (kind, connection) = (try kind(arguments), try asOwner(arguments).connection)
        try connection.transaction {
            for vehicle in vehicles
            where try !OperatorFleetStore.remove(vehicle, kind: kind, from: fleet, on: connection) {
                throw Failure("\(vehicle): no \(kind.rawValue) of this id is in fleet \(fleet); nothing was changed")
            }
            try note(fleet, [("taken", vehicles.joined(separator: " ")), ("kind", kind.rawValue)], connection)
        }
        Out.note("fleet \(fleet): \(vehicles.joined(separator: ", ")) (\(kind.rawValue)) taken out")
        return .done
    }

    private static func join(_ accounts: [String], _ fleet: String, _ arguments: Arguments) throws -> ExitCode {
        let connection = try asOwner(arguments).connection
        let missing =
            "there is no fleet \(fleet), or no account \(accounts.joined(separator: " or ")): see `drover fleet list`, `drover account list`"
        try said(fleet, missing: missing) {
            try connection.transaction {
                for account in accounts { try OperatorFleetStore.add(member: account, to: fleet, on: connection) }
            }
        }
        Out.note("fleet \(fleet): \(accounts.joined(separator: ", ")) joined; what they see is up to their roles")
        return .done
    }

    private static func leave(_ accounts: [String], _ fleet: String, _ arguments: Arguments) throws -> ExitCode {
        let connection = try asOwner(arguments).connection
        try connection.transaction {
            for account in accounts where try !OperatorFleetStore.remove(member: account, from: fleet, on: connection) {
                throw Failure("\(account): is not in fleet \(fleet); nothing was changed")
            }
        }
        Out.note("fleet \(fleet): \(accounts.joined(separator: ", ")) left")
        return .done
    }

    private static func note(_ fleet: String, _ detail: AuditLog.Detail, _ connection: Connection) throws {
        try AuditLog.record(.fleetChanged, [("fleet", fleet)] + detail, on: connection)
    }

    private static func kind(_ arguments: Arguments) throws -> VehicleKind {
        try Command.vehicleKind(arguments)
    }

    /// The rules of the tables, in a person's words.
    private static func said(_ fleet: String, missing: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as PostgresError where error.sqlState == "23503" {
            throw Failure("\(missing). Nothing was changed")
        } catch let error as PostgresError where error.sqlState == "23514" {
            throw Failure(
                "\(fleet): fleets are nested once: a fleet that has parts is part of none, and no fleet of itself")
        }
    }
}
