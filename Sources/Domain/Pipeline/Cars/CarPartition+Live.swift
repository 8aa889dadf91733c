internal import Codecs
public import Trips

/// A car's trip with its open minute, for who looks at it while it drives. Nothing is written down for it: the rows are
/// those that closing the minute now would give.
public struct LiveTrip: Equatable, Sendable {
    public let trip: Trip
    /// Start of the open minute.
    public let minuteMs: Int64
    /// The open minute's readings, packed as in its row to be.
    public let samples: [UInt8]
}

extension CarPartition {
    /// The open minute and how many readings came: the running values have changed when these have.
    public struct LiveMark: Equatable, Sendable {
        let openMs: Int64
        let count: UInt32
    }

    public func liveMark(_ number: Int) -> LiveMark {
        LiveMark(openMs: cars[number].openMs, count: cars[number].bag.count)
    }

    /// With the open minute, whose readings are then in `readings`; nil: none is open.
    private mutating func openTrip(_ number: Int) -> Trip? {
        guard cars[number].openMs != .min, cars[number].bag.count > 0 else { return nil }
        var state = state(number, &scratch)
        readBag(number, prefix: .max)
        _ = state.add(minute: readings, cuts: cuts(number))
        return state.drive.trip
    }

    /// Nil: no minute is open. Late readings that wait for the end of the cycle are not in it.
    public mutating func live(_ number: Int) -> LiveTrip? {
        guard let trip = openTrip(number) else { return nil }
        return LiveTrip(
            trip: trip, minuteMs: cars[number].openMs,
            samples: PackedSamples.encode(readings, minuteMs: cars[number].openMs))
    }
}
