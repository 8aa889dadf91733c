/// The partition of a keyed record. One vehicle's records must all stand in one partition, or two owners would write its
/// rows; Kafka's producers put a key where the murmur2 hash of its bytes says (`DefaultPartitioner` of Apache Kafka,
/// `murmur2_random` of librdkafka), and so do ours.
public struct KeyPartitioner: Equatable, Sendable {
    public let partition: Int32
    /// How many partitions the topic has.
    public let count: Int32

    public init(partition: Int32, count: Int32) { (self.partition, self.count) = (partition, count) }

    public func holds(_ key: UnsafeRawBufferPointer) -> Bool {
        unsafe KeyPartitioner.partition(of: key, count: count) == partition
    }

    /// - Throws: `DecodeError.placeWrong` when the key belongs to another partition.
    public func check(_ key: UnsafeRawBufferPointer) throws(DecodeError) {
        let belongs = unsafe KeyPartitioner.partition(of: key, count: count)
        if belongs != partition { throw .placeWrong(belongs: belongs) }
    }

    public static func partition(of key: UnsafeRawBufferPointer, count: Int32) -> Int32 {
        unsafe Int32(murmur2(key) & 0x7fff_ffff) % count
    }

    /// Austin Appleby's MurmurHash2 with the seed that Kafka took.
    package static func murmur2(_ key: UnsafeRawBufferPointer) -> UInt32 {
        let (factor, shift): (UInt32, UInt32) = (0x5bd1_e995, 24)
        var hash = 0x9747_b28c ^ UInt32(truncatingIfNeeded: key.count)
        let tail = key.count & ~3
        for index in stride(from: 0, to: tail, by: 4) {
            var word = unsafe UInt32(littleEndian: key.loadUnaligned(fromByteOffset: index, as: UInt32.self)) &* factor
            word ^= word >> shift
            hash = (hash &* factor) ^ (word &* factor)
        }
        if tail < key.count {
            for index in stride(from: key.count - 1, through: tail, by: -1) {
                hash ^= unsafe UInt32(key[index]) << UInt32((index - tail) * 8)
            }
            hash &*= factor
        }
        hash = (hash ^ (hash >> 13)) &* factor
        return hash ^ (hash >> 15)
    }
}
