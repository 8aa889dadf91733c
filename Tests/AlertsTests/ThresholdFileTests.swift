import Alerts
import Fleet
import Foundation
import SimKit
import Testing

struct ThresholdFileTests {
    // MARK: Shipped files

    @Test(
        "Shipped files say what the table says",
        arguments: [
            ("S690 Combine", 65, 330, 55, 160, 193), ("R4038 Sprayer", 40, 155, 88, 420, 441),
            ("8R Tractor", 50, 190, 55, 70, 80),
        ] as [(String, Int64, Int64, Int64, Int64, Int64)])
    func shippedValues(model: String, fuel: Int64, capacity: Int64, oil: Int64, tire: Int64, recommended: Int64) throws
    {
        let rows = Dictionary(uniqueKeysWithValues: try shippedRules(model).map { ($0.name, $0) })
        // Test, limit, critical, for, absent, every, recommended, capacity (in the unit) and who sees it.
        struct Limits: Equatable {
            var test: Threshold.Test, limit: Int64? = nil, critical: Int64? = nil, hold: Int64 = 0,
                absent: Int64? = nil, every: Int64? = nil, soon: Int64? = nil
            var recommended: Int64? = nil, capacity: Int64? = nil, audience: Audience = .farmer
        }
        let wanted: [String: Limits] = [
            "Fuel Level": Limits(test: .below, limit: fuel, capacity: capacity),
            "Engine Hours": Limits(test: .above, limit: 50, every: 50, soon: 5),
            "Coolant Temperature": Limits(test: .above, limit: 85, critical: 95),
            "Hydraulic Oil Temperature": Limits(test: .above, limit: oil),
            "Tire Pressure": Limits(test: .below, limit: tire, recommended: recommended),
            "GPS Available": Limits(test: .below, limit: 1, hold: 300, absent: 300),
            "RDA License Available": Limits(test: .shown), "WDT License Available": Limits(test: .shown),
            "Machine Sync Available": Limits(test: .shown), "Connected Devices": Limits(test: .shown),
            "Terminal Serial Number": Limits(test: .shown, audience: .dealer),
            "MTG Firmware Version": Limits(test: .shown, audience: .dealer),
            "Last Cell Call In": Limits(test: .above, limit: 5, audience: .dealer),
            "Last Reprogramming Status": Limits(test: .below, limit: 1, audience: .dealer),
            // Not in the spec's table: "a polled box that does not answer raises one `no contact`".
            "Contact": Limits(test: .below, limit: 1),
        ]
        func whole(_ value: Int64?) -> Int64? { value.map { $0 % 1_000 == 0 ? $0 / 1_000 : -1 } }
        let found = rows.mapValues { row in
            Limits(
                test: row.test, limit: whole(row.threshold), critical: whole(row.critical), hold: row.holdMs / 1_000,
                absent: whole(row.absentMs), every: whole(row.every), soon: whole(row.soon),
                recommended: whole(row.recommended), capacity: whole(row.capacity), audience: row.audience)
        }
        #expect(found == wanted)
        for row in rows.values {
            if row.test != .shown { #expect(row.advice != nil, "\(row.name)") }
            if let clear = row.clear { #expect(row.test == .above ? clear < row.threshold! : clear > row.threshold!) }
        }
    }

    @Test("The list of models is that of the files") func models() throws {
        let bytes = try Repository.bytes("Deploy/thresholds/tractors.xml")
        #expect(
            try ModelList.parse(fileName: "tractors.xml", bytes: bytes) == [
                MachineModel(name: "S690 Combine", image: "S690 Combine.svg", fuelCapacityGal: 330),
                MachineModel(name: "R4038 Sprayer", image: "R4038 Sprayer.svg", fuelCapacityGal: 155),
                MachineModel(name: "8R Tractor", image: "8R Tractor.svg", fuelCapacityGal: 190),
            ])
    }

    @Test("A list of models without pictures loads") func bareModels() throws {
        let bytes = Array("<root><model><name> 8R\n Tractor </name></model></root>".utf8)
        #expect(
            try ModelList.parse(fileName: "tractors.xml", bytes: bytes) == [
                MachineModel(name: "8R Tractor", image: nil, fuelCapacityGal: nil)
            ])
    }

