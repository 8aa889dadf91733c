import Codecs
import Formats
import Testing

@Suite struct JSONItemsTests {
    struct Case: CustomTestStringConvertible {
        let name, body: String
        let expect: Result<[String], JSONItems.Fault>
        init(_ name: String, _ body: String, _ expect: Result<[String], JSONItems.Fault>) {
            (self.name, self.body, self.expect) = (name, body, expect)
        }
        var testDescription: String { name }
    }

    @Test(arguments: [
        Case("one object", " {\"a\":[1,2]}\n", .success(["{\"a\":[1,2]}"])),
        Case("an array", "[ {\"a\":1} ,\n{\"b\":[{},{}]}]", .success(["{\"a\":1}", "{\"b\":[{},{}]}"])),
        Case("an empty array", "[ ]", .success([])),
        Case(
            "brackets and quotes in texts", #"[{"a":"],[\"}"},{"b":"\\"}]"#,
            .success([#"{"a":"],[\"}"}"#, #"{"b":"\\"}"#])),
        Case("bad elements are items", "[nonsense,{\"a\":1},,]", .success(["nonsense", "{\"a\":1}", "", ""])),
        Case("nested arrays are items", "[[1,2],3]", .success(["[1,2]", "3"])),
        Case("nothing", " \n", .failure(.notItems)),
        Case("an array cut off", "[{\"a\":1},{\"b\":", .failure(.notItems)),
        Case("cut off in a text", "[{\"a\":\"]", .failure(.notItems)),
        Case("something behind the array", "[{}] {}", .failure(.notItems)),
        Case("closed by the wrong bracket", "[{}}", .failure(.notItems)),
        Case("four, three are taken", "[1,2,3,4]", .failure(.tooMany(most: 3))),
    ])
    func split(_ c: Case) throws {
        let most = c.name.hasPrefix("four") ? 3 : 10
        #expect(
            Result { () throws(JSONItems.Fault) in try JSONItems.split(Array(c.body.utf8), most: most) }
                .map { $0.map { String(decoding: $0, as: UTF8.self) } } == c.expect)
    }

    @Test func lines() throws {
        let body = Array("{\"a\":1}\r\n\n  {\"b\":2}\n[\n".utf8)
        #expect(
            try JSONItems.lines(body, most: 3).map { String(decoding: $0, as: UTF8.self) } == [
                "{\"a\":1}", "{\"b\":2}", "[",
            ])
        #expect(throws: JSONItems.Fault.tooMany(most: 2)) { try JSONItems.lines(body, most: 2) }
    }
}
