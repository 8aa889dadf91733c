import Fleet
import Surveys
import Testing

struct ForwardTests {
    @Test(
        "A field map that is wrong says where and why",
        arguments: [
            ("", 1, "one column must be `id`"), ("Species = species", 1, "one column must be `id`"),
            ("ID = id\n# a remark\nSpecies", 3, "must be COLUMN = FIELD"),
            ("ID = id\n = species", 2, "a column's name"),
            ("ID = id\nName = surveyors", 2, "`surveyors` is no field"), ("ID = id\nMail =", 2, "`` is no field"),
            ("ID = id\nID = version", 2, "stands there before"), ("ID = id\nX = \"", 2, "is no field"),
            (String(repeating: "x", count: 201) + " = id", 1, "1 to 200 bytes"),
        ])
    func faults(_ text: String, _ line: Int, _ reason: String) {
        let fault = #expect(throws: ForwardFields.Fault.self) { try ForwardFields(Array(text.utf8)) }
        #expect(fault?.line == line)
        #expect(fault?.reason.contains(reason) == true, "\(fault?.reason ?? "")")
    }

    @Test func tooManyColumnsAreRefused() {
        let text = (0..<101).map { "c\($0) = id" }.joined(separator: "\n")
        #expect(throws: ForwardFields.Fault.self) { try ForwardFields(Array(text.utf8)) }
        #expect(throws: ForwardFields.Fault.self) { try ForwardFields([0xFF]) }
    }

    @Test(
        "Cells that a spreadsheet would run are texts, and quotation is that of RFC 4180",
        arguments: [
            ("", ""), ("Danaus", "Danaus"), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"),
            ("\tx", "'\tx"),
            ("\rx", "\"'\rx\""), ("a,b", "\"a,b\""), ("a\"b", #""a""b""#), ("a\nb", "\"a\nb\""), (" =1", " =1"),
        ])
    func cells(_ text: String, _ cell: String) { #expect(ForwardRow.cell(text) == cell) }

    private static func survey() -> Survey {
        var survey = Survey(
            survey: "s-1", site: "watamu", startMs: 1_781_503_800_000, stopMs: 1_781_507_400_000, offsetMin: 180)
        (survey.siteName, survey.route, survey.comments, survey.observers) = ("the well", "north", "dry", 2)
        (survey.surveyProtocol, survey.weather.temperatureC) = ("pollard-walk", 27_500)
        survey.place = Position(latitude: -33_781_200, longitude: 399_876_500)
        var person = Survey.Surveyor(name: "Wanjiru", role: .recorder)
        (person.mail, person.phone) = ("w@example.org", "+254 700")
        survey.surveyors = [person]
        survey.others = [.init(key: "diary", json: "\"secret\"")]
        var sighting = Sighting(species: "a", count: 3)
        (sighting.section, sighting.habitat, sighting.conditions) = ("1", "dune", "wet")
        (sighting.animals, sighting.plants, sighting.comments) = ("ants", "lantana", "at the well")
        (sighting.behaviour, sighting.certainty, sighting.lifeStage) = ("basking", .probable, "adult")
        (sighting.sex, sighting.mark, sighting.atMs) = ("female", "X7", 1_781_504_000_000)
        survey.sightings = [sighting]
        return survey
    }

    private static func row(isSiteSensitive: Bool, isSpeciesSensitive: Bool = false) throws -> [ForwardField: String] {
        let text = ForwardField.allCases.map { "\($0.rawValue) = \($0.rawValue)" }.joined(separator: "\n")
        let bytes = ForwardedSurvey(survey(), version: 2, isSiteSensitive: isSiteSensitive) {
            TaxonMatch(name: "Accepted " + $0, taxon: nil, isSensitive: isSpeciesSensitive)
        }.csv(try ForwardFields(Array(text.utf8)))
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        #expect(lines.count == 2)
        let cells = lines[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return Dictionary(uniqueKeysWithValues: zip(ForwardField.allCases, cells))
    }

    @Test("Every field has its value, and none of a person or of what is not known") func whole() throws {
        let row = try Self.row(isSiteSensitive: false)
        let expected: [ForwardField: String] = [
            .id: "watamu:s-1:2", .event: "watamu:s-1", .occurrence: "watamu:s-1:0", .site: "watamu", .survey: "s-1",
            .version: "2", .siteName: "the well", .route: "north", .surveyProtocol: "pollard-walk", .observers: "2",
            .date: "2026-06-15", .startTime: "09:10", .stopTime: "10:10", .startedAt: "2026-06-15T09:10:00+03:00",
            .stoppedAt: "2026-06-15T10:10:00+03:00", .seenAt: "2026-06-15T09:13:20+03:00",
            .surveyComments: "dry", .species: "Accepted a", .givenName: "a", .individuals: "3",
            .latitude: "-3.37812", .longitude: "39.98765", .uncertainty: "", .generalization: "", .section: "1",
            .habitat: "dune", .conditions: "wet", .behaviour: "basking", .certainty: "probable", .lifeStage: "adult",
            .sex: "female", .mark: "X7", .animals: "ants", .plants: "lantana", .comments: "at the well",
            .ownTemperature: "27.5", .ownWindSpeed: "", .ownCloudCover: "",
        ]
        for field in ForwardField.allCases { #expect(row[field] == expected[field], "\(field)") }
    }

    @Test("Where a sensitive species lives nothing tells", arguments: [(true, false), (false, true)])
    func blurred(_ isSiteSensitive: Bool, _ isSpeciesSensitive: Bool) throws {
        let row = try Self.row(isSiteSensitive: isSiteSensitive, isSpeciesSensitive: isSpeciesSensitive)
        // By hand: the cell of 0.1° from 3.4° S, 39.9° E; its corner nearer to the equator is 7 853 m away.
        #expect((row[.latitude], row[.longitude]) == ("-3.35", "39.95"))
        #expect(row[.uncertainty].flatMap { Int($0) }.map { (7_840...7_860).contains($0) } == true)
        for field: ForwardField in [
            .siteName, .route, .surveyComments, .section, .habitat, .conditions, .animals, .plants, .comments,
        ] { #expect(row[field] == "", "\(field)") }
        #expect((row[.species], row[.individuals], row[.behaviour]) == ("Accepted a", "3", "basking"))
    }
}
