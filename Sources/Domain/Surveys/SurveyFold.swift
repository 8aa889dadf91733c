package import Codecs
package import Fleet

/// A survey's natural key.
package struct SurveyKey: Hashable, Comparable, Sendable {
    package let site, survey: String
    package init(site: String, survey: String) { (self.site, self.survey) = (site, survey) }
    package static func < (a: SurveyKey, b: SurveyKey) -> Bool { (a.site, a.survey) < (b.site, b.survey) }
}

extension SurveyRecord {
    package var key: SurveyKey {
        switch kind {
        case .submitted(let survey), .reviewed(let survey, _, _): SurveyKey(site: site, survey: survey.survey)
        case .weather(let survey, _): SurveyKey(site: site, survey: survey)
        }
    }
}

/// Records of surveys, folded with what is known of the surveys that they speak of.
package struct SurveyFold {
    private let before: [SurveyKey: SurveyHistory]
    private var after: [SurveyKey: SurveyHistory]
    private var touched: Set<SurveyKey> = []

    /// - Parameter known: of the surveys that the records to come speak of.
    package init(_ known: [SurveyKey: SurveyHistory]) { (before, after) = (known, known) }

    /// In the order of the log.
    package mutating func apply(_ record: SurveyRecord, offset: Int64) -> SurveyHistory.Outcome {
        let outcome = after[record.key, default: SurveyHistory()].apply(record, offset: offset)
        if outcome == .taken { touched.insert(record.key) }
        return outcome
    }

    /// Nothing was said that was not known.
    package var isEmpty: Bool { touched.isEmpty }

    private var changed: [SurveyRows.Known] {
        touched.sorted().map { key in
            SurveyRows.Known(
                key: key, history: after[key]!, hasRows: !(before[key]?.versions.isEmpty ?? true))
        }
    }

    /// Names of species that the taxonomy is asked for.
    package var names: Set<String> { SurveyRows.names(of: changed) }

    /// - Parameter names: what each of `names` stands for.
    package func changes(_ names: [String: TaxonMatch]) -> SurveyChanges {
        var changes = SurveyChanges(rows: SurveyRows(changed, names))
        for each in changed {
            let (key, old, new) = (each.key, before[each.key] ?? SurveyHistory(), each.history)
            for number in old.versions.count..<new.versions.count {
                changes.versions.append((key, number, new.versions[number], account: new.versions[0].account))
            }
            for (base, review) in new.waiting where old.waiting[base] != review {
                changes.waiting.append((key, base, review))
            }
            for base in old.waiting.keys where new.waiting[base] == nil { changes.done.append((key, base)) }
            for (hourMs, answer) in new.weather where old.weather[hourMs] != answer {
                changes.weather.append((key, hourMs, answer))
            }
        }
        return changes
    }
}

/// Changes that a cycle of surveys writes.
package struct SurveyChanges {
    package fileprivate(set) var versions:
        [(key: SurveyKey, number: Int, version: SurveyHistory.Version, account: String)] = []
    /// Reviews that wait for the version they were made from.
    package fileprivate(set) var waiting: [(key: SurveyKey, basedOn: Int, review: SurveyHistory.Version)] = []
    /// Those that wait no more.
    package fileprivate(set) var done: [(key: SurveyKey, basedOn: Int)] = []
    package fileprivate(set) var weather: [(key: SurveyKey, hourMs: Int64, answer: WeatherAnswer)] = []
    package let rows: SurveyRows

    fileprivate init(rows: SurveyRows) { self.rows = rows }
}

/// The rows that surveys make, in the place of those that they had.
package struct SurveyRows {
    package struct Known {
        package let key: SurveyKey
        package let history: SurveyHistory
        package let hasRows: Bool

        package init(key: SurveyKey, history: SurveyHistory, hasRows: Bool) {
            (self.key, self.history, self.hasRows) = (key, history, hasRows)
        }
    }

    package typealias Surveyor = (survey: Survey, number: Int, person: Survey.Surveyor)
    package typealias Sighting = (of: FoldedSurvey, number: Int, sighting: FoldedSurvey.FoldedSighting)

    /// The surveys whose rows may be there already.
    package let replaced: [SurveyKey]
    /// The sites of all of them, also of those that were not handed in yet.
    package let sites: Set<String>
    package let surveys: [FoldedSurvey]
    package let surveyors: [Surveyor]
    package let sightings: [Sighting]

    /// Names of species that the taxonomy is asked for.
    package static func names(of surveys: [Known]) -> Set<String> {
        Set(surveys.flatMap { $0.history.versions.last?.survey.sightings.map(\.species) ?? [] })
    }

    package init(_ surveys: [Known], _ names: [String: TaxonMatch]) {
        replaced = surveys.filter(\.hasRows).map(\.key)
        sites = Set(surveys.map(\.key.site))
        let folded = surveys.compactMap { FoldedSurvey($0.history) { names[$0]! } }
        self.surveys = folded
        surveyors = folded.flatMap { each in
            each.survey.surveyors.enumerated().map { (each.survey, $0.offset, $0.element) }
        }
        sightings = folded.flatMap { each in each.sightings.enumerated().map { (each, $0.offset, $0.element) } }
    }

    package var count: Int { surveys.count + surveyors.count + sightings.count }
}
