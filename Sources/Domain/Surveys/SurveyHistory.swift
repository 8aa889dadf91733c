package import Codecs
package import Fleet
internal import Formats

/// Everything known of one survey: its versions, reviews that wait for the version they were made from, and services' weather. Facts in,
/// changes out; known facts change nothing.
package struct SurveyHistory: Equatable, Sendable {
    /// As it was handed in, or by a reviewer.
    package struct Version: Equatable, Sendable {
        package var id: String
        package var offset: Int64
        package var saidMs: Int64
        package var account: String
        package var by: String
        package var note: String?
        /// Nil: as it was handed in.
        package var basedOn: Int?
        package var survey: Survey

        package init(
            id: String, offset: Int64, saidMs: Int64, account: String, by: String, note: String?, basedOn: Int?,
            survey: Survey
        ) {
            self.id = id
            self.offset = offset
            self.saidMs = saidMs
            self.account = account
            self.by = by
            self.note = note
            self.basedOn = basedOn
            self.survey = survey
        }
    }

    package enum Outcome: Equatable, Sendable {
        case taken
        /// Known already: nothing changes.
        case repeated
        case refused(DecodeError)
    }

    /// A review of a version further ahead is somebody's mistake.
    package static let waitingMax = 100

    /// Version 0 first.
    package private(set) var versions: [Version]
    /// By the version that they were made from.
    package private(set) var waiting: [Int: Version]
    /// By the hour's start.
    package private(set) var weather: [Int64: WeatherAnswer]

    package init(versions: [Version] = [], waiting: [Int: Version] = [:], weather: [Int64: WeatherAnswer] = [:]) {
        self.versions = versions
        self.waiting = waiting
        self.weather = weather
    }

    package mutating func apply(_ record: SurveyRecord, offset: Int64) -> Outcome {
        func version(_ survey: Survey, basedOn: Int?, note: String?) -> Version {
            Version(
                id: record.id, offset: offset, saidMs: record.ts, account: record.account, by: record.by, note: note,
                basedOn: basedOn, survey: survey)
        }
        switch record.kind {
        case .submitted(let survey): return submit(version(survey, basedOn: nil, note: nil))
        case .reviewed(let survey, let basedOn, let note):
            return review(version(survey, basedOn: basedOn, note: note), basedOn)
        case .weather(_, let answers): return applyWeather(answers)
        }
    }

    private mutating func submit(_ version: Version) -> Outcome {
        if let first = versions.first {
            return first.survey == version.survey ? .repeated : .refused(.surveyDiffers)
        }
        versions.append(version)
        applyWaiting()
        return .taken
    }

    private mutating func review(_ version: Version, _ basedOn: Int) -> Outcome {
        let known = basedOn + 1 < versions.count ? versions[basedOn + 1] : waiting[basedOn]
        if let known { return known.id == version.id ? .repeated : .refused(.reviewOutdated(basedOn: basedOn)) }
        guard basedOn < versions.count + SurveyHistory.waitingMax else {
            return .refused(.reviewOutdated(basedOn: basedOn))
        }
        waiting[basedOn] = version
        applyWaiting()
        return .taken
    }

    private mutating func applyWaiting() {
        while let next = waiting.removeValue(forKey: versions.count - 1) { versions.append(next) }
    }

    /// For an hour the answer that was requested last counts; of two requested at one moment the greater text.
    private mutating func applyWeather(_ answers: [String]) -> Outcome {
        var outcome = Outcome.repeated
        for answer in answers.compactMap({ WeatherAnswer(json: Array($0.utf8)) }) {
            let hour = SurveyHours.hour(answer)
            if let known = weather[hour], !SurveyHistory.isLater(answer, than: known) { continue }
            weather[hour] = answer
            outcome = .taken
        }
        return outcome
    }

    private static func isLater(_ a: WeatherAnswer, than b: WeatherAnswer) -> Bool {
        guard a.fetchedMs == b.fetchedMs else { return a.fetchedMs > b.fetchedMs }
        return b.text.utf8.lexicographicallyPrecedes(a.text.utf8)
    }
}

extension WeatherAnswer {
    /// As records and tables have it.
    package var text: String { JSONValue.object(fields).rendered() }
}

/// The hours of a survey, UTC.
package enum SurveyHours {
    package static let hourMs: Int64 = 3_600_000

    /// The full hour that an answer is nearest to: services tell of the hour, or of a reading shortly before or after.
    package static func hour(_ answer: WeatherAnswer) -> Int64 { start(of: answer.hour.ts + hourMs / 2) }
    package static func start(of ts: Int64) -> Int64 { WeatherAnswer.hour(of: ts) }

    /// From that of its start to that of its stop; at most 25.
    package static func of(_ survey: Survey) -> [Int64] {
        Array(stride(from: start(of: survey.startMs), through: start(of: survey.stopMs), by: Int(hourMs)))
    }
}
