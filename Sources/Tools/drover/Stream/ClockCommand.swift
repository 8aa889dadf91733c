import App
import Basics
import Codecs
import Fleet
import Formats
import Foundation
import Ingest
import Kafka
import Pipeline
import Postgres
import Reports
import Settings
import Storage

extension Command {
    static let clock = Command(
        name: "clock", operands: "show|set-back [options]",
        summary: "The partitions' clocks, which ticks make; `set-back` puts one back that a wrong clock has moved.",
        options: [
            .init("--topic", "TOPIC", "set-back: of which topic"),
            .init("--partition", "N", "set-back: of which partition"),
            .init("--to", "TIME", "set-back: what time it was (2026-11-21T08:00:00Z)"),
            .init("--reason", "TEXT", "set-back: why; it stands on the log"),
            .init("--by", "NAME", "set-back: who says it (default: the login's name, or operator)"),
            .init("--format", "F", "show: table or json (default table)"),
        ] + SettingsSource.options,
        example:
            "drover clock set-back --topic drover.machines --partition 3 --to 2026-11-21T08:00:00Z --reason 'NTP of gate-2'",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            switch arguments.operands {
            case ["show"]:
                let isJSON = try arguments.one("--format", of: ["table": false, "json": true], standard: "table")
                let clocks = try PartitionClocks(settings).all()
                Out.result(isJSON ? PartitionClocks.json(clocks) : PartitionClocks.table(clocks).text())
            case ["set-back"]: try setBack(arguments, settings)
            default: throw UsageError("say `show` or `set-back`")
            }
            return .done
        })

    private static let reasonBytesMax = 200

    private static func setBack(_ arguments: Arguments, _ settings: Settings) throws {
        guard let topic = arguments.text("--topic"), Topics.readings.contains(topic) else {
            throw UsageError("--topic: must be one of \(Topics.readings.joined(separator: ", "))")
        }
        guard let number = arguments.text("--partition").flatMap({ Int32($0) }), number >= 0 else {
            throw UsageError("--partition: must be the number of a partition")
        }
        guard let toMs = arguments.text("--to").flatMap({ UTC.parse($0) }), UTC.plausible.contains(toMs) else {
            throw UsageError("--to: must be a time with its zone, like 2026-11-21T08:00:00Z")
        }
        guard let reason = arguments.text("--reason"), (1...reasonBytesMax).contains(reason.utf8.count) else {
            throw UsageError("--reason: say why, in at most \(reasonBytesMax) bytes")
        }
        let (id, _, by) = try ActionPush.head(arguments)
        let place = TopicPartition(topic: topic, partition: number)
        guard let clock = try PartitionClocks(settings).all().first(where: { $0.partition == place }) else {
            throw Failure("\(place): no worker has read it yet. See `drover clock show`")
        }
        guard let clockMs = clock.clockMs, toMs < clockMs else {
            throw Failure(
                "\(place): its clock is \(clock.clockMs.map { UTC.text($0) } ?? "not set"): it is set back only, and ticks move it on"
            )
        }
        try CommandAudit.run(
            .clockSetBack, arguments, by: by,
            [
                ("topic", topic), ("partition", String(number)), ("from", UTC.text(clockMs)), ("to", UTC.text(toMs)),
                ("reason", reason), ("record", id),
            ]
        ) {
            try ActionPush(settings: settings, topic: topic).push(
                RecordWriter.clockSet(toMs, by: by, reason: reason, id: id), to: number)
        }
    }
}

/// The clocks as they stand beside the offsets.
struct PartitionClocks {
    typealias Clock = ProgressQueries.Clock

    private let connection: Connection

    init(_ settings: Settings) throws { connection = try Connection(conninfo: settings.text("postgres.url")) }

    func all() throws -> [Clock] { try ProgressQueries.clocks(on: connection) }

    static func table(_ clocks: [Clock]) -> Table {
        var table = Table(["topic", "partition", "clock", "a tick waits", "pushed", "by"])
        for clock in clocks {
            table.rows.append([
                clock.partition.topic, String(clock.partition.partition), clock.clockMs.map { UTC.text($0) },
                clock.waiting.map { UTC.text($0.ts) }, clock.waiting.map { UTC.text($0.pushedMs) },
                clock.waiting.map { $0.by.isEmpty ? "not said" : $0.by },
            ])
        }
        return table
    }

    static func json(_ clocks: [Clock]) -> String {
        JSONValue.list(
            clocks.map { clock in
                .object(
                    [
                        ("topic", .text(clock.partition.topic)),
                        ("partition", .integer(Int64(clock.partition.partition))),
                        ("clock", .optional(clock.clockMs.map { UTC.text($0) })),
                    ]
                        + (clock.waiting.map { waiting in
                            [
                                ("waits", .text(UTC.text(waiting.ts))), ("pushed", .text(UTC.text(waiting.pushedMs))),
                                ("by", .text(waiting.by)),
                            ]
                        } ?? []))
            }
        ).rendered(indent: true)
    }
}
