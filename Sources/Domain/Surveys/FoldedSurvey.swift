internal import Basics
package import Codecs
package import Fleet

/// The rows that a survey makes: a function of its newest version, its weather and the taxonomy.
package struct FoldedSurvey: Equatable, Sendable {
    package struct FoldedSighting: Equatable, Sendable {
        package let sighting: Sighting
        package let match: TaxonMatch
        /// Its own time, else the survey's start.
        package let seenMs: Int64
        /// Days since 1970-01-01, by the surveyors' clocks.
        package let localDay: Int64
        /// Its own, else the survey's first.
        package let place: Position?
        package let weather: WeatherAnswer?
    }

    package let survey: Survey
    /// 0 as it was handed in.
    package let version: Int
    package let submitted: SurveyHistory.Version
    /// The time of the latest review.
    package let revisedMs: Int64?
    package let localDay: Int64
    package let walk: Walk
    package let gate: ProtocolGate?
    package let expertise: String?
    /// By hour, those of the survey only.
    package let weather: [WeatherAnswer]
    /// Hours that no service has told of; 0 where no place is known to ask for.
    package let weatherMissing: Int
    package let sightings: [FoldedSighting]

    /// True when it met a species whose places are protected.
    package var isSensitive: Bool { sightings.contains { $0.match.isSensitive } }
    package var needsReview: Bool { sightings.contains { $0.match.reviewReason != nil } }
    package var individuals: Int64 { sightings.reduce(0) { $0 + Int64($1.sighting.count) } }

    /// Nil: it was not handed in yet.
    ///
    /// - Parameter names: what each given name stands for.
    package init?(_ history: SurveyHistory, names: (String) -> TaxonMatch) {
        guard let submitted = history.versions.first, let newest = history.versions.last else { return nil }
        let survey = newest.survey
        self.survey = survey
        self.submitted = submitted
        version = history.versions.count - 1
        revisedMs = history.versions.count > 1 ? newest.saidMs : nil
        func localDay(_ ts: Int64) -> Int64 {
            UTC.day(of: ts + Int64(survey.offsetMin) * UTC.msPerMinute) / UTC.msPerDay
        }
        self.localDay = localDay(survey.startMs)
        let walk = Walk(survey)
        let hours = SurveyHours.of(survey)
        let weather = hours.compactMap { history.weather[$0] }
        self.walk = walk
        self.weather = weather
        weatherMissing = walk.place == nil ? 0 : hours.count - weather.count
        gate = ProtocolGate(survey, place: walk.place, service: weather)
        expertise = Expertise.highest(survey.surveyors.compactMap(\.expertise))
        sightings = survey.sightings.map { sighting in
            let seenMs = sighting.atMs ?? survey.startMs
            let hour = SurveyHours.start(of: seenMs)
            return FoldedSighting(
                sighting: sighting, match: names(sighting.species), seenMs: seenMs, localDay: localDay(seenMs),
                place: sighting.place ?? walk.place,
                weather: hours.contains(hour) ? history.weather[hour] : nil)
        }
    }
}

/// The surveyors' experience, where they use the usual words.
package enum Expertise {
    static let ladder = ["novice", "beginner", "intermediate", "experienced", "advanced", "expert", "professional"]

    /// The first unusual word; nil for none.
    package static func highest(_ words: [String]) -> String? {
        let known = words.compactMap { word in ladder.firstIndex(of: word.lowercased()).map { ($0, word) } }
        return known.max { $0.0 < $1.0 }?.1 ?? words.first
    }
}
