internal import Codecs
internal import Fleet

/// The readings of an open minute as they came, in few bytes: each is the step of its time since the one before, its
/// fields (left out when they are those of the one before) and its values. Memory only; never stored or sent.
struct SampleBag {
    var chain = ByteChains.Chain()
    private(set) var count: UInt32 = 0
    private var lastTs: Int64 = 0
    private var lastFlags: UInt32 = 0
    /// In the order of time, one a time: no sorting is needed.
    private(set) var isSorted = true

    private static let disputedBit: UInt32 = 1 << 31
    /// The count from which readings of one time are united: a minute has 60,000 milliseconds, so beyond it some share one.
    private static let fullCount: UInt32 = 60_000
    private var fullAt = SampleBag.fullCount
    var isFull: Bool { count >= fullAt }
    /// Notes that readings of one time are united: the bag is full again when it has doubled.
    mutating func wasCompacted() { fullAt = max(SampleBag.fullCount, 2 * count) }

    /// More than the largest reading takes.
    private static let readingBytesMax = (2 + Signal.slots) * VarintSink.bytesMax

    mutating func append(_ reading: CarReading, _ chains: inout ByteChains) {
        let flags = reading.mask | (reading.disputed ? SampleBag.disputedBit : 0)
        let step = reading.ts - lastTs
        if count > 0 && step <= 0 { isSorted = false }
        let isSame = count > 0 && flags == lastFlags
        chain = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SampleBag.readingBytesMax) { memory in
            var sink = unsafe VarintSink(memory.baseAddress!)
            sink.put(SampleBag.zigzag(step) << 1 | (isSame ? 0 : 1))
            if !isSame { sink.put(UInt64(flags)) }
            var rest = reading.mask
            while rest != 0 {
                let slot = rest.trailingZeroBitCount
                rest &= rest - 1
                sink.put(SampleBag.coded(reading.value(inSlot: slot)))
            }
            var grown = chain
            unsafe chains.append(UnsafeRawBufferPointer(start: memory.baseAddress!, count: sink.count), to: &grown)
            return grown
        }
        (lastTs, lastFlags, count) = (reading.ts, flags, count + 1)
    }

    /// The first `prefix` readings, in the order in which they came.
    func readings(_ chains: ByteChains, prefix: Int, scratch: inout [UInt8], into out: inout [CarReading]) {
        out.removeAll(keepingCapacity: true)
        chains.read(chain, into: &scratch)
        unsafe scratch.withUnsafeBufferPointer { bytes in
            var (at, ts, flags): (Int, Int64, UInt32) = (0, 0, 0)
            for _ in 0..<min(prefix, Int(count)) {
                let head = unsafe SampleBag.varint(bytes, &at)
                ts += SampleBag.unzigzag(head >> 1)
                if head & 1 != 0 { flags = unsafe UInt32(SampleBag.varint(bytes, &at)) }
                var reading = CarReading(ts: ts)
                reading.disputed = flags & SampleBag.disputedBit != 0
                var rest = flags & ~SampleBag.disputedBit
                while rest != 0 {
                    let slot = rest.trailingZeroBitCount
                    rest &= rest - 1
                    reading.setValue(unsafe SampleBag.value(bytes, &at), inSlot: slot)
                }
                out.append(reading)
            }
        }
    }

    mutating func clear(_ chains: inout ByteChains) {
        chains.clear(&chain)
        self = SampleBag()
    }

    // Whole units are the most frequent: thousandths are written only where there are some.
    private static func coded(_ value: Int32) -> UInt64 {
        let (whole, rest) = value.quotientAndRemainder(dividingBy: 1_000)
        return rest == 0 ? zigzag(Int64(whole)) << 1 : zigzag(Int64(value)) << 1 | 1
    }

    private static func value(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Int32 {
        let raw = unsafe varint(bytes, &at)
        let value = unzigzag(raw >> 1)
        return Int32(truncatingIfNeeded: raw & 1 == 0 ? value * 1_000 : value)
    }

    private static func varint(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            precondition(at < bytes.count)
            let byte = unsafe bytes[at]
            at += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    private static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }
    private static func unzigzag(_ raw: UInt64) -> Int64 { Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1) }
}
