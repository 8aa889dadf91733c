import Codecs
import Fleet
import Pipeline
import SimKit
import Testing

/// One partition's log: which offsets hold rubbish.
private struct Rubbish {
    let offset: Int64
    var error: DecodeError { .schemaUnknown(offset) }
    var bytes: [UInt8] {
        Array("rubbish \(offset) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: offset), count: 300)
    }
    var pushedMs: Int64 { 1_790_000_000_000 + offset }
}

/// The table and the topic, as the worker's transactions leave them.
private struct Stored {
    var rows: [Int64: RejectedLog.Row] = [:]
    var told: [RejectedLog.Row] = []

    mutating func commit(_ log: inout RejectedLog, _ nextOffset: Int64) {
        let changes = log.drainChanges(nextOffset: nextOffset)
        for row in changes.rows { rows[row.offset] = row }
        told += changes.told
    }

    func resume(_ nextOffset: Int64) -> RejectedLog {
        let range = RejectedLog.blockRange(nextOffset)
        return RejectedLog(nextOffset: nextOffset, stored: rows.values.filter { range.contains($0.offset) })
    }
}

extension RejectedLog {
    fileprivate mutating func take(_ record: Rubbish) {
        unsafe record.bytes.withUnsafeBytes {
            unsafe add(offset: record.offset, pushedMs: record.pushedMs, value: $0, error: record.error)
        }
    }
}

struct RejectedLogTests {
    private static let end: Int64 = 20_000

    /// Sparse rubbish, a burst over a block's edge, and a block with exactly as many as have rows of their own.
    private func records(seed: UInt64) -> [Rubbish] {
        var chance = SeededChance(seed: seed)
        var offsets: Set<Int64> = Set(3_900..<4_700)
        offsets.formUnion(8_192..<8_192 + 64)
        offsets.formUnion(12_288..<12_288 + 65)
        for _ in 0..<200 { offsets.insert(chance.below(Self.end)) }
        return offsets.sorted().map(Rubbish.init)
    }

    private func inOneGo(_ records: [Rubbish]) -> Stored {
        var (stored, log) = (Stored(), RejectedLog(nextOffset: 0, stored: []))
        for record in records { log.take(record) }
        stored.commit(&log, Self.end)
        return stored
    }

    @Test(arguments: 0..<60) func `any batches, restarts and rewinds give the same rows`(seed: UInt64) {
        let records = records(seed: seed)
        let expected = inOneGo(records)
        var chance = SeededChance(seed: seed &+ 1_000)
        var stored = Stored()
        var (at, log): (Int64, RejectedLog) = (0, RejectedLog(nextOffset: 0, stored: []))
        var rewinds = 0
        while at < Self.end {
            let next = min(Self.end, at + 1 + chance.below(1_500))
            for record in records where (at..<next).contains(record.offset) { log.take(record) }
            switch chance.below(10) {
            case 0:  // Killed before the commit.
                log = stored.resume(at)
            case 1 where rewinds < 3:  // Written, and read again from further back.
                stored.commit(&log, next)
                rewinds += 1
                at = chance.below(next)
                log = stored.resume(at)
            case 2, 3:  // Another worker goes on.
                stored.commit(&log, next)
                at = next
                log = stored.resume(at)
            default:
                stored.commit(&log, next)
                at = next
            }
        }
        // Offsets, not rows: a failure must stay readable.
        #expect(Set(stored.rows.keys) == Set(expected.rows.keys))
        #expect(expected.rows.filter { stored.rows[$0.key] != $0.value }.keys.sorted() == [])
        // Told at least once, each as it finally stands.
        let told = Dictionary(stored.told.map { ($0.offset, $0) }) { $1 }
        #expect(Set(told.keys) == Set(expected.told.map(\.offset)))
        #expect(expected.told.filter { told[$0.offset] != $0 }.map(\.offset) == [])
        if rewinds == 0 { #expect(stored.told.count == expected.told.count) }
    }

    @Test func `a burst makes 65 rows a block, and its count says all of it`() {
        let stored = inOneGo((0..<8_192).map(Rubbish.init))
        #expect(stored.rows.count == 130 && stored.told.count == 130)
        let count = stored.rows[64]
        #expect(count?.records == 4_096 - 64 && count?.lastOffset == 4_095)
        #expect(count?.reason == DecodeError.schemaUnknown(4_095).description)
        #expect(count?.firstBytes == Array(Rubbish(offset: 64).bytes.prefix(256)))
    }

    @Test func `a count is told when the log passes its block, rejected records or not`() {
        var (stored, log) = (Stored(), RejectedLog(nextOffset: 0, stored: []))
        for offset: Int64 in 0..<100 { log.take(Rubbish(offset: offset)) }
        stored.commit(&log, 4_095)
        #expect(stored.told.count == 64)
        log = stored.resume(4_095)
        stored.commit(&log, 4_096)
        #expect(stored.told.count == 65 && stored.told.last?.records == 36)
        stored.commit(&log, 9_000)
        #expect(stored.told.count == 65)
    }

    @Test func `stamps that PostgreSQL could not hold are left out`() {
        var log = RejectedLog(nextOffset: 0, stored: [])
        for (offset, stamp) in [(Int64(0), Int64(-1)), (1, .max), (2, .min), (3, 1_790_000_000_000)] {
            unsafe log.add(offset: offset, pushedMs: stamp, value: nil, error: .tombstone)
        }
        #expect(log.drainChanges(nextOffset: 4).rows.map(\.pushedMs) == [nil, nil, nil, 1_790_000_000_000])
    }
}
