import Foundation
import Surveys
import Testing

struct ExportTests {
    @Test("Rows of PostgreSQL's text format are read with their escapes") func copyText() {
        let row = Array("a\\tb\t\\N\t\t\\\\N\t\\n\\r\\b\\f\\v\té\n".utf8)
        let fields = CopyText.fields(row).map { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(fields == ["a\tb", nil, "", "\\N", "\n\r\u{8}\u{C}\u{B}", "é"])
    }

    @Test("A feature is JSON that another reader reads, with its longitude first") func feature() throws {
        let features = SightingFeatures(properties: [
            ("name", .text), ("count", .json), ("others", .json), ("gone", .text),
        ])
        let rows: [[String?]] = [
            ["-3.5", "39.25", "=\"x\"\n\u{1}é", "2", "{\"a\": [1]}", nil], [nil, nil, "y", "0", nil, ""],
        ]
        let lines = rows.map { features.feature($0.map { $0.map { Array($0.utf8) } }) }
        let whole = SightingFeatures.head + lines.joined(separator: Array(",\n".utf8)) + SightingFeatures.tail
        let read = try JSONSerialization.jsonObject(with: Data(whole)) as? NSDictionary
        let expected: NSDictionary = [
            "type": "FeatureCollection",
            "features": [
                [
                    "type": "Feature", "geometry": ["type": "Point", "coordinates": [39.25, -3.5]],
                    "properties": ["name": "=\"x\"\n\u{1}é", "count": 2, "others": ["a": [1]]],
                ],
                ["type": "Feature", "geometry": NSNull(), "properties": ["name": "y", "count": 0, "gone": ""]],
            ],
        ]
        #expect(read == expected)
    }

    @Test("A line of an archive has as many cells as terms, whatever its texts hold") func line() {
        let table = DarwinCore.measurements
        var fields = [[UInt8]?](repeating: nil, count: table.terms.count)
        fields[0] = Array("a\tb\r\nc".utf8)
        fields[4] = Array("1.5".utf8)
        #expect(String(decoding: DarwinCore.line(fields, of: table), as: UTF8.self) == "a b  c\t\t\t\t1.5\t\t\t\n")
    }

    @Test("A row of COPY becomes the same line as its fields, and a way becomes well-known text") func row() {
        func line(_ row: String, of table: DarwinCore.Table) -> String {
            var lines: [UInt8] = []
            DarwinCore.append(Array(row.utf8).span, of: table, to: &lines)
            return String(decoding: lines, as: UTF8.self)
        }
        let row = "a\\tb\\n\\\\c\t\t\té\t\\r\t1\t\tx\n"
        let fields: [String] = ["a\tb\n\\c", "", "", "é", "\r", "1", "", "x"]
        let expected = DarwinCore.line(fields.map { Array($0.utf8) }, of: DarwinCore.measurements)
        #expect(line(row, of: DarwinCore.measurements) == String(decoding: expected, as: UTF8.self))
        // The example of Google's page on the format; a backslash of it comes escaped.
        let terms = DarwinCore.events.terms
        for (encoded, text) in [
            ("_p~iF~ps|U_ulLnnqC_mqNvxq`@", "LINESTRING (-120.2 38.5, -120.95 40.7, -126.453 43.252)"),
            ("??\\\\?", "LINESTRING (0 0, 0 -0.00015)"), ("_p~iF~ps|U", ""), ("_", ""), ("", ""),
        ] {
            let row = terms.map { $0 == "footprintWKT" ? encoded : "" }.joined(separator: "\t")
            let cells = line(row, of: DarwinCore.events).dropLast().split(
                separator: "\t", omittingEmptySubsequences: false)
            #expect(cells.count == terms.count && cells.joined() == text)
            #expect(cells[terms.firstIndex(of: "footprintWKT")!] == text)
        }
    }

    @Test("Measurements of a walk and of its sightings, each with its unit, method and time") func measurements() {
        var lines: [UInt8] = []
        func bytes(_ fields: [String?]) -> [[UInt8]?] { fields.map { $0.map { Array($0.utf8) } } }
        Measurements.append(
            walk: bytes([
                "watamu:s-1", "2020-05-01T13:00:00+03:00", "180",
                #"{"rain": false, "sun_pct": 60, "gauge": 3, "temperature_c": null}"#,
                """
                [{"ts": 1588327200000, "source": "open-meteo", "model": "archive", "temperature_c": 25.5, "x": 1},
                 {"temperature_c": 1}, {"ts": 1588330800000, "humidity_pct": 70}]
                """,
            ]), to: &lines)
        Measurements.append(
            sighting: bytes(["watamu:s-1", "watamu:s-1:0", "2020-05-01T13:20:00+03:00", nil, "900"]), to: &lines)
        Measurements.append(sighting: bytes(["watamu:s-1", "watamu:s-1:1", "x", nil, nil]), to: &lines)
        let expected = [
            "sunshine\t\tsunshine\t60\t%\tsurveyor\t2020-05-01T13:00:00+03:00",
            "rain\t\train\tfalse\t\tsurveyor\t2020-05-01T13:00:00+03:00",
            "2020-05-01T10Z:air-temperature\t\tair temperature\t25.5\t°C\topen-meteo archive\t2020-05-01T13:00:00+03:00",
            "2020-05-01T11Z:relative-humidity\t\trelative humidity\t70\t%\t\t2020-05-01T14:00:00+03:00",
            "0:illuminance\twatamu:s-1:0\tilluminance\t900\tlx\tsurveyor\t2020-05-01T13:20:00+03:00",
        ].map { "watamu:s-1\twatamu:s-1:\($0)\n" }
        #expect(String(decoding: lines, as: UTF8.self) == expected.joined())
    }

    @Test("A walk's feature is its line, else its place, else none") func walk() {
        let features = SightingFeatures(properties: [("survey", .text)], hasLine: true)
        for (fields, geometry) in [
            (["1", "2", "??_ibE?"], #"{"type":"LineString","coordinates":[[0,0],[0,1]]}"#),
            (["1", "2", "_"], #"{"type":"Point","coordinates":[2,1]}"#),
            (["1", "2", nil], #"{"type":"Point","coordinates":[2,1]}"#), ([nil, nil, nil], "null"),
        ] as [([String?], String)] {
            let feature = features.feature((fields + ["s"]).map { $0.map { Array($0.utf8) } })
            #expect(
                String(decoding: feature, as: UTF8.self)
                    == "{\"type\":\"Feature\",\"geometry\":\(geometry),\"properties\":{\"survey\":\"s\"}}")
        }
    }

    @Test("Every term of a table is named once, and the event's id comes first") func terms() {
        for table in DarwinCore.tables {
            #expect(Set(table.terms).count == table.terms.count && table.terms[0] == "eventID")
        }
        let meta = String(decoding: DarwinCore.meta, as: UTF8.self)
        #expect(meta.ranges(of: "<extension ").count == 2 && meta.ranges(of: "<coreid index=\"0\"/>").count == 2)
        #expect(meta.ranges(of: "<field ").count == DarwinCore.tables.reduce(0) { $0 + $1.terms.count })
    }
}
