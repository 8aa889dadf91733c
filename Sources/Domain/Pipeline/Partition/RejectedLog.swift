internal import Basics
public import Codecs

/// Rejected records of one partition, as rows that a burst of rubbish cannot make many of: in each aligned
/// block of 4,096 offsets the first 64 rejected records have a row of their own, the others are counted in one row.
///
/// The rows are a function of the log alone: any split into batches, any restart and any repeat gives the same.
public struct RejectedLog: Sendable {
    public static let blockOffsets: Int64 = 4_096
    static let ownRowsMax = 64
    /// Enough to recognise a record by.
    public static let firstBytesMax = 256

    /// A row; its natural key is the partition and `offset`.
    public struct Row: Equatable, Sendable {
        /// The offset of the record, or of the first one counted here.
        public var offset: Int64
        /// The offset of the last one counted here.
        public var lastOffset: Int64
        public var records: Int64
        /// The reason of the last one.
        public var reason: String
        /// The first bytes of the first one.
        public var firstBytes: [UInt8]
        /// The log's own stamp of the last one, epoch milliseconds; nil where the log has none.
        public var pushedMs: Int64?

        public init(
            offset: Int64, lastOffset: Int64, records: Int64, reason: String, firstBytes: [UInt8], pushedMs: Int64?
        ) {
            (self.offset, self.lastOffset, self.records) = (offset, lastOffset, records)
            (self.reason, self.firstBytes, self.pushedMs) = (reason, firstBytes, pushedMs)
        }
    }

    /// Rows and counts that a commit writes.
    public struct Changes: Equatable, Sendable {
        /// Absolute rows, to be upserted.
        public var rows: [Row] = []
        /// Rows that will not change any more: they leave through the outbox. Repeats carry the same key.
        public var told: [Row] = []
        public init() {}
    }

    /// The block that is being filled: its number, how many rows of their own it has, and its count.
    private var block: Int64 = -1
    private var ownRows = 0
    private var count: Row?
    /// The last rejected record's offset: what comes again was taken before.
    private var lastOffset: Int64 = -1
    /// Why the last counted record was rejected; made into text once a commit, not once a record.
    private var lastError: DecodeError?
    private var isCountChanged = false
    private var changes = Changes()

    /// A partition that is read on from `nextOffset`, with the rows of that offset's block (`blockRange`) as they are
    /// stored.
    public init(nextOffset: Int64, stored: [Row]) {
        block = RejectedLog.block(nextOffset)
        let rows = stored.filter { RejectedLog.block($0.offset) == block }.sorted { $0.offset < $1.offset }
        ownRows = min(rows.count, RejectedLog.ownRowsMax)
        count = rows.count > RejectedLog.ownRowsMax ? rows[RejectedLog.ownRowsMax] : nil
        lastOffset = rows.map(\.lastOffset).max() ?? -1
    }

    /// The offsets whose rows `init` wants.
    public static func blockRange(_ nextOffset: Int64) -> Range<Int64> {
        let start = block(nextOffset) * blockOffsets
        return start..<start + blockOffsets
    }

    private static func block(_ offset: Int64) -> Int64 { offset / blockOffsets }

    /// A record that could not be decoded; `value` nil: a tombstone. Offsets come in ascending order, but for a block
    /// that is read again. Beyond a block's first 64 nothing is allocated.
    public mutating func add(
        offset: Int64, pushedMs: Int64, value: UnsafeRawBufferPointer?, error: DecodeError
    ) {
        let block = RejectedLog.block(offset)
        if block != self.block { open(block) }
        guard offset > lastOffset else { return }
        lastOffset = offset
        if ownRows < RejectedLog.ownRowsMax {
            ownRows += 1
            let row = unsafe RejectedLog.row(offset, pushedMs, value, error)
            changes.rows.append(row)
            changes.told.append(row)
        } else if count == nil {
            unsafe count = RejectedLog.row(offset, pushedMs, value, error)
            isCountChanged = true
        } else {
            count!.lastOffset = offset
            count!.records += 1
            count!.pushedMs = RejectedLog.plausible(pushedMs)
            lastError = error
            isCountChanged = true
        }
    }

    private static func row(
        _ offset: Int64, _ pushedMs: Int64, _ value: UnsafeRawBufferPointer?, _ error: DecodeError
    ) -> Row {
        let first = unsafe value.map { unsafe Array($0.prefix(firstBytesMax)) } ?? []
        return Row(
            offset: offset, lastOffset: offset, records: 1, reason: error.description, firstBytes: first,
            pushedMs: plausible(pushedMs))
    }

    /// A log without stamps says -1, and a producer may have stamped anything.
    private static func plausible(_ pushedMs: Int64) -> Int64? { UTC.plausible.contains(pushedMs) ? pushedMs : nil }

    /// The changes to write in the transaction that moves the partition to `nextOffset`; to be asked in each, also without new
    /// rejected records, because a block's count is told when the log has passed the block.
    public mutating func drainChanges(nextOffset: Int64) -> Changes {
        let next = RejectedLog.block(nextOffset)
        if next > block { open(next) } else { flushCount() }
        defer { changes = Changes() }
        return changes
    }

    /// Another block begins; the one before is over unless the log is read again from further back.
    private mutating func open(_ next: Int64) {
        flushCount()
        if next > block, let count { changes.told.append(count) }
        (block, ownRows, count, lastOffset) = (next, 0, nil, -1)
    }

    private mutating func flushCount() {
        guard isCountChanged, var row = count else { return }
        if let lastError { row.reason = lastError.description }
        (count, lastError, isCountChanged) = (row, nil, false)
        changes.rows.append(row)
    }
}
