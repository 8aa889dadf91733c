internal import Codecs
package import Kafka
internal import Pipeline
package import Postgres
package import Storage

/// A stage turns one partition's records into changes. It is used by one thread at a time: its lane's, or, while the lane
/// waits, the committer's.
package protocol Stage: AnyObject {
    /// Records in the order of the log, from the first that the partition's progress asks for. Returns how many were taken:
    /// what follows from these must be committed before the next.
    func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int

    /// It stopped amid what it was given, so that a part can be committed; `goOn` takes the next part.
    var canGoOn: Bool { get }
    func goOn(_ counts: inout RecordCounts)

    /// How many rows `changes` would hand over.
    var waitingRows: Int { get }

    /// Hands over what needs nothing read back.
    func changes() -> StageChanges

    /// Whether there is more that `resolve` can say only with the database's help.
    var needsHistory: Bool { get }

    /// Within the transaction, after what was handed over so far is written: reads back what is needed, and folds. `nextOffset` is
    /// where the partition stands. What it rejects is written with it.
    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageChanges

    /// `resolve` has to be called again, after its changes are written: there is more than is read back at once.
    var hasMore: Bool { get }

    /// Within the transaction, once all of it is written: what follows from that, and what of it leaves the database.
    ///
    /// Precondition: it needed history.
    func conclude(nextOffset: Int64, on connection: Connection) throws -> [OutboxRecord]

    /// Where the next owner has to begin reading, and the clock there; nil: at the next offset.
    var replayFrom: (offset: Int64, clockMs: Int64)? { get }

    /// Asks for the running values of these vehicles.
    func watch(_ vehicles: Set<String>)

    /// How many vehicles' states are in memory.
    var vehicleCount: Int { get }

    /// It stopped before a record whose vehicle is not in memory: before it is given it again, `recall` reads that back.
    var needsRecall: Bool { get }
    /// True: rows that it reads back must hold all that it took.
    var recallsWritten: Bool { get }
    /// Precondition: what was handed over before is written, or failed; with `recallsWritten` all that was taken is written.
    func recall(on connection: Connection) throws
}

extension Stage {
    package var canGoOn: Bool { false }
    package var hasMore: Bool { false }
    package func goOn(_ counts: inout RecordCounts) {}
    package func conclude(nextOffset: Int64, on connection: Connection) throws -> [OutboxRecord] { [] }
    package func watch(_ vehicles: Set<String>) {}
    package var vehicleCount: Int { 0 }
    package var needsRecall: Bool { false }
    package var recallsWritten: Bool { false }
    package func recall(on connection: Connection) throws {}
}

/// Counts of records that were taken, refused and left out since the last hand-over.
package struct RecordCounts: Sendable {
    package var records = 0
    package var droppedFields = 0
    package var droppedTicks = 0
    package var rejected = 0
    /// Decisions of the log that did not fit.
    package var decidedAnew = 0
}

/// Readings of a time whose neighbours may be deleted already (`drover retention`) are not taken: trips and alerts would be made
/// again from a part. It is judged by the record alone, so that a replay judges alike.
package struct KeptSpan: Sendable {
    /// Nil: for ever.
    let days: Int64?
    package init(days: Int64?) { self.days = days }

    func check(_ ts: Int64, _ pushedMs: Int64) throws(DecodeError) {
        guard ts < leastMs(pushedMs), let days else { return }
        throw .timeNotKept(days: days)
    }

    /// The time from which on nothing was deleted: of rows before it a part may be gone.
    func leastMs(_ pushedMs: Int64) -> Int64 {
        guard let days, pushedMs >= 0 else { return .min }
        return pushedMs - days * 86_400_000
    }
}

extension MessageBatch {
    /// A message of a topic of ticks and records.
    func decoded<Record>(
        _ index: Int, at place: KeyPartitioner, _ decode: TickOrRecord<Record>.Decode
    ) throws(DecodeError) -> TickOrRecord<Record> {
        let result = unsafe withBytes(index) { key, value in
            Result { () throws(DecodeError) -> TickOrRecord<Record> in
                guard let value = unsafe value else { throw .tombstone }
                let decoded = try unsafe decode(value, key)
                if case .record = decoded { try unsafe place.check(key) }
                return decoded
            }
        }
        return try result.get()
    }
}

/// How far ahead of the broker's stamp a reading's own time may be. The stamp is part of the log, so a replay decides alike; a log
/// without stamps (-1) cannot tell. Of ticks `PartitionClock` decides.
enum Ahead {
    static func isReadingTooFar(_ ts: Int64, _ pushedMs: Int64) -> Bool {
        pushedMs >= 0 && ts - pushedMs > DecodeError.aheadMsMax
    }
}
