import App
import Basics
import Codecs
import Fleet
import Foundation
import Ingest
import Kafka
import Postgres
import Settings
import Storage
import Telemetry

/// Puts what a person says on the log, and waits until it is in the database.
struct ActionPush {
    let settings: Settings
    /// The topic of the vehicle's kind.
    var topic = Topic.machines

    static let options: [Command.Option] = [
        .init("--by", "NAME", "who says it (default: the login's name, or operator)"),
        .init("--note", "TEXT", "a remark"),
        .init("--at", "TIME", "when it was done (2026-11-21T08:00:00Z; default: now)"),
    ]

    /// The id, time and author of an action, as typed.
    static func head(_ arguments: Arguments) throws -> (id: String, ts: Int64, by: String) {
        var ts = Clock.nowMs()
        if let text = arguments.text("--at") {
            guard let time = UTC.parse(text) else {
                throw UsageError("--at \(text): must be a time with its zone, like 2026-11-21T08:00:00Z")
            }
            ts = time
        }
        let by = arguments.text("--by") ?? Terminal.login
        guard !by.isEmpty else { throw UsageError("say who: --by NAME") }
        return ("a-" + UUID().uuidString.lowercased(), ts, by)
    }

    static func action(_ arguments: Arguments, vehicle: VehicleID?, kind: Action.Kind) throws -> Action {
        let (id, ts, by) = try head(arguments)
        let note = arguments.text("--note").flatMap { $0.isEmpty ? nil : $0 }
        return Action(id: id, vehicle: vehicle, ts: ts, by: by, note: note, kind: kind)
    }

    /// One that was typed; says what became of it.
    func push(_ action: Action) throws { say(try push([action])) }

    /// One of a campus; says what became of it.
    func push(_ record: RideRecord) throws {
        let (key, value) = (Array(record.campus.utf8), RideRecords.encode(record))
        // What the worker would refuse is refused here.
        _ = try unsafe TickOrRecord(value, key: key, RideRecords.decode)
        say(try push([(key, value)]))
    }

    /// The same of one that was decoded from what was typed.
    func pushChecked(_ record: RideRecord) throws {
        say(try push([(Array(record.campus.utf8), RideRecords.encode(record))]))
    }

    /// One of a survey; whether a worker has taken it within 10 s.
    func push(_ record: SurveyRecord) throws -> Bool {
        try push([(Array(record.site.utf8), SurveyRecords.encode(record))])
    }

    /// One for a partition; says what became of it.
    func push(_ value: [UInt8], to partition: Int32) throws {
        let kafka = try settings.kafka(clientID: "drover-action")
        let producer = try Producer(kafka)
        try producer.produce(topic: topic, partition: partition, key: [], value: value, timestampMs: nil)
        try producer.flush(timeoutMs: 30_000)
        say(try wait(for: [partition], kafka))
    }

    func say(_ isTaken: Bool, done: String = "done") {
        Out.note(
            isTaken
                ? done
                : "it is on the log and counts; no worker has taken it within 10 s. Is one up? See `drover offsets show`"
        )
    }

    /// Whether a worker has taken them all within 10 s.
    func push(_ actions: [Action]) throws -> Bool {
        try push(
            actions.map { action in
                let value = RecordWriter.action(action)
                // What the worker would refuse is refused here.
                _ = try RecordDecoder().decode(line: value, isMachine: topic == Topic.machines)
                return (action.vehicle.map { Array($0.text.utf8) }, value)
            })
    }

    /// Without a key it goes to every partition.
    private func push(_ records: [(key: [UInt8]?, value: [UInt8])]) throws -> Bool {
        let kafka = try settings.kafka(clientID: "drover-action")
        let topics = try Topics.ensure(kafka, settings.topicShape)
        guard let count = topics[topic] else { throw Failure("the topic \(topic) is not there") }
        let producer = try Producer(kafka)
        var written: Set<Int32> = []
        for (key, value) in records {
            let partitions =
                key.map { [unsafe $0.withUnsafeBytes { unsafe KeyPartitioner.partition(of: $0, count: count) }] }
                ?? Array(0..<count)
            for partition in partitions {
                try producer.produce(
                    topic: topic, partition: partition, key: key ?? [], value: value, timestampMs: nil)
            }
            written.formUnion(partitions)
        }
        try producer.flush(timeoutMs: 30_000)
        return try wait(for: written.sorted(), kafka)
    }

    /// Waits until what is said of the vehicle so far is in the database: a record that says all of a thing is made from it.
    func settle(_ vehicle: VehicleID) throws {
        let kafka = try settings.kafka(clientID: "drover-action")
        let topics = try Topics.ensure(kafka, settings.topicShape)
        guard let count = topics[topic] else { throw Failure("the topic \(topic) is not there") }
        let key = Array(vehicle.text.utf8)
        let partition = unsafe key.withUnsafeBytes { unsafe KeyPartitioner.partition(of: $0, count: count) }
        guard try wait(for: [partition], kafka) else {
            throw Failure(
                "\(vehicle): the workers have not taken what was said before, so a change could undo it. Is one up? See "
                    + "`drover offsets show`")
        }
    }

    private func wait(for partitions: [Int32], _ kafka: KafkaSettings) throws -> Bool {
        let reader = try RecordReader(kafka)
        let ends = try partitions.map {
            (partition: $0, offset: try reader.end(of: TopicPartition(topic: topic, partition: $0)))
        }
        let connection = try Connection(conninfo: settings.readerConninfo)
        let patience = Stopwatch()
        while patience.seconds < 10, !StopFlag.isSet {
            if try ProgressQueries.isTaken(topic, until: ends, on: connection) { return true }
            _ = StopFlag.wait(timeoutMs: 50)
        }
        return false
    }
}
