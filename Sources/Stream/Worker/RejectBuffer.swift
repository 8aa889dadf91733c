package import Codecs
package import Kafka
internal import Pipeline

/// Records of one partition that could not be decoded, until they are handed over.
package final class RejectBuffer {
    private var log: RejectedLog
    /// Records before it were taken before this owner came.
    private let storedOffset: Int64

    init(_ log: RejectedLog, storedOffset: Int64) { (self.log, self.storedOffset) = (log, storedOffset) }

    package func add(_ batch: MessageBatch, _ index: Int, _ error: DecodeError, _ counts: inout RecordCounts) {
        let offset = batch.offset(index)
        guard offset >= storedOffset else { return }
        counts.rejected += 1
        unsafe batch.withBytes(index) { _, value in
            unsafe log.add(offset: offset, pushedMs: batch.timestampMs(index), value: value, error: error)
        }
    }

    /// The bytes that a record is recognised by; nil: a tombstone.
    func firstBytes(_ batch: MessageBatch, _ index: Int) -> [UInt8]? {
        unsafe batch.withBytes(index) { _, value in
            unsafe value.map { unsafe Array($0.prefix(RejectedLog.firstBytesMax)) }
        }
    }

    /// One that was found wanting later, of a stage that counts its own. Offsets come in ascending order.
    func add(_ offset: Int64, _ pushedMs: Int64, _ firstBytes: [UInt8]?, _ error: DecodeError) {
        guard offset >= storedOffset else { return }
        guard let firstBytes else {
            return unsafe log.add(offset: offset, pushedMs: pushedMs, value: nil, error: error)
        }
        unsafe firstBytes.withUnsafeBytes { value in
            unsafe log.add(offset: offset, pushedMs: pushedMs, value: value, error: error)
        }
    }

    func drainChanges(nextOffset: Int64) -> RejectedLog.Changes { log.drainChanges(nextOffset: nextOffset) }
}
