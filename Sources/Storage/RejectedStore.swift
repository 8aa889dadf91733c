package import Kafka
package import Postgres

/// A record that could not be decoded, with enough of it to recognise it by.
package struct RejectedRecord: Sendable {
    /// Little enough that a burst of rubbish fills no disk.
    package static let firstBytesMax = 256

    package let partition: TopicPartition
    package let offset: Int64
    package let reason: String
    package let firstBytes: [UInt8]

    package init(partition: TopicPartition, offset: Int64, reason: String, firstBytes: [UInt8]) {
        (self.partition, self.offset, self.reason, self.firstBytes) = (partition, offset, reason, firstBytes)
    }
}

/// What could not be decoded.
package enum RejectedStore {
    private static let table = StagedTable(
        name: "rejected", columns: ["topic", "partition", "record_offset", "reason", "first_bytes"],
        key: ["topic", "partition", "record_offset"])

    package static func prepare(_ connection: Connection) throws { try connection.execute(table.create) }

    package static func write(_ rejected: [RejectedRecord], on connection: Connection) throws {
        try table.write(rejected, on: connection) { (record, copy: inout BinaryCopy) in
            copy.text(record.partition.topic)
            copy.int4(record.partition.partition)
            copy.int8(record.offset)
            copy.text(record.reason)
            copy.bytea(record.firstBytes)
        }
    }
}
