internal import Basics
public import Fleet

/// The readings of one minute as bytes: what the database keeps and everything is recomputed from.
///
/// Version 1: `1`, count, then times (the first since the minute's start, the others since the one before), then
/// runs of (mask with the disputed flag in bit 31, length), then for each signal that occurs, in the order of
/// `Signal`, its values as zigzag differences. All numbers are LEB128 varints. docs/packed-samples.md has an example.
public enum PackedSamples {
    static let version: UInt8 = 1
    /// A minute has at most one reading a millisecond.
    static let countMax = 60_000
    static let disputedBit: UInt64 = 1 << 31

    /// Precondition: `readings` are sorted, one a time, all in the minute that starts at `minuteMs`.
    public static func encode(_ readings: [CarReading], minuteMs: Int64) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(16 + readings.count * 8)
        encode(readings, minuteMs: minuteMs, into: &out)
        return out
    }

    /// The same, appended.
    public static func encode(_ readings: [CarReading], minuteMs: Int64, into out: inout [UInt8]) {
        var (any, values): (UInt32, Int) = (0, 0)
        for index in readings.indices {
            any |= readings[index].mask
            values += readings[index].mask.nonzeroBitCount
        }
        // Version and count; a time, and at worst a mask and a run, a reading; the values. Each at most a varint.
        let most = (2 + readings.count * 3 + values) * VarintSink.bytesMax
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most) { memory in
            var sink = unsafe VarintSink(memory.baseAddress!)
            sink.put(UInt64(version))
            sink.put(UInt64(readings.count))
            var last = minuteMs
            for index in readings.indices {
                let ts = readings[index].ts
                precondition(ts >= last && ts - minuteMs < UTC.msPerMinute)
                sink.put(UInt64(ts - last))
                last = ts
            }
            putMasks(readings, &sink)
            while any != 0 {
                putColumn(slot: any.trailingZeroBitCount, readings, &sink)
                any &= any - 1
            }
            unsafe out.append(contentsOf: UnsafeBufferPointer(start: memory.baseAddress!, count: sink.count))
        }
    }

    private static func putMasks(_ readings: [CarReading], _ sink: inout VarintSink) {
        var at = 0
        while at < readings.count {
            let mask = flags(readings[at])
            var end = at + 1
            while end < readings.count, flags(readings[end]) == mask { end += 1 }
            sink.put(mask)
            sink.put(UInt64(end - at))
            at = end
        }
    }

    private static func flags(_ reading: CarReading) -> UInt64 {
        UInt64(reading.mask) | (reading.disputed ? disputedBit : 0)
    }

    private static func putColumn(slot: Int, _ readings: [CarReading], _ sink: inout VarintSink) {
        var last: Int64 = 0
        for index in readings.indices where readings[index].mask & (1 << UInt32(slot)) != 0 {
            let value = Int64(readings[index].value(inSlot: slot))
            sink.putZigzag(value - last)
            last = value
        }
    }

    public static func decode(_ bytes: [UInt8], minuteMs: Int64) throws(DecodeError) -> [CarReading] {
        var reader = VarintReader(bytes)
        guard try reader.byte() == version else { throw .packed("unknown version") }
        let count = try reader.varint()
        guard count <= countMax else { throw .packed("\(count) readings in a minute") }
        var readings: [CarReading] = []
        readings.reserveCapacity(Int(count))
        var ts = minuteMs
        for index in 0..<count {
            let step = try reader.varint()
            guard step < UInt64(UTC.msPerMinute), index == 0 || step > 0 else { throw .packed("times out of order") }
            ts += Int64(step)
            guard ts - minuteMs < UTC.msPerMinute else { throw .packed("a time outside the minute") }
            readings.append(CarReading(ts: ts))
        }
        let masks = try decodeMasks(&reader, count: Int(count))
        for signal in Signal.allCases { try decodeColumn(signal, masks, &reader, &readings) }
        guard reader.atEnd else { throw .packed("bytes after the end") }
        return readings
    }

    private static func decodeMasks(_ reader: inout VarintReader, count: Int) throws(DecodeError) -> [UInt64] {
        var masks: [UInt64] = []
        masks.reserveCapacity(count)
        while masks.count < count {
            let mask = try reader.varint()
            let length = try reader.varint()
            guard length > 0, length <= UInt64(count - masks.count), mask <= UInt64(UInt32.max),
                mask & ~disputedBit < 1 << UInt64(Signal.allCases.count)
            else { throw .packed("masks do not fit") }
            masks.append(contentsOf: repeatElement(mask, count: Int(length)))
        }
        return masks
    }

    private static func decodeColumn(
        _ signal: Signal, _ masks: [UInt64], _ reader: inout VarintReader, _ readings: inout [CarReading]
    ) throws(DecodeError) {
        var last: Int64 = 0
        for (index, mask) in masks.enumerated() {
            readings[index].disputed = mask & disputedBit != 0
            guard mask & (1 << UInt64(signal.rawValue)) != 0 else { continue }
            let step = try reader.zigzag()
            let (value, overflow) = last.addingReportingOverflow(step)
            guard !overflow, let stored = Int32(exactly: value) else { throw .packed("a value out of range") }
            readings[index][signal] = stored
            last = value
        }
    }
}
