import App
import Basics
import Codecs
import Emulators
import Fleet
import Foundation
import Ingest
import Kafka
import Postgres
import Reports
import Settings
import Storage
import Telemetry

/// An emulated campus for `drover up --sample`: its riders and drivers talk through the topic, its vehicles drive on streets along the
/// itineraries that the worker commits. Yesterday goes by as fast as the worker decides, then today as days do.
struct SampleCampus {
    static let campus = "city-campus"
    private static let seed: UInt64 = 6

    private let settings: Settings
    private let producer: Producer
    private let reader: RecordReader
    private let partition: TopicPartition
    private let connection: Connection
    private let streets: Streets

    init(_ settings: Settings) throws {
        self.settings = settings
        let kafka = try settings.kafka(clientID: "drover-sample")
        let topics = try Topics.ensure(kafka, settings.topicShape)
        guard let count = topics[Topic.dispatch] else { throw Failure("the topic \(Topic.dispatch) is not there") }
        let number = unsafe Array(SampleCampus.campus.utf8).withUnsafeBytes {
            unsafe KeyPartitioner.partition(of: $0, count: count)
        }
        partition = TopicPartition(topic: Topic.dispatch, partition: number)
        producer = try Producer(kafka)
        reader = try RecordReader(kafka)
        connection = try Connection(conninfo: settings.text("postgres.reader_url"))
        streets = try SampleDrives.streets()
    }

    /// `failure` says when a server ended by itself: then there is nothing to wait for.
    func play(isQuiet: Bool = false, failure: () -> String?) throws {
        let startMs = Clock.steadyMs()
        // Yesterday from two in the afternoon on, UTC.
        let dayMs = UTC.day(of: Clock.nowMs()) - UTC.msPerDay + 14 * 3_600_000
        var day = EmulatedCampus(campus: SampleCampus.campus, seed: SampleCampus.seed, startMs: dayMs, streets: streets)
        _ = try PersonStore.update(
            day.roster, campus: SampleCampus.campus, disablesMissing: false,
            on: Connection(conninfo: settings.text("postgres.owner_url")))
        try say(day.opening(), failure)
        let progress = isQuiet ? nil : Progress("a day at \(SampleCampus.campus)", total: day.requestCount)
        var steps = 0
        while !StopFlag.isSet, let records = day.step(try plan()) {
            try say(records, failure)
            progress?.step(steps)
            steps += 1
        }
        progress?.end()
        guard !StopFlag.isSet, !isQuiet else { return }
        Out.note("a day at \(SampleCampus.campus): \(steps) moments in \(Clock.steadyMs() - startMs) ms")
    }

    /// Today, until the process is to stop.
    /// - Parameter isNew: nothing was said of today: half an hour of it has gone by when somebody looks.
    func live(isNew: Bool, failure: () -> String?, shouldStop: () -> Bool) throws {
        var agoMs = isNew ? SampleCampus.agoMs : 0
        while !shouldStop() {
            let startMs = Clock.nowMs() - agoMs
            // The next day begins when this one ends.
            agoMs = 0
            var day = EmulatedCampus(
                campus: SampleCampus.campus, seed: UInt64(startMs / 1_000), startMs: startMs, streets: streets,
                prefix: "live-\(startMs / 1_000)-")
            try say(day.sweep(try plan()), patienceMs: SampleCampus.livePatienceMs, failure)
            while !shouldStop() {
                let nowMs = Clock.nowMs()
                if day.nowMs >= nowMs - SampleCampus.turnMs / 2 {
                    _ = StopFlag.wait(timeoutMs: Int(SampleCampus.turnMs))
                }
                guard let records = day.step(try plan(), until: Clock.nowMs()) else { break }
                try say(records, patienceMs: SampleCampus.livePatienceMs, failure)
            }
        }
    }

    private static let agoMs: Int64 = 30 * 60_000
    /// Vehicles say that often where they are.
    private static let turnMs: Int64 = 5_000
    /// A pause of the worker's does not end the sample.
    private static let livePatienceMs: Int64 = 600_000

    /// Pushes what is said and waits until it is decided and written.
    private func say(
        _ records: [RideRecord], patienceMs: Int64 = 30_000, _ failure: () -> String?
    ) throws {
        for record in records {
            try producer.produce(
                topic: Topic.dispatch, partition: partition.partition, key: Array(record.campus.utf8),
                value: RideRecords.encode(record), timestampMs: nil)
        }
        try producer.flush(timeoutMs: 30_000)
        let end = try reader.end(of: partition)
        let deadlineMs = Clock.steadyMs() + patienceMs
        while !StopFlag.isSet {
            let isTaken = try ProgressQueries.isTaken(
                Topic.dispatch, until: [(partition: partition.partition, offset: end)], on: connection)
            if isTaken { return }
            if let failure = failure() { throw Failure(failure) }
            guard Clock.steadyMs() < deadlineMs else {
                throw Failure(
                    "the worker has not taken the sample's campus within \(patienceMs / 1_000) s; its log says why")
            }
            _ = StopFlag.wait(timeoutMs: 3)
        }
    }

    private func plan() throws -> EmulatedCampus.Plan {
        var plan = EmulatedCampus.Plan()
        plan.stops = try CampusQueries.stops(of: SampleCampus.campus, on: connection).mapValues { stops in
            stops.map { EmulatedCampus.Stop(request: String($0.dropLast(2)), isPickup: $0.hasSuffix(" p")) }
        }
        for ride in try CampusQueries.openRides(of: SampleCampus.campus, on: connection) {
            plan.outstanding.insert(ride.request)
            if ride.isOnBoard { plan.onBoard.insert(ride.request) }
            plan.places[.init(request: ride.request, isPickup: true)] = ride.from
            plan.places[.init(request: ride.request, isPickup: false)] = ride.to
        }
        return plan
    }

    /// Shows what came of the day.
    func show() throws {
        let output = try QueryOutput(
            connection.query(Home.reportQueries()["campus_day"], [.text(SampleCampus.campus)]))
        guard output.count > 0 else { return }
        Out.result("\nRides at \(SampleCampus.campus)\n" + output.table.text() + "\n")
    }
}
