import Basics
import Fleet
import Surveys
import Testing

struct SurveyFileTests {
    private static let choices = SurveyFiles.Choices(site: "s", offsetMin: 180, surveyProtocol: nil)

    private func rows(_ text: String) throws(NamedRows.Fault) -> NamedRows { try NamedRows(Array(text.utf8)) }

    private func darwinCore(_ events: String, _ occurrences: String) throws(NamedRows.Fault) -> [Survey] {
        try SurveyFiles.darwinCore(
            events: rows("eventID,eventDate,eventTime,decimalLatitude,decimalLongitude,locality,license\n" + events),
            occurrences: rows("eventID,individualCount,scientificName,occurrenceID\n" + occurrences), way: [],
            Self.choices)
    }

    @Test func eventsAndOccurrencesMakeSurveys() throws {
        let surveys = try darwinCore(
            "e1,2020-05-01,10:00/10:30,-3.378178,39.988888,Watamu,CC0\ne2,2020-05-01,13:00/13:30,,,,\n",
            "e1,2,\"Colotis, ione\",o1\ne1,0,B,\n")
        func survey(_ id: String, _ start: String) -> Survey {
            let startMs = UTC.parse(start)!
            return Survey(survey: id, site: "s", startMs: startMs, stopMs: startMs + 1_800_000, offsetMin: 180)
        }
        var first = survey("e1", "2020-05-01T07:00:00Z")
        let second = survey("e2", "2020-05-01T10:00:00Z")
        first.siteName = "Watamu"
        first.place = Position(latitude: -33_781_780, longitude: 399_888_880)
        first.others = [Survey.OtherField(key: "license", json: "\"CC0\"")]
        var one = Sighting(species: "Colotis, ione", count: 2)
        one.others = [Survey.OtherField(key: "occurrenceID", json: "\"o1\"")]
        first.sightings = [one, Sighting(species: "B", count: 0)]
        #expect(surveys == [first, second])
    }

    private static let event = "e,2020-02-01,10:00/11:00,,,,"
    private static let timeFault = "events, line 2: eventDate and eventTime must be like 2020-05-01 and 10:00/10:30"

    @Test(arguments: [
        (",2020-05-01,10:00/10:30,,,,", "", "events, line 2: eventID must be 1 to 64 letters, digits, -, _ or ."),
        ("e,2020-02-30,10:00/10:30,,,,", "", timeFault), ("e,2020-02-01,10:00,,,,", "", timeFault),
        (
            "e,2020-02-01,10:00/11:00,5,,,", "",
            "events, line 2: decimalLatitude and decimalLongitude must be on the globe"
        ), (event + "\n" + event, "", "events, line 3: its eventID stands there before"),
        (event, "f,1,x,", "occurrences, line 2: its eventID is not among the events"),
        (event, "e,many,x,", "occurrences, line 2: individualCount must be 0 to 1000000"),
        (event, "e,1,,", "occurrences, line 2: has no scientificName"),
        ("e,2020-02-01", "", "line 2: 2 fields, the first line has 7"),
        ("\"e,2020-02-01,10:00/11:00,,,,\n", "", "line 2: a quotation mark is not closed"),
    ])
    func badTablesAreRefused(_ events: String, _ occurrences: String, _ fault: String) {
        #expect(throws: NamedRows.Fault(fault)) { try darwinCore(events, occurrences) }
    }

    @Test func visitsAndCountsMakeSurveys() throws {
        let surveys = try SurveyFiles.visits(
            rows("SITE_ID,DATE\n1,2000-04-07\n2,2000-04-07\n"),
            counts: rows("SITE_ID,DATE,SPECIES,DAY,MONTH,YEAR,COUNT\n2,2000-04-07,4,7,4,2000,3\n"), Self.choices)
        #expect(surveys.map(\.site) == ["s-1", "s-2"])
        #expect(surveys.map(\.startMs) == [955_054_800_000, 955_054_800_000])
        #expect(surveys.map(\.sightings) == [[], [Sighting(species: "4", count: 3)]])
        #expect(throws: NamedRows.Fault("counts, line 2: there is no such visit")) {
            try SurveyFiles.visits(
                rows("SITE_ID,DATE\n1,2000-04-07\n"), counts: rows("SITE_ID,DATE,SPECIES,COUNT\n2,2000-04-07,4,3\n"),
                Self.choices)
        }
    }

    @Test func aWayIsTheFirstLine() throws {
        let way = try SurveyFiles.way(
            Array(#"{"type":"FeatureCollection","features":[{"geometry":{"type":"Point","coordinates":[1,2]}},"#.utf8)
                + Array(#"{"geometry":{"type":"LineString","coordinates":[[39.5,-3.25,7],[40,-3]]}}]}"#.utf8))
        #expect(
            way == [
                Position(latitude: -32_500_000, longitude: 395_000_000),
                Position(latitude: -30_000_000, longitude: 400_000_000),
            ])
        #expect(throws: NamedRows.Fault("holds no LineString")) { try SurveyFiles.way(Array("{}".utf8)) }
        #expect(throws: NamedRows.Fault("a point of its line is not on the globe")) {
            try SurveyFiles.way(Array(#"{"type":"LineString","coordinates":[[181,0]]}"#.utf8))
        }
    }

    @Test func aTaxonomyHasItsNames() throws {
        let file = try TaxonomyFile(
            Array("taxon,name,rank,parent,sensitive,synonyms,common_names\n".utf8)
                + Array(
                    "g,Colotis,genus,,no,,\n1,Colotis  ione,species,g,yes,Teracolus ione|colotis IONE,Bushveld purple tip\n"
                        .utf8))
        #expect(file.taxa.map(\.isSensitive) == [false, true])
        #expect(file.taxa.map(\.parent) == [nil, "g"])
        #expect(
            file.names.map { "\($0.name) \($0.kind) \($0.taxon)" } == [
                "colotis accepted g", "colotis ione accepted 1", "teracolus ione synonym 1",
                "bushveld purple tip common 1",
            ])
    }

    @Test(arguments: [
        ("1,A,species,\n1,B,species,", "line 3: `taxon` stands there before"),
        ("1,A,species,\n2,a,species,", "line 3: `name` is the accepted name of another taxon"),
        (
            "1,A,kind,",
            "line 2: `rank` must be one of class, family, form, genus, kingdom, order, phylum, species, subfamily, subgenus, subspecies, superfamily, tribe, variety"
        ),
        ("1,A,species,2", "line 2: `parent` is no taxon of the file"),
        (",A,species,", "line 2: `taxon` must be a text of 1 to 64 bytes"),
        ("1,,species,", "line 2: `name` must be a text of 1 to 200 bytes"),
    ])
    func badTaxonomiesAreRefused(_ text: String, _ fault: String) {
        #expect(throws: NamedRows.Fault(fault)) { try TaxonomyFile(Array(("taxon,name,rank,parent\n" + text).utf8)) }
    }
}
