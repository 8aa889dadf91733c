internal import Codecs
internal import Fleet
internal import Kafka
internal import Postgres
internal import Storage
internal import Surveys

extension SurveyRecord {
    /// When the survey was that it holds.
    fileprivate var startMs: Int64? {
        switch kind {
        case .submitted(let survey), .reviewed(let survey, _, _): survey.startMs
        case .weather: nil
        }
    }
}

/// Surveys: remembers nothing but the records of the cycle. What is known of the surveys that they speak of is read back,
/// folded with them and written, in the transaction that moves the partition on.
final class SurveyStage: Stage {
    /// A record, or why it is none, in the order of the log.
    private struct Taken {
        let offset: Int64
        let pushedMs: Int64
        let result: Result<SurveyRecord, DecodeError>
        /// The first bytes of a record that may be refused later.
        let firstBytes: [UInt8]?
    }

    private let partition: TopicPartition
    private let place: KeyPartitioner
    private let rejects: RejectBuffer
    private let ticks: PartitionTicks
    private var taken: [Taken] = []
    /// The size of the records that wait, in kilobytes.
    private var waiting = 0

    init(_ partition: TopicPartition, place: KeyPartitioner, rejects: RejectBuffer, ticks: PartitionTicks) {
        self.ticks = ticks
        (self.partition, self.place, self.rejects) = (partition, place, rejects)
    }

    func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        for index in messages {
            let (offset, pushedMs) = (batch.offset(index), batch.timestampMs(index))
            do throws(DecodeError) {
                guard let record = try record(batch, index, &counts) else { continue }
                taken.append(
                    Taken(
                        offset: offset, pushedMs: pushedMs, result: .success(record),
                        firstBytes: rejects.firstBytes(batch, index)))
                waiting += 1
                unsafe batch.withBytes(index) { _, value in unsafe waiting += (value?.count ?? 0) / 1_000 }
            } catch {
                counts.rejected += 1
                taken.append(
                    Taken(
                        offset: offset, pushedMs: pushedMs, result: .failure(error),
                        firstBytes: rejects.firstBytes(batch, index)))
            }
        }
        return messages.count
    }

    /// Nil: a tick.
    private func record(
        _ batch: MessageBatch, _ index: Int, _ counts: inout RecordCounts
    ) throws(DecodeError) -> SurveyRecord? {
        let pushedMs = batch.timestampMs(index)
        switch try unsafe batch.decoded(index, at: place, SurveyRecords.decode) {
        case .tick(let tick):
            // Nothing here waits for a time: it only stands beside the offset.
            _ = ticks.accept(tick, offset: batch.offset(index), pushedMs: pushedMs, &counts)
            return nil
        case .record(let record):
            for ts in [record.ts, record.startMs ?? record.ts] where Ahead.isReadingTooFar(ts, pushedMs) {
                throw .timeAhead(ms: ts - pushedMs)
            }
            return record
        }
    }

    var waitingRows: Int { waiting }
    var needsHistory: Bool { !taken.isEmpty }
    var replayFrom: (offset: Int64, clockMs: Int64)? { nil }

    func changes() -> StageChanges { StageChanges() }

    func resolve(nextOffset: Int64, on connection: Connection) throws -> StageChanges {
        let records = taken.compactMap { try? $0.result.get() }
        var fold = SurveyFold(try SurveyQueries.histories(Set(records.map(\.key)).sorted(), on: connection))
        var changes = StageChanges()
        // In the order of the log: which of the rejected have a row of their own follows from it.
        for each in taken {
            switch each.result {
            case .failure(let error): reject(each, error)
            case .success(let record):
                guard case .refused(let error) = fold.apply(record, offset: each.offset) else { continue }
                reject(each, error)
                changes.refused += 1
            }
        }
        let own = try SurveyReadBack.changes(fold, on: connection)
        (changes.count, changes.versions) = (own.rows.count, SurveyStore.versions(own))
        changes.own = .surveys(own, partition: partition.partition)
        taken.removeAll(keepingCapacity: true)
        waiting = 0
        return changes
    }

    private func reject(_ record: Taken, _ error: DecodeError) {
        rejects.add(record.offset, record.pushedMs, record.firstBytes, error)
    }
}
