import Codecs
import Formats
import SimKit
import Testing

struct XMLRPCTests {
    static func body(_ value: String) -> [UInt8] {
        Array(
            "<?xml version=\"1.0\"?><methodCall><methodName>a.b</methodName><params><param>\(value)</param></params></methodCall>"
                .utf8)
    }

    @Test(
        "Each type is read, and what is none is a fault",
        arguments: [
            Row("untyped", "<value> a &amp; b</value>", .text(" a & b")),
            Row("text", "<value><string>&lt;&#233;</string></value>", .text("<é")), Row("empty", "<value/>", .text("")),
            Row("int", "<value><int> -7 </int></value>", .integer(-7)),
            Row("i4 too large", "<value><i4>2147483648</i4></value>", nil),
            Row("i8", "<value><i8>2147483648</i8></value>", .integer(2_147_483_648)),
            Row("double", "<value><double>+.5</double></value>", .double("0.5")),
            Row("no double", "<value><double>nan</double></value>", nil),
            Row("hexadecimal", "<value><double>0x10</double></value>", nil),
            Row("boolean", "<value><boolean>1</boolean></value>", .bool(true)),
            Row("no boolean", "<value><boolean>true</boolean></value>", nil),
            Row(
                "time", "<value><dateTime.iso8601>20200501T13:00:00</dateTime.iso8601></value>",
                .time("20200501T13:00:00")),
            Row("bytes", "<value><base64>aGVs\nbG8=</base64></value>", .bytes(Array("hello".utf8))),
            Row("bytes cut off", "<value><base64>aGVsbG8</base64></value>", nil),
            Row("nil", "<value><nil/></value>", .null),
            Row("list", "<value><array><data><value>a</value></data></array></value>", .list([.text("a")])),
            Row("list without data", "<value><array><value>a</value></array></value>", nil),
            Row(
                "struct", "<value><struct><member><name>a</name><value><int>1</int></value></member></struct></value>",
                .structure([XMLRPC.Member("a", .integer(1))])),
            Row(
                "name twice",
                "<value><struct><member><name>a</name><value/></member><member><name>a</name><value/></member></struct></value>",
                nil), Row("two types", "<value><int>1</int><int>1</int></value>", nil),
            Row("unknown type", "<value><float>1</float></value>", nil),
        ] as [Row<String, XMLRPC.Value?>])
    func values(_ row: Row<String, XMLRPC.Value?>) throws {
        #expect((try? XMLRPC.opening(Self.body(row.given)))?.method == "a.b")
        guard let value = row.wanted else {
            #expect(throws: XMLRPC.Fault.self) { try XMLRPC.call(Self.body(row.given)) }
            return
        }
        let call = try XMLRPC.call(Self.body(row.given))
        #expect(call == XMLRPC.Call(method: "a.b", parameters: [value]))
    }

    static let bomb = """
        <?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">]>
        <methodCall><methodName>&c;</methodName></methodCall>
        """

    @Test(
        "Hostile documents are faults",
        arguments: [
            ("a bomb", Array(bomb.utf8)), ("not XML", Array("{}".utf8)), ("nothing", []),
            ("cut off", Array("<methodCall><methodName>a</methodName>".utf8)),
            ("an unknown entity", body("<value>&b;</value>")), ("another root", Array("<methodResponse/>".utf8)),
            ("UTF-16", [0xFF, 0xFE] + "<methodCall/>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
            ("Latin-1 that says nothing of it", body("<value>a</value>") + [0xE9]),
            ("a method with blanks", Array("<methodCall><methodName>a b</methodName></methodCall>".utf8)),
            ("deep", body(String(repeating: "<value><array><data>", count: 30))),
            (
                "wide",
                body("<value><array><data>" + String(repeating: "<value/>", count: 200_001) + "</data></array></value>")
            ),
            ("too large", body("<value>" + String(repeating: "a", count: XMLRPC.bytesMax) + "</value>")),
        ] as [(String, [UInt8])])
    func hostile(_ name: String, _ bytes: [UInt8]) {
        #expect(throws: XMLRPC.Fault.self, "\(name)") { try XMLRPC.call(bytes) }
    }

    @Test("What is written is read as it was") func written() throws {
        let value = XMLRPC.Value.structure([
            XMLRPC.Member(
                "a<b", .list([.integer(1 << 40), .bool(false), .double("1.5"), .text("x & y ]]>\r\n\u{FFFD}"), .null])),
            XMLRPC.Member("c", .bytes([0, 1, 2, 250])), XMLRPC.Member("d", .time("20200501T13:00:00")),
        ])
        let answer = String(decoding: XMLRPC.response(value), as: UTF8.self)
        let inner = answer.split(separator: "<param>")[1].split(separator: "</param>")[0]
        #expect(try XMLRPC.call(Self.body(String(inner))).parameters == [value])
        let fault = String(decoding: XMLRPC.fault(code: 409, "a\u{1}<"), as: UTF8.self)
        #expect(
            fault.contains("<name>faultCode</name><value><int>409</int></value>") && fault.contains("a\u{FFFD}&lt;"))
    }

    @Test(
        "Who calls stands in front, whatever follows",
        arguments: [
            ("<param><value>who</value></param>", "who"), ("<param><value><string>who</string></value></param>", "who"),
            ("<param><value><int>1</int></value></param>", nil), ("<param><value><struct>", nil), ("", nil),
        ] as [(String, String?)])
    func opening(_ first: String, _ shown: String?) throws {
        let rest = String(repeating: "<param><value><array><data>", count: 1_000)
        let text = "<methodCall><methodName>a.b</methodName><params>\(first)\(rest)"
        #expect(try XMLRPC.opening(Array(text.utf8)) == XMLRPC.Opening(method: "a.b", shown: shown))
    }

    @Test(
        "Tags are bounded before they are parsed, and what only looks like one is none",
        arguments: [
            ("<value><!-- \(attributes(40)) --></value>", true),
            ("<value><![CDATA[<a \(attributes(40))>]]></value>", true),
            ("<value a=\"\(String(repeating: "=", count: 40))\"/>", true), ("<value \(attributes(32))/>", true),
            ("<value \(attributes(33))/>", false), ("<value a='\(String(repeating: "x", count: 8_200))'/>", false),
            ("<\(String(repeating: "v", count: 201))/>", false),
        ])
    func tags(_ value: String, _ isTaken: Bool) {
        #expect(((try? XMLRPC.call(Self.body(value))) != nil) == isTaken)
    }

    private static func attributes(_ count: Int) -> String { (0..<count).map { "a\($0)=''" }.joined(separator: " ") }
}
