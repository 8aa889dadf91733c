import Codecs
import Formats
import Testing

struct SurveyCSVTests {
    static let head =
        "survey,site,start,stop,survey.weather.rain,sections.1.section,sections.1.distance_m,"
        + "species,count,weather.temperature_c,photos,note\n"
    static let first =
        "s-1,w-1,2020-05-01T13:00:00+03:00,2020-05-01T13:33:00+03:00,no,A,120.5,Danaus plexippus,2,27.5,a;b,=1+1\n"

    @Test("Rows become one survey: what is said of it once counts for all") func rows() throws {
        let text =
            "\u{FEFF}" + Self.head + Self.first + #",,,,,,,"Papilio ""x""",1,,,\#r\#n"# + "s-1,w-1,,,,,,Vanessa,0,,,\n"
        let expected = """
            {"schema":1,"survey":"s-1","site":"w-1","start":"2020-05-01T13:00:00+03:00","stop":"2020-05-01T13:33:00+03:00",
            "weather":{"rain":false},"sections":[{"section":"A","distance_m":120.5}],"sightings":[
            {"species":"Danaus plexippus","count":2,"weather":{"temperature_c":27.5},"photos":["a","b"],"note":"=1+1"},
            {"species":"Papilio \\"x\\"","count":1},{"species":"Vanessa","count":0}]}
            """
        #expect(try SurveyCSV.decode(Array(text.utf8)) == JSONValue(Array(expected.utf8)))
    }

    @Test("A survey that found nothing is a row without a sighting") func nothing() throws {
        let tree = try SurveyCSV.decode(Array((Self.head + "s-1,w-1,2020-05-01T13:00:00Z,2020-05-01T14:00:00Z\n").utf8))
        #expect(tree["sightings"] == .list([]))
    }

    @Test(
        "What is no survey is told with its line",
        arguments: [
            ("", "empty"), ("a,b\n", "`survey` is missing"), (head, nil),
            (head + first + "s-2,w-1\n", "line 3: `survey` is not"),
            (head + first + "s-1,\"w-1\n", "line 3: a quotation mark"),
            (head + first + String(repeating: ",", count: 12), "more cells"),
            (head.dropLast() + ",count\n" + first, "stands twice"), (head.dropLast() + ",\n", "needs a name"),
            ("survey.site.x," + head + "1," + first, "does not go together"),
            (head.dropLast() + ",sections.5001.section\n" + first.dropLast() + ",x\n", "does not go together"),
        ] as [(String, String?)])
    func faults(_ text: String, _ fault: String?) {
        do {
            _ = try SurveyCSV.decode(Array(text.utf8))
            #expect(fault == nil)
        } catch {
            #expect(fault.map(error.all.joined(separator: "\n").contains) == true, "\(error.all)")
        }
    }

    @Test("Another encoding is told of") func encoding() {
        #expect(throws: SurveyText.Faults(all: ["the file is not UTF-8 text: save it as UTF-8"])) {
            try SurveyCSV.decode(Array(Self.head.utf8) + [0xE9, 0x0A])
        }
    }

    static let map = """
        # An old client's node.
        field_id = survey
        field_site = site
        field_begin = start
        field_end = stop
        field_seen[].field_species = sightings[].species
        field_seen[].field_count = sightings[].count   # a text in these clients
        field_photo[] = photo_list
        @utc_offset = +03:00
        """

    @Test("A node of Drupal becomes a survey by the map") func node() throws {
        func field(_ text: String) -> XMLRPC.Value {
            .structure([XMLRPC.Member("und", .list([.structure([XMLRPC.Member("value", .text(text))])]))])
        }
        let node = XMLRPC.Value.structure([
            XMLRPC.Member("type", .text("survey")), XMLRPC.Member("field_id", field("s-1")),
            XMLRPC.Member("field_site", .text("w-1")), XMLRPC.Member("field_begin", field("2020-05-01 13:00:00")),
            XMLRPC.Member("field_end", .time("20200501T13:33:00")),
            XMLRPC.Member(
                "field_seen",
                .list([
                    .structure([
                        XMLRPC.Member("field_species", field("Danaus")), XMLRPC.Member("field_count", field("2")),
                    ]),
                    .structure([
                        XMLRPC.Member("field_species", .text("Papilio")), XMLRPC.Member("field_count", .integer(1)),
                    ]),
                ])),
            XMLRPC.Member("field_photo", .structure([XMLRPC.Member("und", .list([field("x"), field("y")]))])),
            XMLRPC.Member("observed_by_drone", .bool(true)), XMLRPC.Member("empty", .text("")),
        ])
        let expected = """
            {"survey":"s-1","site":"w-1","start":"2020-05-01T13:00:00+03:00","stop":"2020-05-01T13:33:00+03:00",
            "sightings":[{"species":"Danaus","count":2},{"species":"Papilio","count":1}],"photo_list":["x","y"],
            "observed_by_drone":true,"schema":1}
            """
        let map = try SurveyNodeMap(Array(SurveyCSVTests.map.utf8))
        #expect(try map.survey(of: node) == JSONValue(Array(expected.utf8)))
    }

    @Test("A map that cannot be is refused with its line", arguments: ["", "a", "a = b[]", "a[][] = b", "# x"])
    func maps(_ text: String) { #expect(throws: SurveyNodeMap.Fault.self) { try SurveyNodeMap(Array(text.utf8)) } }
}
