import App
import Settings
import Telemetry

enum Commands {
    static let all: [Command] = [
        .up, .trips, .alerts, .plan, .importCars, .importMachines, .importDispatch, .importPeople, .importSightings,
        .export, .report, .schedule, .query, .work, .gateway, .gatewayPoll, .gatewayLog, .pullISO, .serve, .notify,
        .run,
        .migrate,
        .check, .settings, .status, .health, .offsets, .clock, .retention, .rejected, .quarantine, .replay, .verify,
        .rulesPublish,
        .rulesTest,
        .rulesTry, .rulesTrips,
        .vehicle,
        .trip, .campus,
        .people, .dispatch, .dispatchTry, .sightings, .taxonomy, .alert, .log, .token, .account, .limits, .fleet,
        .audit,
        .servers,
        .emulateMTG,
        .emulateOBD, .bench, .obdDecode, .obdPIDs, .obdCode, .outsideCheck, .outsideWeather, .outsideTravel,
        .outsideAddress,
    ]

    static func overview() -> String {
        let width = all.map(\.name.count).max() ?? 0
        let rows = all.map { "  " + $0.name + String(repeating: " ", count: width - $0.name.count + 2) + $0.summary }
        return "drover COMMAND [options]\nTurns what moves in the field into answers.\n\n"
            + rows.joined(separator: "\n")
            + "\n\n`drover COMMAND --help` shows a command's options and an example.\n"
    }

    static func run(_ words: [String]) -> ExitCode {
        if words.isEmpty || ["--help", "-h", "help"].contains(words[0]) {
            Out.result(overview())
            return words.isEmpty ? .wrongUse : .done
        }
        if words == ["--version"] { return version() }
        // Two-word commands (`import cars`) stand in the table with their space.
        let name = all.map(\.name).filter { words.starts(with: $0.split(separator: " ").map(String.init)) }
            .max { $0.count < $1.count }
        guard let command = all.first(where: { $0.name == name }) else {
            Out.note("drover: \(unknown(words))", level: .error)
            return .wrongUse
        }
        let rest = words.dropFirst(command.name.split(separator: " ").count)
        if rest.contains("--help") {
            Out.result(command.help)
            return .done
        }
        do {
            let arguments = try Arguments(rest, for: command)
            try Synopsis(command).check(arguments)
            return try command.run(arguments)
        } catch let error as UsageError {
            // What is wrong is not to be looked for above forty lines of help.
            let help = "`drover \(command.name) --help`"
            let more = error.description.contains(help) ? "" : "\nSee \(help)"
            Out.note("drover \(command.name): \(error)\(more)", level: .error)
            return .wrongUse
        } catch {
            Out.note("drover \(command.name): \(error)", level: .error)
            return .failed
        }
    }

    private static func version() -> ExitCode {
        do {
            Out.result("drover \(try Home.version())")
            return .done
        } catch {
            Out.note("drover --version: \(error)", level: .error)
            return .failed
        }
    }

    /// A sentence on words that are no command, the commands near to them, and where all are listed.
    static func unknown(_ words: [String]) -> String {
        let list = "`drover --help` lists all commands"
        guard !words[0].hasPrefix("-") else {
            return "\(words[0]): the command comes first, then its options: drover COMMAND \(words[0]). \(list)"
        }
        let names = all.map(\.name)
        // `import` alone is the beginning of some.
        let longer = names.filter { $0.hasPrefix(words[0] + " ") }
        guard longer.isEmpty else {
            let typed = words.prefix(2).prefix { !$0.hasPrefix("-") }.joined(separator: " ")
            return "unknown command `\(typed)`: say \(longer.joined(separator: ", ")). \(list)"
        }
        let two = words.prefix(2).joined(separator: " ")
        let near =
            Nearest.word(to: two, of: names) ?? Nearest.word(to: words[0], of: names)
            ?? Nearest.word(to: words[0], of: names.map { String($0.prefix { $0 != " " }) })
        return "unknown command `\(words[0])`. \(near.map { "Did you mean \($0)? " } ?? "")\(list)"
    }
}
