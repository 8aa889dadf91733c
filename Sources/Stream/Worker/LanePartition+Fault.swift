internal import Storage

extension LanePartition {
    /// Why a partition is left alone until a person has looked. Going on by ourselves would hide what is lost, or make results of what
    /// is not on the log.
    enum Fault: Error, Equatable {
        /// The broker does not have the offset that we asked for; `ends` is what it has.
        case outOfRange(ends: Range<Int64>?)
        /// The record before our stored offset is another one than we read: the log was lost or replaced.
        case replaced(atOffset: Int64)
        /// The log begins after the records that we still need.
        case beginsAfter(neededOffset: Int64)
        /// A record behind our stored offset is stamped by its sender's clock: nothing judges times that run ahead.
        case stampedBySender(atOffset: Int64)
        /// The database refuses what follows from its records before an offset, also when nothing else is written with it.
        case unwritable(String, before: Int64)
        /// The same, and it is more of its vehicles' fault than may be set apart.
        case tooMany(vehicles: [String], most: Int, reason: String)
        /// It is about the topic, and so about all of its partitions.
        case topic(TopicMismatch)

        /// The finding, in a line. The same text is said once.
        var what: String {
            switch self {
            case .outOfRange: "the broker does not have the records that follow our stored offset"
            case .replaced: "the log is another one than we read: its end was lost and written anew"
            case .beginsAfter: "the log begins after the records that are needed"
            case .stampedBySender: "a record has a sender's time stamp: the topic is without append time"
            case .unwritable: "the database refuses what follows from its records; it is tried again every 10 s"
            case .tooMany(let vehicles, let most, _):
                "the database refuses what follows from the records of \(vehicles.joined(separator: ", ")), and more than "
                    + "\(most) of its vehicles would be in quarantine"
            case .topic(let mismatch): mismatch.what
            }
        }

        var detail: String {
            switch self {
            case .outOfRange(let ends?): "its log goes from \(ends.lowerBound) to \(ends.upperBound)"
            case .outOfRange(nil): "where its log ends is not known"
            case .replaced(let offset): "the record at \(offset) differs"
            case .beginsAfter(let offset): "the first needed is \(offset)"
            case .stampedBySender(let offset): "the record at \(offset)"
            case .unwritable(let reason, _), .tooMany(_, _, let reason): reason
            case .topic(let mismatch): mismatch.detail
            }
        }

        /// The way out.
        var remedy: String {
            switch self {
            case .outOfRange, .replaced, .beginsAfter: "find out what became of the log, then: drover offsets reset"
            case .stampedBySender:
                "set message.timestamp.type=LogAppendTime (drover check says how), then for records that are on the log: "
                    + "drover offsets accept TOPIC"
            case .unwritable:
                "the other partitions go on. Where the reason names no table, right or constraint of yours, it is a fault of Drover: "
                    + "report it"
            case .tooMany:
                "so many at once are mostly no fault of theirs: see the reason, and mend that; then drover quarantine retry. Or let "
                    + "more be set apart: work.quarantine_max"
            case .topic(let mismatch): mismatch.remedy
            }
        }
    }
}