    @Test(
        "What a list of models must not hold",
        arguments: [
            ("<model><name></name></model>", "<model>: is missing; accepted: <model> with a <name>"),
            ("<tractor><name>x</name></tractor>", "<tractor>: is missing; accepted: <model> with a <name>"),
            ("<model><name>../x</name></model>", "<name>: is \"../x\", a model's name is part of file names"),
            ("<model><name>x</name><image>../x.png</image></model>", "<image>: is \"../x.png\", a picture's name is"),
            ("<model><name>x</name><image>.x</image></model>", "<image>: is \".x\", a picture's name is"),
            (
                "<model><name>x</name><fuelCapacity>0</fuelCapacity></model>",
                "<fuelCapacity>: is \"0\", must be a number"
            ),
            ("<model><name>x</name><fuelCapacity>big</fuelCapacity></model>", "<fuelCapacity>: is \"big\", must be"),
        ])
    func badModels(text: String, says: String) throws {
        let error = try #require(throws: ThresholdError.self) {
            try ModelList.parse(fileName: "tractors.xml", bytes: Array("<root>\n\(text)</root>".utf8))
        }
        #expect(error.description.hasPrefix("tractors.xml:2: \(says)"), "\(error)")
    }

    @Test(
        "File names",
        arguments: [
            ("8R Tractor-thresholds.xml", "8R Tractor"), ("a-thresholds.xml", "a"), ("-thresholds.xml", nil),
            ("8R Tractor.xml", nil),
            ("8R Tractor-thresholds.xml~", nil), ("8R Tractor-Thresholds.xml", nil), ("tractors.xml", nil), ("", nil),
        ] as [(String, String?)])
    func fileNames(name: String, model: String?) { #expect(ThresholdFile.model(of: name) == model) }

    // MARK: Good files

    /// A parameter as old files have it, with the named parts replaced; an empty part is left out.
    private static func parameter(_ parts: [String: String] = [:], more: String = "") -> String {
        let usual = [
            ("name", "Fuel Level"), ("test", "below"), ("unit", "gallons"), ("type", "int"), ("user", "farmer"),
            ("threshold", "65"),
        ]
        return "<parameter>\n"
            + usual.compactMap { name, value in parts[name] == "" ? nil : "<\(name)>\(parts[name] ?? value)</\(name)>\n"
            }.joined() + more + "</parameter>\n"
    }
    private static func file(_ parameters: String...) -> String { "<root>\n\(parameters.joined())</root>\n" }
    private static func parse(_ text: String) throws(ThresholdError) -> [Threshold] {
        try ThresholdFile.parse(fileName: "x-thresholds.xml", bytes: Array(text.utf8))
    }

    @Test("An old file without our elements") func old() throws {
        let rows = try Self.parse(
            Self.file(
                Self.parameter(),
                Self.parameter(["name": "GPS Working", "unit": " ", "type": "bool", "threshold": "1"]),
                Self.parameter([
                    "name": "MTG Serial Number", "test": "none", "type": "string", "user": "dealer",
                    "threshold": "none",
                ])))
        #expect(rows.map(\.name) == ["Fuel Level", "GPS Available", "Terminal Serial Number"])
        #expect(rows.map(\.threshold) == [65_000, 1_000, nil])
        #expect(rows.map(\.unit) == ["gallons", "", "gallons"])
        #expect(
            rows.allSatisfy {
                $0.critical == nil && $0.holdMs == 0 && $0.clear == nil && $0.absentMs == nil && $0.every == nil
                    && $0.advice == nil
            })
        #expect(rows.map(\.judged) == [.fuelLevel, .gpsAvailable, nil])
    }

    @Test(
        "Names and their aliases", arguments: ThresholdField.table.flatMap { row in row.names.map { ($0, row.field) } })
    func aliases(name: String, field: ThresholdField) throws {
        let rows = try Self.parse(Self.file(Self.parameter(["name": name, "test": "none", "type": "string"])))
        #expect(rows.map(\.field) == [field])
    }

    @Test(
        "Blanks around a text do not matter",
        arguments: [
            " Fuel Level ", "\n\tFuel Level\r\n", "Fuel&#32;Level", "<![CDATA[Fuel Level]]>",
            "Fuel<!-- a remark --> Level",
        ])
    func blanks(name: String) throws {
        let rows = try Self.parse(
            Self.file(
                Self.parameter(["name": name, "test": "\tbelow ", "threshold": " 65 "])))
        #expect(rows.map(\.field) == [.parameter(.fuelLevel)] && rows[0].test == .below && rows[0].threshold == 65_000)
    }

    @Test(
        "Numbers",
        arguments: [("65.5", 65_500), ("-4", -4_000), ("0", 0), ("+7", 7_000), ("1e2", 100_000), ("0.0004", 0)]
            as [(String, Int64)])
    func numbers(text: String, value: Int64) throws {
        #expect(
            try Self.parse(Self.file(Self.parameter(["threshold": text])))[0]
                .threshold == value)
    }

    @Test("A mark at the start and Windows line ends") func windows() throws {
        let text = "\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + Self.file(Self.parameter())
        #expect(try Self.parse(text.replacingOccurrences(of: "\n", with: "\r\n")).count == 1)
    }

    // MARK: Bad files

    struct Bad: CustomTestStringConvertible {
        let text: String, line: Int, element: String, says: [String]
        init(_ text: String, _ line: Int, _ element: String, _ says: String...) {
            (self.text, self.line, self.element, self.says) = (text, line, element, says)
        }
        var testDescription: String { "\(element) \(says)" }
    }
    static let bad = [
        Bad(file(parameter(["name": "Fuel level"])), 3, "name", "\"Fuel level\"", "Fuel Level", "Machine Hours"),
        Bad(file(parameter(["name": " "])), 3, "name", "Fuel Level"),
        Bad(file(parameter(["test": "less"])), 4, "test", "\"less\"", "above, below, none"),
        Bad(file(parameter(["test": "Below"])), 4, "test", "above, below, none"),
        Bad(file(parameter(["type": "float"])), 6, "type", "int, bool, string"),
        Bad(file(parameter(["user": "admin"])), 7, "user", "\"admin\"", "farmer, dealer, developer"),
        Bad(file(parameter(["threshold": "sixty"])), 8, "threshold", "\"sixty\"", "number such as 65"),
        Bad(file(parameter(["threshold": "65,5"])), 8, "threshold", "number"),
        Bad(file(parameter(["threshold": "0x41"])), 8, "threshold", "number"),
        Bad(file(parameter(["threshold": "inf"])), 8, "threshold", "number"),
        Bad(file(parameter(["threshold": " "])), 8, "threshold", "number"),
        Bad(file(parameter(["threshold": "1000000001"])), 8, "threshold", "from -1000000000 to 1000000000"),
        Bad(file(parameter(["threshold": "-9000000000"])), 8, "threshold", "from -1000000000"),
        Bad(file(parameter(["threshold": "99999999999999999999"])), 8, "threshold", "number"),
        Bad(file(parameter(["threshold": "65 gal"])), 8, "threshold", "\"65 gal\""),
        Bad(file(parameter(["name": "GPS Available", "type": "bool", "threshold": "2"])), 8, "threshold", "0, 1"),
        Bad(file(parameter(["name": "GPS Available", "type": "bool", "threshold": "true"])), 8, "threshold", "0, 1"),
        Bad(file(parameter(["name": "GPS Available"])), 6, "type", "compared as bool"),
        Bad(file(parameter(["type": "bool", "threshold": "1"])), 6, "type", "compared as int"),
        Bad(file(parameter(["type": "string"])), 6, "type", "compared as int"),
        Bad(file(parameter(["name": "Machine ID", "type": "string"])), 4, "test", "only shown", "none"),
        Bad(file(parameter(["name": ""])), 2, "parameter", "<name>", "missing"),
        Bad(file(parameter(["test": ""])), 2, "parameter", "<test>"),
        Bad(file(parameter(["unit": ""])), 2, "parameter", "<unit>"),
        Bad(file(parameter(["threshold": ""])), 2, "parameter", "<threshold>"),
        Bad(file(parameter(more: "<hold>5</hold>\n")), 9, "hold", "not an element", "absent", "for"),
        Bad(file(parameter(more: "<test>above</test>\n")), 9, "test", "second time", "line 4"),
        Bad(file(parameter(more: "<for>-1</for>\n")), 9, "for", "from 0"),
        Bad(file(parameter(more: "<for>5 min</for>\n")), 9, "for", "number"),
        Bad(file(parameter(more: "<absent>-300</absent>\n")), 9, "absent", "from 0"),
        Bad(file(parameter(more: "<every>soon</every>\n")), 9, "every", "number"),
        Bad(file(parameter(more: "<every>50</every>\n")), 9, "every", "Engine Hours"),
        Bad(file(parameter(more: "<soon>5</soon>\n")), 9, "soon", "without <every>"),
        Bad(file(parameter(["name": "Engine Hours"], more: "<every>65</every>\n")), 9, "every", "with the test above"),
        Bad(
            file(parameter(["name": "Engine Hours", "test": "above"], more: "<every>250</every>\n")), 8, "threshold",
            "\"65\"", "same number"),
        Bad(
            file(parameter(["name": "Engine Hours", "test": "above"], more: "<every>65</every>\n<soon>65</soon>\n")),
            10, "soon", "less than <every>"),
        Bad(file(parameter(more: "<critical>70</critical>\n")), 9, "critical", "beyond the threshold"),
        Bad(file(parameter(more: "<clear>60</clear>\n")), 9, "clear", "good side"),
        Bad(
            file(parameter(["name": "Coolant Temperature", "test": "above"], more: "<critical>60</critical>\n")), 9,
            "critical", "beyond the threshold"),
        Bad(
            file(parameter(["name": "Coolant Temperature", "test": "above"], more: "<clear>70</clear>\n")), 9, "clear",
            "good side"),
        Bad(
            file(parameter(more: "<advice>\(String(repeating: "a", count: 1_001))</advice>\n")), 9, "advice",
            "1000 bytes"),
        Bad(file(parameter(["unit": String(repeating: "u", count: 5_000)])), 5, "unit", "bytes"),
        Bad(file(parameter(), parameter()), 10, "parameter", "\"Fuel Level\"", "second time", "line 2"),
        Bad(
            file(parameter(["name": "Engine Hours"]), parameter(["name": "Machine Hours"])), 10, "parameter",
            "second time"),
        Bad(file("<param/>\n", parameter()), 2, "param", "parameter"),
        Bad(file(parameter(["threshold": "6<b/>5"])), 8, "b", "text only"), Bad("<root/>", 1, "root", "<parameter>"),
        Bad("<thresholds>\(parameter())</thresholds>", 1, "thresholds", "root"),
    ]

    @Test("One mistake: file, line, element, reason", arguments: bad) func mistakes(_ bad: Bad) throws {
        let error = try #require(throws: ThresholdError.self) { try Self.parse(bad.text) }
        #expect(error.problems.count == 1, "\(error)")
        #expect(error.problems[0].file == "x-thresholds.xml")
        #expect(error.problems[0].line == bad.line, "\(error)")
        #expect(error.problems[0].element == bad.element)
        #expect(error.description.hasPrefix("x-thresholds.xml:\(bad.line): <\(bad.element)>: "))
        for text in bad.says { #expect(error.description.contains(text), "\(error)") }
    }

    @Test("All mistakes are told together, in the order of the file") func together() throws {
        let text = Self.file(
            Self.parameter(["name": "Fule Level", "test": "under", "type": "integer", "user": "boss"]),
            Self.parameter(["threshold": "x"], more: "<clear>y</clear>\n"), Self.parameter(["name": "GPS Available"]))
        let error = try #require(throws: ThresholdError.self) { try Self.parse(text) }
        #expect(error.problems.map(\.element) == ["name", "test", "type", "user", "threshold", "clear", "type"])
        #expect(error.problems.map(\.line) == [3, 4, 6, 7, 16, 17, 23])
        #expect(error.description.split(separator: "\n").count == 7)
    }

    @Test("A flood of mistakes is cut") func flood() throws {
        let text = Self.file(String(repeating: "<x/>\n", count: 5_000))
        let error = try #require(throws: ThresholdError.self) { try Self.parse(text) }
        #expect(error.problems.count == ThresholdError.problemsMax)
    }

    @Test("A hostile value does not break the text's line") func hostileValue() throws {
        let error = try #require(throws: ThresholdError.self) {
            try Self.parse(
                Self.file(Self.parameter(["name": "a\nb\u{202E}c\u{9B}" + String(repeating: "d", count: 500)])))
        }
        #expect(
            !error.description.contains("\n") && !error.description.contains("\u{202E}")
                && !error.description.contains("\u{9B}"))
        #expect(error.description.contains("…"))
    }

    static let laughs =
        #"<?xml version="1.0"?>\#n<!DOCTYPE root [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>\#n<root>&c;</root>"#

    struct Unread: CustomTestStringConvertible {
        let testDescription: String, bytes: [UInt8], line: Int, says: String
        init(_ name: String, _ text: String, _ line: Int, _ says: String) {
            self.init(name, Array(text.utf8), line, says)
        }
        init(_ name: String, _ bytes: [UInt8], _ line: Int, _ says: String) {
            (testDescription, self.bytes, self.line, self.says) = (name, bytes, line, says)
        }
    }
    static let unread = [
        Unread("empty", "", 1, "XML"), Unread("blanks", "  \n \n", 3, "XML"),
        Unread("text", "Fuel Level: 65", 1, "XML"), Unread("JSON", "{\"root\": []}", 1, "XML"),
        Unread("random bytes", (0..<200).map { UInt8(($0 &* 73 &+ 131) & 0xFF) | 0x80 }, 1, "UTF-8"),
        Unread("truncated", String(file(parameter()).dropLast(12)), 9, "XML"),
        Unread("truncated in a tag", "<root>\n<param", 2, "XML"),
        Unread("a tag left open", "<root><parameter></root>", 1, "XML"),
        Unread("two roots", "<root/>\n<root/>", 2, "XML"), Unread("billion laughs", laughs, 2, "document type"),
        Unread("document type", "<!DOCTYPE root><root/>", 1, "document type"),
        Unread(
            "outside entity", "<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><root>&x;</root>", 1,
            "document type"),
        Unread("unknown entity", "<root>&nope;</root>", 1, "XML"),
        Unread("NUL", Array("<root>\n".utf8) + [0] + Array("</root>".utf8), 1, "NUL"),
        Unread("UTF-16", [0xFF, 0xFE] + "<root/>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, 1, "UTF-8"),
        Unread(
            "UTF-7 hides a document type",
            #"<?xml version="1.0" encoding="UTF-7"?>\#n+ADwAIQ-DOCTYPE root+AD4-<root/>"#, 1, "UTF-8"),
        Unread("another encoding is named", "<?xml version='1.0' encoding = 'IBM037'?><root/>", 1, "UTF-8"),
        Unread(
            "not UTF-8",
            Array("<root><parameter><unit>".utf8) + [0xB0, 0x43] + Array("</unit></parameter></root>".utf8), 1, "UTF-8"),
        Unread("300 KB", "<root>" + String(repeating: " ", count: 300_000) + "</root>", 1, "at most 262144"),
        Unread(
            "deep", String(repeating: "<root>\n", count: 50) + String(repeating: "</root>", count: 50), 9,
            "deeper than 8"),
        Unread("very deep and not closed", String(repeating: "<a>", count: 80_000), 1, "deeper than 8"),
    ]

    @Test("What is no file of ours", arguments: unread) func isUnread(_ bad: Unread) throws {
        let error = try #require(throws: ThresholdError.self) {
            try ThresholdFile.parse(fileName: "x-thresholds.xml", bytes: bad.bytes)
        }
        #expect(error.problems.count == 1)
        #expect(error.problems[0].line == bad.line, "\(error)")
        #expect(error.description.contains(bad.says), "\(error)")
        #expect(throws: ThresholdError.self) { try ModelList.parse(fileName: "tractors.xml", bytes: bad.bytes) }
    }

    @Test("Cut off anywhere a shipped file does not load", arguments: stride(from: 0, to: 3_800, by: 97).map { $0 })
    func truncated(length: Int) throws {
        let bytes = try shippedFile(tractor)
        try #require(bytes.count > 3_810)
        #expect(throws: ThresholdError.self) {
            try ThresholdFile.parse(fileName: "x-thresholds.xml", bytes: Array(bytes[..<length]))
        }
    }
}
