package import Fleet

/// Downloads and visits of a cycle. Of two events with one id and other contents the one whose text is greater counts, whichever
/// came first: so whatever comes twice or late, a day's number is the number of different events.
package struct TourFold {
    /// An id of another tour is another event.
    package struct Key: Hashable, Sendable { package let tour, event: String }

    private var newest: [Key: TourEvent] = [:]

    package init(_ events: [TourEvent]) {
        for event in events { merge(event) }
    }

    /// The keys whose rows must be read back.
    package var keys: [Key] { Array(newest.keys) }

    private mutating func merge(_ event: TourEvent) {
        if let other = newest[event.key], TourFold.rank(other) >= TourFold.rank(event) { return }
        newest[event.key] = event
    }

    private static func rank(_ event: TourEvent) -> (Int64, String, Int, Int) {
        (event.ts, event.word.rawValue + (event.waypoint ?? ""), event.version, event.offsetMin)
    }

    /// - Parameter stored: those of `keys` that there are.
    package consuming func changes(_ stored: [TourEvent]) -> TourChanges {
        let known = Dictionary(uniqueKeysWithValues: stored.map { ($0.key, $0) })
        for event in stored { merge(event) }
        let changed = newest.filter { known[$0.key] != $0.value }.map(\.value)
        let replaced = changed.compactMap { known[$0.key] }
        return TourChanges(
            events: changed.sorted { ($0.tour, $0.id) < ($1.tour, $1.id) },
            days: Set((changed + replaced).map { TourChanges.Day($0) }))
    }
}

/// Changes that a cycle of tours writes.
package struct TourChanges: Sendable {
    /// A day whose events are counted again.
    package struct Day: Hashable, Sendable {
        package let tour: String
        package let kind: TourEvent.Word
        package let waypoint: String
        package let localDay: Int64

        init(_ event: TourEvent) {
            tour = event.tour
            kind = event.word
            waypoint = event.waypoint ?? ""
            localDay = event.localDay
        }
    }

    package let events: [TourEvent]
    package let days: Set<Day>

    package var rowCount: Int { events.count + days.count }
}

extension TourEvent {
    fileprivate var key: TourFold.Key { TourFold.Key(tour: tour, event: id) }
}
