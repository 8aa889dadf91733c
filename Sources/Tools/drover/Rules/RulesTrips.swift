import App
import Basics
import Fleet
import Reports
import Settings
import Storage
import Telemetry

extension Command {
    static let rulesTrips = Command(
        name: "rules trips", operands: "[--check | --publish [--from TIME]] [options]",
        summary: "By which limits trips are made: what is in force, and the settings' trips.* put on the log.",
        options: [
            .init("--check", nil, "whether the settings' trips.* can be, and what they would change"),
            .init("--publish", nil, "puts the settings' trips.* on the log of every partition of the cars' topic"),
            .init(
                "--from", "TIME",
                "with --publish: for trips that begin from then on, like 2026-12-01T00:00:00Z; a day ahead at least"),
        ] + SettingsSource.options,
        example: "drover rules trips --publish --set trips.trip_gap_min=10",
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("\(arguments.operands[0]) is not expected") }
            guard !arguments.has("--check") || !arguments.has("--publish") else {
                throw UsageError("--check and --publish exclude each other")
            }
            let fromMs = try arguments.text("--from").map { text in
                guard let ms = UTC.parse(text) else { throw UsageError("--from \(text): write 2026-12-01T00:00:00Z") }
                return ms
            }
            guard fromMs == nil || arguments.has("--publish") else { throw UsageError("--from is for --publish") }
            let settings = try SettingsSource.load(arguments)
            if arguments.has("--publish") { return try publish(settings, fromMs) }
            let rules = try arguments.has("--check") ? settings.tripRules() : nil
            let standing = try TripRulesStatus(on: SchemaConnection.connect(settings.readerConninfo))
            guard !standing.partitions.isEmpty else {
                Out.result("nothing is in force yet: the first worker of a partition begins with its settings' trips.*")
                return .done
            }
            guard let rules else {
                Out.result(standing.table(nowMs: Clock.nowMs()).text())
                return .done
            }
            Out.result(
                standing.difference(rules).map { "\($0). To change it: drover rules trips --publish" }
                    ?? "the settings' trips.* are what is in force; publishing them would change nothing")
            return .done
        })

    private static func publish(_ settings: Settings, _ fromMs: Int64?) throws -> ExitCode {
        let outcome = try TripRulesPublication(settings: settings).publish(settings.tripRules(), fromMs: fromMs)
        guard outcome.told > 0 else {
            Out.result("the settings' trips.* are in force already, or come; nothing was published")
            return .done
        }
        if outcome.isLater {
            Out.result(
                "it was asked for from \(UTC.text(fromMs!)) on: no set can be in force sooner than a day after it is "
                    + "pushed, nor before one that is on the log already")
        }
        Out.result(
            "in force for trips that begin from \(UTC.text(outcome.fromMs)) on, put on \(outcome.told) of "
                + "\(outcome.partitions) partitions of \(Topic.cars). Earlier trips stay as they are")
        return .done
    }
}
