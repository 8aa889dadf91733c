import Codecs
import Formats
import SimKit
import Testing

@Suite struct JSONItemsTests {
    @Test(
        arguments: [
            Row("one object", " {\"a\":[1,2]}\n", .success(["{\"a\":[1,2]}"])),
            Row("an array", #"[ {"a":1} ,\#n{"b":[{},{}]}]"#, .success(["{\"a\":1}", "{\"b\":[{},{}]}"])),
            Row("an empty array", "[ ]", .success([])),
            Row(
                "brackets and quotes in texts", #"[{"a":"],[\"}"},{"b":"\\"}]"#,
                .success([#"{"a":"],[\"}"}"#, #"{"b":"\\"}"#])),
            Row("bad elements are items", "[nonsense,{\"a\":1},,]", .success(["nonsense", "{\"a\":1}", "", ""])),
            Row("nested arrays are items", "[[1,2],3]", .success(["[1,2]", "3"])),
            Row("nothing", " \n", .failure(.notItems)),
            Row("an array cut off", #"[{"a":1},{"b":"#, .failure(.notItems)),
            Row("cut off in a text", #"[{"a":"]"#, .failure(.notItems)),
            Row("something behind the array", "[{}] {}", .failure(.notItems)),
            Row("closed by the wrong bracket", "[{}}", .failure(.notItems)),
            Row("four, three are taken", "[1,2,3,4]", .failure(.tooMany(most: 3))),
        ] as [Row<String, Result<[String], JSONItems.Fault>>])
    func split(_ row: Row<String, Result<[String], JSONItems.Fault>>) throws {
        let most = row.description.hasPrefix("four") ? 3 : 10
        #expect(
            Result { () throws(JSONItems.Fault) in try JSONItems.split(Array(row.given.utf8), most: most) }
                .map { $0.map { String(decoding: $0, as: UTF8.self) } } == row.wanted)
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
