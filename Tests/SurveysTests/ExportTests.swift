import Foundation
import Surveys
import Testing

struct ExportTests {
    @Test("Rows of PostgreSQL's text format are read with their escapes")
    func copyText() {
        let row = Array("a\\tb\t\\N\t\t\\\\N\t\\n\\r\\b\\f\\v\té\n".utf8)
        let fields = CopyText.fields(row).map { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(fields == ["a\tb", nil, "", "\\N", "\n\r\u{8}\u{C}\u{B}", "é"])
    }

    @Test("A feature is JSON that another reader reads, with its longitude first")
    func feature() throws {
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

    @Test("A line of an archive has as many cells as terms, whatever its texts hold")
    func line() {
        let table = DarwinCore.measurements
        var fields = [[UInt8]?](repeating: nil, count: table.terms.count)
        fields[0] = Array("a\tb\r\nc".utf8)
        fields[4] = Array("1.5".utf8)
        #expect(String(decoding: DarwinCore.line(fields, of: table), as: UTF8.self) == "a b  c\t\t\t\t1.5\t\t\t\n")
    }

    @Test("Every term of a table is named once, and the event's id comes first")
    func terms() {
        for table in DarwinCore.tables {
            #expect(Set(table.terms).count == table.terms.count && table.terms[0] == "eventID")
        }
        let meta = String(decoding: DarwinCore.meta, as: UTF8.self)
        #expect(meta.ranges(of: "<extension ").count == 2 && meta.ranges(of: "<coreid index=\"0\"/>").count == 2)
        #expect(meta.ranges(of: "<field ").count == DarwinCore.tables.reduce(0) { $0 + $1.terms.count })
    }
}
