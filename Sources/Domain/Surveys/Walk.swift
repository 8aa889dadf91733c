internal import Codecs
package import Fleet

/// Figures that follow from a survey's path.
package struct Walk: Equatable, Sendable {
    /// The place that the survey states, else the first of its path, else of its sightings; nil: it names none.
    package let place: Position?
    /// The encoded polyline of its waypoints, 5 decimals; nil for fewer than two.
    package let line: String?
    /// Along its waypoints; where there are fewer than two, its sections together, when each has its distance.
    package let distanceM: Double?
    /// Over the whole time of the survey; nil where that is none.
    package let paceMps: Double?

    package init(_ survey: Survey) {
        let places = survey.waypoints.map(\.place)
        place = survey.place ?? places.first ?? survey.sightings.lazy.compactMap(\.place).first
        line = places.count > 1 ? Polyline.encode(places) : nil
        distanceM = Walk.distance(places) ?? Walk.distance(survey.sections)
        let seconds = Double(survey.stopMs - survey.startMs) / 1_000
        paceMps = seconds > 0 ? distanceM.map { $0 / seconds } : nil
    }

    private static func distance(_ places: [Position]) -> Double? {
        guard places.count > 1 else { return nil }
        return zip(places, places.dropFirst()).reduce(0) { $0 + $1.0.metres(to: $1.1) }
    }

    private static func distance(_ sections: [Survey.Section]) -> Double? {
        let known = sections.compactMap(\.distanceMm)
        guard !known.isEmpty, known.count == sections.count else { return nil }
        return Double(known.reduce(0, +)) / 1_000
    }
}
