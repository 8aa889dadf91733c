import App
import Codecs
import Fleet
import Postgres
import Reports
import Storage

extension Command {
    static let importPeople = Command(
        name: "import people", operands: "FILE.csv --campus C",
        summary: "Takes a campus's roster over: who may ride, drive and dispatch. The whole file or nothing of it.",
        options: [
            .init("--campus", "ID", "whose roster it is"),
            .init("--disable-missing", nil, "whoever is not in the file is no longer on the roster"),
            .init("--check", nil, "say what is wrong with the file and change nothing"),
        ] + SettingsSource.options,
        example: "drover import people roster.csv --campus north --disable-missing",
        run: { arguments in
            guard arguments.operands.count == 1 else { throw UsageError("name one FILE.csv") }
            let campus = try peopleCampus(arguments)
            let path = arguments.operands[0]
            let roster = try roster(path)
            if !roster.unusedColumns.isEmpty {
                Out.note("\(path): columns that nothing is made of: " + roster.unusedColumns.joined(separator: ", "))
            }
            if arguments.has("--check") {
                Out.note("\(path): \(roster.people.count) people, nothing wrong; nothing was changed")
                return .done
            }
            let changes = try PersonStore.update(
                roster.people, campus: campus, disablesMissing: arguments.has("--disable-missing"),
                on: peopleConnection(arguments))
            Out.note(
                "\(path): \(roster.people.count) people of \(campus): \(changes.added) added, "
                    + "\(changes.changed) changed, \(changes.signedOut) of them with another mail address and signed out, "
                    + "\(changes.left) no longer on the roster")
            return .done
        })

    static let people = Command(
        name: "people", operands: "list | disable ID | enable ID | revoke-tokens ID",
        summary: "The people of a campus: who they are, and ending what their devices may do.",
        options: [
            .init("--campus", "ID", "whose roster it is"),
            .init("--format", "F", "list: table, csv or json (default table)"),
        ] + SettingsSource.options,
        example: "drover people revoke-tokens g-1042 --campus north",
        run: { arguments in
            let words = arguments.operands
            switch (words.first, words.count) {
            case ("list", 1): return try listPeople(arguments)
            case ("disable", 2): return try disable(true, arguments)
            case ("enable", 2): return try disable(false, arguments)
            case ("revoke-tokens", 2): return try revokeTokens(arguments)
            default: throw UsageError("say `list`, `disable ID`, `enable ID` or `revoke-tokens ID`")
            }
        })

    private static func peopleConnection(_ arguments: Arguments) throws -> Connection {
        try asOwner(arguments).connection
    }

    private static func peopleCampus(_ arguments: Arguments) throws -> String {
        guard let campus = arguments.text("--campus") else { throw UsageError("--campus is missing: whose people?") }
        return try campusID(campus)
    }

    private static func roster(_ path: String) throws -> RosterFile.Roster {
        switch RosterFile.read(try Files.read(path)) {
        case .success(let roster): return roster
        case .failure(let faults):
            let shown = 100
            for fault in faults.all.prefix(shown) { Out.note("\(path): \(fault)") }
            if faults.all.count > shown { Out.note("\(path): and \(faults.all.count - shown) more") }
            throw Failure("\(path): nothing was taken over; see above")
        }
    }

    private static func listPeople(_ arguments: Arguments) throws -> ExitCode {
        let render = try arguments.one("--format", of: queryFormats, standard: "table")
        let rows = try peopleConnection(arguments).query(
            Home.reportQueries()["people"], [.text(peopleCampus(arguments))])
        Out.result(render(try QueryOutput(rows)))
        return .done
    }

    private static func disable(_ disabled: Bool, _ arguments: Arguments) throws -> ExitCode {
        let (campus, id) = (try peopleCampus(arguments), arguments.operands[1])
        guard
            try PersonStore.set(
                disabled: disabled, campus: campus, person: id, on: peopleConnection(arguments))
        else { throw unknown(id, campus) }
        Out.note(
            disabled
                ? "\(id) is disabled: refused from the next request on, also when the roster is imported again"
                : "\(id) is enabled again and needs a new code on each device")
        return .done
    }

    private static func revokeTokens(_ arguments: Arguments) throws -> ExitCode {
        let (campus, id) = (try peopleCampus(arguments), arguments.operands[1])
        guard
            let ended = try PersonStore.revokeTokens(
                campus: campus, person: id, on: peopleConnection(arguments))
        else { throw unknown(id, campus) }
        Out.note("\(ended) devices of \(id) are signed out: refused from the next request on")
        return .done
    }

    private static func unknown(_ id: String, _ campus: String) -> Failure {
        Failure("there is no \(id) on the roster of \(campus): `drover people list --campus \(campus)` shows the ids")
    }
}
