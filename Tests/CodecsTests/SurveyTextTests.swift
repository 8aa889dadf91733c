import Codecs
import Fleet
import Formats
import SimKit
import Testing

/// The example of docs/survey-records.md with everything in it.
private let whole = """
    {"schema": 1, "survey": "b8d2", "site": "watamu-transect-1", "site_name": "Watamu, transect 1", "route": "edge",
     "latitude": -3.378178, "longitude": 39.988888,
     "start": "2020-05-01T13:00:00+03:00", "stop": "2020-05-01T13:33:00+03:00",
     "waypoints": [{"latitude": -3.378209, "longitude": 39.988882, "time": "2020-05-01T10:00:10Z", "altitude_m": 3}],
     "sections": [{"section": "1", "distance_m": 120.5, "habitat": "forest edge"}],
     "surveyors": [{"name": "A. Wanjiru", "role": "recorder", "expertise": "experienced", "mail": "a@b", "phone": "1"}],
     "observers": 2, "protocol": "pollard-walk", "upland": true, "comments": "line 1\\nline 2", "forward_to": "bamona",
     "weather": {"temperature_c": 27.5, "wind_speed_mps": 3.2, "wind_beaufort": 2, "wind_direction_deg": 120,
                 "cloud_cover_pct": 40, "sun_pct": 70, "rain": false, "dew": [1.50, {"a": null}]},
     "sightings": [
       {"species": "Papilio demodocus", "count": 1, "time": "2020-05-01T13:04:00+03:00", "latitude": -3.3781,
        "longitude": 39.9888, "uncertainty_m": 30, "section": "1", "habitat": "hedge", "conditions": "damp",
        "behaviour": "nectaring", "certainty": "certain", "life_stage": "adult", "sex": "female", "mark": "K17",
        "light_lux": 52000, "photos": ["https://a/1", "sha256-2"], "animals": "bees", "plants": "Lantana camara",
        "comments": "worn", "weather": {"temperature_c": 27}, "wing_wear": 3}],
     "zeal": true, "app": {"name": "x", "build": 7e2}}
    """

private let least = #""schema":1,"survey":"s1","site":"a","start":"2020-05-01T13:00:00Z","stop":"2020-05-01T14:00:00Z""#

private func object(_ more: String) -> [UInt8] { Array("{\(least),\(more)}".utf8) }
private func faults(_ bytes: [UInt8]) -> [String] {
    do { _ = try SurveyText.decode(bytes) } catch { return error.all }
    return []
}

