internal import Basics
internal import Codecs
internal import Fleet

/// A signal's last value and its time, to compare with the next reading.
struct LastValue: Equatable, Sendable {
    var ts: Int64
    var value: Int64

    /// Not older than the hole limit: it still speaks for `now`.
    func isFresh(at now: Int64, _ rules: TripRules) -> Bool { now - ts <= rules.gapMs }
}

extension LastValue? {
    mutating func forget(before ts: Int64) {
        if let last = self, last.ts < ts { self = nil }
    }

    func pack(to out: inout [UInt8], before endMs: Int64) {
        guard let self else { return out.append(0) }
        out.append(1)
        out.appendZigzag(endMs - self.ts)
        out.appendZigzag(self.value)
    }

    init(_ reader: inout VarintReader, before endMs: Int64) throws(DecodeError) {
        self = nil
        guard try reader.byte() == 1 else { return }
        self = LastValue(ts: try reader.time(before: endMs), value: try reader.value())
    }
}

extension VarintReader {
    /// A time counted back from `endMs`.
    mutating func time(before endMs: Int64) throws(DecodeError) -> Int64 {
        let (ts, overflow) = endMs.subtractingReportingOverflow(try zigzag())
        guard !overflow, UTC.plausible.contains(ts) else { throw .packed("an impossible time") }
        return ts
    }

    /// A stored value: sums over a minute of them must not overflow.
    mutating func value() throws(DecodeError) -> Int64 {
        let value = try zigzag()
        guard Int32(exactly: value) != nil else { throw .packed("a value out of range") }
        return value
    }
}
