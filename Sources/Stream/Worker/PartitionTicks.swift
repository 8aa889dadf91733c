package import Codecs
package import Pipeline
internal import Storage

/// Where every tick of a partition is judged, for whatever stage it has.
///
/// Used by one thread at a time, as its stage.
package final class PartitionTicks {
    private var clock: PartitionClock
    /// The ticks that wait beside the clock from each offset on, as far back as the next owner may begin to read. The first one is from
    /// before.
    private var history: [(fromOffset: Int64, text: String?)]

    init(_ progress: PartitionProgress) {
        clock = PartitionClock(clockMs: progress.replayClockMs, text: progress.replayClockWaits)
        history = [(.min, clock.text)]
    }

    package func accept(_ tick: Tick, offset: Int64, pushedMs: Int64, _ counts: inout RecordCounts)
        -> PartitionClock.Decision
    {
        let before = clock
        let decision = clock.accept(tick, pushedMs: pushedMs)
        if decision == .dropped { counts.droppedTicks += 1 }
        if clock.waiting != before.waiting || clock.isOfImport != before.isOfImport {
            history.append((offset + 1, clock.text))
        }
        return decision
    }

    /// The ticks that wait beside the clock before the record at `offset`. Nothing before it is asked for any more.
    func waiting(at offset: Int64) -> String? {
        if let last = history.lastIndex(where: { $0.fromOffset <= offset }), last > 0 { history.removeFirst(last) }
        return history[0].text
    }

    /// The greatest tick that counts, of all that were taken.
    var clockMs: Int64 { clock.clockMs }
    var waiting: String? { clock.text }
}
