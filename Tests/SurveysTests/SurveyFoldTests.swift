import Fleet
import Surveys
import Testing

struct SurveyFoldTests {
    private func survey(_ id: String, _ species: String) -> Survey {
        var survey = Survey(
            survey: id, site: "a", startMs: 1_700_000_000_000, stopMs: 1_700_003_600_000, offsetMin: 0)
        survey.sightings = [Sighting(species: species, count: 2)]
        return survey
    }

    private func record(_ id: String, _ kind: SurveyRecord.Kind) -> SurveyRecord {
        SurveyRecord(id: id, site: "a", ts: 1_700_000_000_000, account: "club", by: id, kind: kind)
    }

    @Test("Only what is new is written, and the rows of a survey that has some are replaced") func changes() throws {
        let (key, match) = (SurveyKey(site: "a", survey: "s"), TaxonMatch(name: "x", taxon: nil))
        var fold = SurveyFold([:])
        #expect(fold.apply(record("1", .submitted(survey("s", "one"))), offset: 7) == .taken)
        #expect(fold.names == ["one"] && !fold.isEmpty)
        let first = fold.changes(["one": match])
        #expect(first.versions.map(\.number) == [0] && first.rows.replaced.isEmpty && first.rows.count == 2)

        let known = SurveyHistory(versions: first.versions.map(\.version))
        var next = SurveyFold([key: known])
        #expect(next.apply(record("1", .submitted(survey("s", "one"))), offset: 7) == .repeated)
        #expect(next.isEmpty && next.changes([:]).rows.count == 0)
        #expect(next.apply(record("2", .reviewed(survey("s", "two"), basedOn: 0, note: nil)), offset: 8) == .taken)
        let second = next.changes(["two": match])
        #expect(second.versions.map(\.number) == [1] && second.versions.map(\.account) == ["club"])
        #expect(second.rows.replaced == [key] && second.rows.sightings.map(\.sighting.sighting.species) == ["two"])
    }
}
