import Alerts
import Fleet
import Testing

/// A change of one parameter changes that and nothing else, whatever the file looks like.
struct ThresholdEditTests {
    private func texts(_ threshold: Threshold) -> [String: String] {
        Dictionary(threshold.elements) { first, _ in first }
    }

    private func rules(_ bytes: [UInt8]) throws -> [Threshold] {
        try ThresholdFile.parse(fileName: "x-thresholds.xml", bytes: bytes)
    }

    @Test("What stands there written again means the same", arguments: shippedModels)
    func writtenAgain(model: String) throws {
        var bytes = try shippedFile(model)
        let before = try rules(bytes)
        for threshold in before {
            bytes = try #require(
                try ThresholdEdit.put(texts(threshold), of: threshold.field, in: bytes, fileName: model))
            #expect(try rules(bytes) == before)
        }
    }

    @Test("One taken out and put back leaves all others as they are", arguments: shippedModels)
    func takenOut(model: String) throws {
        let bytes = try shippedFile(model)
        let before = try rules(bytes)
        for threshold in before {
            let without = try #require(try ThresholdEdit.put(nil, of: threshold.field, in: bytes, fileName: model))
            #expect(try rules(without) == before.filter { $0.field != threshold.field })
            let again = try #require(
                try ThresholdEdit.put(texts(threshold), of: threshold.field, in: without, fileName: model))
            #expect(try rules(again).sorted { $0.name < $1.name } == before.sorted { $0.name < $1.name })
        }
    }

    @Test("The name that a file uses, comments and what only looks like an element stay") func allElseStays() throws {
        let text = """
            <?xml version="1.0" encoding="utf-8"?>
            <!-- <parameter> is no element here, nor </parameter> -->
            <root>\r
            <parameter><!-- <name>Fuel Level</name></parameter> --><name>Machine Hours</name><test>above</test><unit> </unit>
              <type>int</type><user>farmer</user><threshold>50</threshold><advice><![CDATA[</parameter> & more]]></advice></parameter\t>
            <!-- last -->
            </root>
            """
        let field = ThresholdField.parameter(.engineHours)
        let standing = try #require(try rules(Array(text.utf8)).first)
        var changed = texts(standing)
        changed["threshold"] = "60"
        let bytes = try #require(try ThresholdEdit.put(changed, of: field, in: Array(text.utf8), fileName: "x"))
        let after = String(decoding: bytes, as: UTF8.self)
        #expect(
            after.hasPrefix(String(text.prefix(while: { $0 != "\r\n" }))) && after.hasSuffix("<!-- last -->\n</root>"))
        #expect(after.contains("<name>Machine Hours</name>"))
        var expected = standing
        expected.threshold = 60_000
        #expect(try rules(bytes) == [expected])
        #expect(try ThresholdEdit.put(nil, of: field, in: bytes, fileName: "x") == nil)
        #expect(
            try ThresholdEdit.standing(field, in: bytes, fileName: "x")
                != ThresholdEdit.standing(field, in: Array(text.utf8), fileName: "x"))
    }

    @Test("A file begins with its first parameter") func firstParameter() throws {
        let fuel = ThresholdField.parameter(.fuelLevel)
        let made = try #require(
            try ThresholdEdit.put(
                ["test": "below", "type": "int", "user": "farmer", "threshold": "5", "advice": "<&>"], of: fuel,
                in: nil, fileName: "x"))
        let rule = try #require(try rules(made).first)
        #expect(rule.field == fuel && rule.threshold == 5_000 && rule.advice == "<&>" && rule.unit.isEmpty)
        #expect(try ThresholdEdit.put(nil, of: fuel, in: nil, fileName: "x") == nil)
    }

    @Test("A file that does not load, or is written otherwise, is left alone") func leftAlone() {
        let fuel = ThresholdField.parameter(.fuelLevel)
        for text in [
            "<root><parameter>", "<root></root>",
            #"<?xml version="1.0" encoding="iso-8859-1"?><root><parameter><name>Fuel Level</name>"#
                + "<test>none</test><unit> </unit><type>int</type><user>farmer</user><threshold>0</threshold></parameter></root>",
        ] {
            #expect(throws: ThresholdEdit.Fault.self) {
                try ThresholdEdit.put(["test": "none"], of: fuel, in: Array(text.utf8), fileName: "x")
            }
        }
    }
}