struct SurveyTextTests {
    @Test func everyFieldIsRead() throws {
        let survey = try SurveyText.decode(Array(whole.utf8))
        var expected = Survey(
            survey: "b8d2", site: "watamu-transect-1", startMs: 1_588_327_200_000, stopMs: 1_588_329_180_000,
            offsetMin: 180)
        (expected.siteName, expected.route) = ("Watamu, transect 1", "edge")
        expected.place = Position(latitude: -33_781_780, longitude: 399_888_880)
        var waypoint = Survey.Waypoint(
            place: Position(latitude: -33_782_090, longitude: 399_888_820), atMs: 1_588_327_210_000)
        waypoint.others = [Survey.OtherField(key: "altitude_m", json: "3")]
        expected.waypoints = [waypoint]
        expected.sections = [Survey.Section(section: "1", distanceMm: 120_500, habitat: "forest edge")]
        var person = Survey.Surveyor(name: "A. Wanjiru", role: .recorder)
        (person.expertise, person.mail, person.phone) = ("experienced", "a@b", "1")
        expected.surveyors = [person]
        (expected.observers, expected.surveyProtocol, expected.isUpland) = (2, "pollard-walk", true)
        (expected.comments, expected.forwardTo) = ("line 1\nline 2", "bamona")
        expected.weather.temperatureC = 27_500
        expected.weather.windSpeedMps = 3_200
        expected.weather.windBeaufort = 2
        expected.weather.windDirectionDeg = 120_000
        expected.weather.cloudCoverPct = 40_000
        expected.weather.sunPct = 70_000
        expected.weather.isRaining = false
        expected.weather.others = [Survey.OtherField(key: "dew", json: #"[1.50,{"a":null}]"#)]
        var sighting = Sighting(species: "Papilio demodocus", count: 1)
        sighting.atMs = 1_588_327_440_000
        sighting.place = Position(latitude: -33_781_000, longitude: 399_888_000)
        (sighting.uncertaintyM, sighting.section, sighting.habitat) = (30, "1", "hedge")
        (sighting.conditions, sighting.behaviour, sighting.certainty) = ("damp", "nectaring", .certain)
        (sighting.lifeStage, sighting.sex, sighting.mark, sighting.lightLux) = ("adult", "female", "K17", 52_000)
        (sighting.photos, sighting.animals) = (["https://a/1", "sha256-2"], "bees")
        (sighting.plants, sighting.comments) = ("Lantana camara", "worn")
        sighting.weather.temperatureC = 27_000
        sighting.others = [Survey.OtherField(key: "wing_wear", json: "3")]
        expected.sightings = [sighting]
        expected.others = [
            Survey.OtherField(key: "app", json: #"{"name":"x","build":7e2}"#),
            Survey.OtherField(key: "zeal", json: "true"),
        ]
        #expect(survey == expected)
    }

    @Test func writtenItIsReadAsItWas() throws {
        let survey = try SurveyText.decode(Array(whole.utf8))
        let text = SurveyText.encode(survey).rendered()
        #expect(try SurveyText.decode(Array(text.utf8)) == survey)
        #expect(text.contains(#""start":"2020-05-01T13:00:00+03:00""#))
        #expect(text.contains(#""time":"2020-05-01T13:00:10+03:00""#))
    }

    /// The order of keys, blanks and the writing of numbers and times make no other survey.
    @Test func equalSurveysMakeEqualBytes() throws {
        let other = """
            {"app": {"name":"x",  "build":7e2}, "sightings": [{"count": 1.0, "species": "x"}], "zeal": 1, "schema": 1,
             "stop": "2020-05-01 14:00:00Z", "start": "2020-05-01T13:00:00.000+00:00", "site": "a", "survey": "s1",
             "upland": false, "route": null, "weather": {}, "waypoints": []}
            """
        let one = object(#""zeal":1,"app":{"name":"x","build":7e2},"sightings":[{"species":"x","count":1}]"#)
        #expect(
            SurveyText.encode(try SurveyText.decode(one)).rendered()
                == SurveyText.encode(try SurveyText.decode(Array(other.utf8))).rendered())
    }

    /// A survey's fields with one sighting, and with none.
    private static func seen(_ more: String) -> String { #""sightings":[{"species":"x",\#(more)}]"# }
    private static func nothing(_ more: String) -> String { #""sightings":[],\#(more)"# }
    private static let countFault = "sightings[0].count: must be a whole number from 0 to 1000000"
    private static let keptFault = "new: cannot be kept: control characters, repeated names, too deep or large"

    @Test(arguments: [
        Row("no list", #""sightings":{}"#, "sightings: must be a list of at most 2000"),
        Row("none", #""x":1"#, "sightings: is missing"),
        Row("no object", #""sightings":[3]"#, "sightings[0]: must be a JSON object"),
        Row("no species", #""sightings":[{"count":1}]"#, "sightings[0].species: is missing"),
        Row("blank species", #""sightings":[{"count":1,"species":" \t"}]"#, "sightings[0].species: must not be empty"),
        Row("negative", seen(#""count":-1"#), countFault), Row("half", seen(#""count":1.5"#), countFault),
        Row("huge", seen(#""count":1e999"#), countFault), Row("text", seen(#""count":"1""#), countFault),
        Row(
            "off the globe", seen(#""count":1,"latitude":90.0000001,"longitude":0"#),
            "sightings[0].latitude: must be a number from -90 to 90"),
        Row("half a place", seen(#""count":1,"latitude":9"#), "sightings[0].longitude: is missing: a place has both"),
        Row("no place", nothing(#""waypoints":[{}]"#), "waypoints[0].latitude: is missing"),
        Row(
            "another day", seen(#""count":1,"time":"2020-05-03T13:00:00Z""#),
            "sightings[0].time: must be within a day of the survey"),
        Row(
            "no zone", seen(#""count":1,"time":"2020-05-01T13:00:00""#),
            "sightings[0].time: must be a time from 1700 to 2100 with its offset, like 2020-05-01T13:00:00+03:00"),
        Row(
            "certainty", seen(#""count":1,"certainty":"sure""#),
            "sightings[0].certainty: must be one of certain, probable, uncertain"),
        Row(
            "photo", seen(#""count":1,"photos":["a",""]"#),
            "sightings[0].photos[1]: must be a text of 1 to 200 bytes without control characters"),
        Row(
            "beaufort", nothing(#""weather":{"wind_beaufort":13}"#),
            "weather.wind_beaufort: must be a whole number from 0 to 12"),
        Row(
            "own weather", seen(#""count":1,"weather":{"sun_pct":101}"#),
            "sightings[0].weather.sun_pct: must be a number from 0 to 100"),
        Row("rain", nothing(#""weather":{"rain":"no"}"#), "weather.rain: must be true or false"),
        Row("role", nothing(#""surveyors":[{"name":"x"}]"#), "surveyors[0].role: is missing"),
        Row(
            "section", nothing(#""sections":[{"distance_m":-1,"section":"1"}]"#),
            "sections[0].distance_m: must be a number from 0 to 1000000"),
        Row(
            "control characters", nothing(#""comments":"a\u0001""#),
            "comments: must be a text of at most 4000 bytes without control characters"),
        Row(
            "long", nothing(#""route":"\#(String(repeating: "é", count: 101))""#),
            "route: must be a text of at most 200 bytes without control characters"),
        Row("collector", nothing(#""forward_to":"a b""#), "forward_to: must be 1 to 64 letters, digits, -, _ or ."),
        Row("twice", nothing(#""site":"b""#), "site: stands there more than once"),
        Row("unknown twice", nothing(#""new":1,"new":2"#), "new: stands there more than once"),
        Row("unknown number", nothing(#""new":[1e999]"#), keptFault),
        Row("unknown within twice", nothing(#""new":{"a":1,"a":2}"#), keptFault),
        Row("unknown deep", nothing(#""new":[[[[[[[[[1]]]]]]]]]"#), keptFault),
        Row(
            "unknown large", nothing(#""new":"\#(String(repeating: "x", count: 4_100))""#),
            "the survey: fields of unknown names: 4105 bytes, at most 4096 are kept"),
    ])
    func isRefused(_ row: Row<String, String>) { #expect(faults(object(row.given)) == [row.wanted]) }

    @Test(arguments: [
        Row("not JSON", "{\"schema\":NaN}", "the survey: not JSON: see byte 10"),
        Row("empty", "", "the survey: not JSON: see byte 0"), Row("a list", "[]", "the survey: must be a JSON object"),
        Row("deep", String(repeating: "[", count: 100_000), "the survey: nested more than 16 deep"),
        Row(
            "large", "{\"comments\":\"\(String(repeating: "x", count: 10_000_000))\"}",
            "the survey: 10000015 bytes, at most 900000 are read"),
    ])
    func isNoSurvey(_ row: Row<String, String>) { #expect(faults(Array(row.given.utf8)) == [row.wanted]) }

    @Test("A password that a client puts into a survey is not kept, wherever it stands") func passwordsAreDropped()
        throws
    {
        let survey = try SurveyText.decode(
            object(
                #""sightings":[{"species":"x","count":1,"Bamona-Password":"w"}],"pass":"w","bamona":[{"user":"u","pwd":"w"}],"#
                    + #""surveyors":[{"name":"n","role":"recorder","passwd_2":7}],"passage":"kept""#))
        #expect(
            survey.others == [.init(key: "bamona", json: #"[{"user":"u"}]"#), .init(key: "passage", json: #""kept""#)])
        #expect(survey.sightings[0].others.isEmpty && survey.surveyors[0].others.isEmpty)
    }

    @Test func wrongEncodingIsRefused() {
        var bytes = object(#""sightings":[],"route":"?""#)
        bytes[bytes.lastIndex(of: UInt8(ascii: "?"))!] = 0xE9
        #expect(faults(bytes).first?.hasPrefix("the survey: not JSON: see byte") == true)
        #expect(faults([0xFF, 0xFE] + bytes).first?.hasPrefix("the survey: not JSON") == true)
    }

    @Test func allFaultsComeAtOnce() {
        let bad = #"{"schema":2,"survey":"a b","site":"","start":"2020-05-01T13:00:00Z","stop":"2020-05-01T12:59:59Z"}"#
        #expect(
            faults(Array(bad.utf8)) == [
                "schema: must be 1", "survey: must be 1 to 64 letters, digits, -, _ or .",
                "site: must be 1 to 64 letters, digits, -, _ or .", "sightings: is missing",
                "stop: must not be before the start, nor more than 24 hours after it",
            ])
        let many = (0..<200).map { _ in #"{"species":"","count":-1}"# }.joined(separator: ",")
        #expect(faults(object(#""sightings":[\#(many)]"#)).count == 50)
    }

    @Test func limitsAreReached() throws {
        let most = (0..<2_000).map { #"{"species":"a \#($0)","count":1000000}"# }.joined(separator: ",")
        #expect(try SurveyText.decode(object(#""sightings":[\#(most)]"#)).sightings.count == 2_000)
        #expect(faults(object(#""sightings":[\#(most),{}]"#)) == ["sightings: must be a list of at most 2000"])
        let year1700 =
            #"{"schema":1,"survey":"s","site":"a","start":"1700-01-01T00:00:00Z","stop":"1700-01-02T00:00:00Z","sightings":[]}"#
        #expect(try SurveyText.decode(Array(year1700.utf8)).startMs == -8_520_336_000_000)
        #expect(faults(Array(year1700.replacing("00:00:00Z", with: "00:00:00+00:01").utf8)).count == 1)
    }

    /// Bytes that were changed at random are refused, or make a survey that is written and read as it is.
    @Test func damagedBytesNeverCrash() throws {
        var chance = SeededChance(seed: 7)
        let bytes = Array(whole.utf8)
        let alphabet = Array("{}[]\",:0123456789.-+eEtfnu\\ aZ\n\u{1}é".utf8) + [0, 0x80, 0xFF]
        var taken = 0
        for _ in 0..<Length.count(2_000, long: 300_000) {
            var damaged = bytes
            for _ in 0...chance.below(4) {
                let at = chance.index(damaged.count)
                switch chance.below(4) {
                case 0: damaged.remove(at: at)
                case 1: damaged.insert(chance.pick(alphabet), at: at)
                case 2: damaged[at] = chance.pick(alphabet)
                default: damaged.removeSubrange(at..<min(damaged.count, at + Int(chance.below(40))))
                }
            }
            guard let survey = try? SurveyText.decode(damaged) else { continue }
            taken += 1
            #expect(try SurveyText.decode(Array(SurveyText.encode(survey).rendered().utf8)) == survey)
        }
        #expect(taken > 100)
    }
}

struct SurveyRecordTests {
    private func decode(_ text: String, key: String = "a") throws(DecodeError) -> SurveyRecords.Decoded {
        try unsafe TickOrRecord(Array(text.utf8), key: Array(key.utf8), SurveyRecords.decode)
    }

    private func survey() throws -> Survey {
        try SurveyText.decode(object(#""sightings":[{"species":"x","count":1}]"#))
    }
    private var answer: String {
        var hour = WeatherHour(ts: 1_588_327_200_000)
        hour.thousandths[.temperature] = 21_500
        let cell = WeatherCell(Position(latitude: 0, longitude: 0), sizeMilliDeg: 100)
        return JSONValue.object(
            WeatherAnswer(source: "open-meteo", model: "archive", cell: cell, fetchedMs: 1_600_000_000_000, hour: hour)
                .fields
        ).rendered()
    }

    @Test func everyKindIsReadAsItWasWritten() throws {
        let survey = try survey()
        for kind: SurveyRecord.Kind in [
            .submitted(survey), .reviewed(survey, basedOn: 3, note: "name"), .reviewed(survey, basedOn: 0, note: nil),
            .weather(survey: "s1", answers: [answer, answer]),
        ] {
            let record = SurveyRecord(
                id: "r1", site: "a", ts: 1_600_000_000_000, account: "club", by: "token 1", kind: kind)
            let text = String(decoding: SurveyRecords.encode(record), as: UTF8.self)
            #expect(try decode(text) == .record(record))
        }
        #expect(
            try decode(#"{"schema":1,"kind":"tick","ts":1600000000000}"#, key: "") == .tick(Tick(1_600_000_000_000)))
    }

    @Test func badRecordsAreRefused() throws {
        let record = SurveyRecord(
            id: "r1", site: "a", ts: 1_600_000_000_000, account: "club", by: "t", kind: .submitted(try survey()))
        let text = String(decoding: SurveyRecords.encode(record), as: UTF8.self)
        for (from, to, error): (String, String, DecodeError) in [
            (#""schema":1,"kind""#, #""schema":2,"kind""#, .schemaUnknown(2)),
            (#""ts":1600000000000"#, #""ts":1"#, .timeImpossible(1)),
            (#""kind":"survey""#, #""kind":"surveys""#, .kindUnknown),
            (#""id":"r1""#, #""id":"r 1""#, .keyMissing("id")), (#""by":"t""#, #""by":"t\u0002""#, .keyMissing("by")),
            (#""count":1"#, #""count":-1"#, .survey("sightings[0].count: must be a whole number from 0 to 1000000")),
            (#""survey":"s1","site":"a""#, #""survey":"s1","site":"b""#, .survey("site: differs from the record's")),
            (#""id":"r1""#, #""id":"r1","id":"r2""#, .notJSON("a key stands there more than once")),
            (#""kind":"survey""#, #""kind":"review""#, .keyMissing("based_on")),
            (#""kind":"survey""#, #""kind":"weather""#, .keyMissing("answers")),
        ] {
            #expect(text.contains(from))
            #expect(throws: error) { try decode(text.replacing(from, with: to)) }
        }
        #expect(throws: DecodeError.keyDiffers) { try decode(text, key: "b") }
        #expect(throws: DecodeError.weather("`source` must be a text")) {
            try decode(
                #"{"schema":1,"kind":"weather","id":"r","site":"a","ts":1600000000000,"account":"c","by":"w","#
                    + #""survey":"s1","answers":["{}"]}"#)
        }
    }
}
