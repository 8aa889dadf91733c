import Observe

enum Commands {
    static let all: [Command] = [
        .up, .trips, .alerts, .plan, .importCars, .importMachines, .importDispatch, .importPeople, .importSightings,
        .export, .report, .schedule, .query, .work, .gateway, .gatewayPoll, .gatewayLog, .pullISO, .serve, .notify,
        .migrate,
        .check, .settings, .status, .health, .offsets, .retention, .rejected, .replay, .verify, .rulesPublish,
        .rulesTest,
        .rulesTry,
        .vehicle,
        .trip, .campus,
        .people, .dispatch, .dispatchTry, .sightings, .taxonomy, .alert, .log, .token, .account, .fleet, .servers,
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
        if words.isEmpty || words[0] == "--help" || words[0] == "help" {
            Out.result(overview())
            return words.isEmpty ? .wrongUse : .done
        }
        // Two-word commands (`import cars`) stand in the table with their space.
        let name = all.map(\.name).filter { words.starts(with: $0.split(separator: " ").map(String.init)) }
            .max { $0.count < $1.count }
        guard let command = all.first(where: { $0.name == name }) else {
            Out.note("drover \(words[0]): there is no such command.\n\n" + overview())
            return .wrongUse
        }
        let rest = words.dropFirst(command.name.split(separator: " ").count)
        if rest.contains("--help") {
            Out.result(command.help)
            return .done
        }
        do {
            return try command.run(Arguments(rest, for: command))
        } catch let error as UsageError {
            Out.note("drover \(command.name): \(error)\n\n" + command.help, level: .error)
            return .wrongUse
        } catch {
            Out.note("drover \(command.name): \(error)", level: .error)
            return .failed
        }
    }
}
