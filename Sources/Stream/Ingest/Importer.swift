internal import Codecs
package import Fleet
package import Kafka

/// Pushes recorded readings to a topic and ends with a tick in every partition, which closes what they brought.
/// Nothing is reported as done before the broker has acknowledged it.
package final class Importer {
    package struct Counts: Equatable, Sendable {
        package var readings = 0
        package var ticks = 0
    }

    private let producer: Producer
    private let topic: String
    package private(set) var counts = Counts()

    /// Readings and ticks that the broker has acknowledged so far.
    package var acknowledged: Int { producer.delivered }

    package init(_ settings: KafkaSettings, topic: String) throws {
        producer = try Producer(settings)
        self.topic = topic
    }

    package func push(car vehicle: VehicleID, _ reading: CarReading, id: String) throws {
        try push(key: vehicle, RecordWriter.car(vehicle, reading, id: id))
    }

    /// A machine's reading goes on as it stands in the file, once the caller has checked it.
    package func push(machine vehicle: VehicleID, json: [UInt8]) throws { try push(key: vehicle, json) }

    /// A campus's record goes on as it stands in the file, once the caller has checked it.
    package func push(campus: VehicleID, json: [UInt8]) throws { try push(key: campus, json) }

    /// A survey's record, once the caller has checked it.
    package func push(site: VehicleID, json: [UInt8]) throws { try push(key: site, json) }

    /// A tour's event, once the caller has checked it.
    package func push(tour: VehicleID, json: [UInt8]) throws { try push(key: tour, json) }

    /// A record that nobody can decode, for tests of what becomes of it.
    package func push(garbled vehicle: VehicleID) throws { try push(key: vehicle, Array("{\"schema\":1,".utf8)) }

    private func push(key: VehicleID, _ value: [UInt8]) throws {
        try producer.produce(topic: topic, partition: nil, key: Array(key.text.utf8), value: value, timestampMs: nil)
        counts.readings += 1
    }

    /// Everything that was pushed is acknowledged.
    package func flush() throws { try producer.flush(timeoutMs: 60_000) }

    /// Precondition: everything that the tick closes was pushed before.
    package func finish(tickMs: Int64) throws {
        try producer.flush(timeoutMs: 60_000)
        let partitions = try producer.partitionCount(of: topic, timeoutMs: 10_000) ?? 0
        for partition in 0..<Int32(partitions) {
            try producer.produce(
                topic: topic, partition: partition, key: [], value: RecordWriter.tick(tickMs, by: "import.file"),
                timestampMs: nil)
            counts.ticks += 1
        }
        try producer.flush(timeoutMs: 60_000)
    }
}
