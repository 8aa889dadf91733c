import App
import Basics
import Codecs
import Fleet
import Formats
import Foundation
import Kafka
import Postgres
import Reports
import Settings
import Storage
import Telemetry
import Worker

extension Command {
    static let quarantine = Command(
        name: "quarantine", operands: "list | retry (VEHICLE | --all)",
        summary:
            "Vehicles that are set apart because the database refuses them: which and why, and back among the others of their "
            + "partition when that is mended.",
        options: [
            .init("--all", nil, "retry: every vehicle, one after the other"),
            .init("--rest", nil, "retry: also where the topic does not have all of their records any more"),
            .init("--format", "F", "list: table or json (default table)"),
        ] + SettingsSource.options,
        example: "drover quarantine retry tractor-7",
        run: { arguments in
            let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
            let (words, isAll) = (arguments.operands, arguments.has("--all"))
            switch words.first {
            case "list" where words.count == 1:
                let connection = try Connection(conninfo: SettingsSource.load(arguments).text("postgres.url"))
                let held = try QuarantineStore.list(on: connection)
                Out.result(isJSON ? JSONValue.list(held.map(\.json)).rendered(indent: true) : table(held).text())
                return .done
            case "retry" where words.count == (isAll ? 1 : 2):
                var vehicle: VehicleID?
                if !isAll {
                    guard let named = VehicleID(words[1]) else { throw UsageError("\(words[1]): is no vehicle's id") }
                    vehicle = named
                }
                Signals.install()
                try CommandAudit.note(.quarantineRetried, arguments, [("vehicle", vehicle?.text ?? "all")])
                return try retry(SettingsSource.load(arguments), vehicle, takesRest: arguments.has("--rest"))
            default: throw UsageError("say `list`, `retry VEHICLE` or `retry --all`")
            }
        })

    private static func table(_ held: [QuarantineStore.Held]) -> Table {
        var table = Table(["topic", "partition", "vehicle", "since", "offset", "reason"])
        for each in held {
            table.rows.append([
                each.partition.topic, String(each.partition.partition), each.vehicle.text, UTC.text(each.heldMs),
                String(each.progress.nextOffset), each.reason,
            ])
        }
        return table
    }

    /// - Parameter vehicle: nil: all.
    private static func retry(_ settings: Settings, _ vehicle: VehicleID?, takesRest: Bool) throws -> ExitCode {
        let connection = try Connection(conninfo: settings.text("postgres.url"))
        let held = try QuarantineStore.list(on: connection).filter { vehicle == nil || $0.vehicle == vehicle }
        if let vehicle, held.isEmpty { throw Failure("\(vehicle) is not in quarantine: drover quarantine list") }
        let back = try QuarantineReturn(
            ServiceRoles.workerSettings(
                settings, kafka: try settings.kafka(clientID: "drover-quarantine"), instanceID: nil),
            log: ServiceRoles.log
        ) { StopFlag.isSet }
        var refused = 0
        for each in held {
            var saidMs = Clock.steadyMs()
            let outcome: QuarantineReturn.Outcome
            do {
                outcome = try back.run(each.vehicle, each.partition, takesRest: takesRest) { done, total in
                    guard Clock.steadyMs() - saidMs >= 5_000 else { return }
                    saidMs = Clock.steadyMs()
                    Out.note("\(each.vehicle): \(done) of \(total) records of its partition")
                }
            } catch let fault as QuarantineReturn.Fault where vehicle == nil {
                // The others' records may be there.
                Out.note("\(fault)")
                refused += 1
                continue
            }
            switch outcome {
            case .isBack: Out.note("\(each.vehicle): is back among the others of \(each.partition)")
            case .refused(let reason):
                refused += 1
                Out.note("\(each.vehicle): stays in quarantine: \(reason)")
            case .stopped:
                Out.note("\(each.vehicle): stopped; the same command goes on from here")
                return .failed
            }
        }
        if held.isEmpty { Out.note("no vehicle is in quarantine") }
        return refused == 0 ? .done : .failed
    }
}

extension QuarantineStore.Held {
    fileprivate var json: JSONValue {
        .object([
            ("topic", .text(partition.topic)), ("partition", .integer(Int64(partition.partition))),
            ("vehicle", .text(vehicle.text)), ("since", .text(UTC.text(heldMs))),
            ("offset", .integer(progress.nextOffset)), ("reason", .text(reason)),
        ])
    }
}
