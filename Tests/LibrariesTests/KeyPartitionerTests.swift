import CRdkafka
import Codecs
import SimKit
import Testing

/// A key's partition, against Kafka's own vectors and against librdkafka's partitioner.
struct KeyPartitionerTests {
    /// From Apache Kafka's `UtilsTest.testMurmur2`.
    @Test(
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
        ] as [(String, Int32)])
    func asKafkaHashes(_ key: String, _ hash: Int32) {
        #expect(
            unsafe Array(key.utf8).withUnsafeBytes { unsafe KeyPartitioner.murmur2($0) } == UInt32(bitPattern: hash))
    }

    @Test func asLibrdkafkaPlaces() {
        var chance = SeededChance(seed: 7)
        for _ in 0..<20_000 {
            let key = chance.bytes(chance.below(40))
            let count = Int32(1 + chance.below(300))
            unsafe key.withUnsafeBytes { bytes in
                let theirs = unsafe rd_kafka_msg_partitioner_murmur2(
                    nil, bytes.baseAddress, bytes.count, count, nil, nil)
                #expect(unsafe KeyPartitioner.partition(of: bytes, count: count) == theirs)
            }
        }
    }
}
