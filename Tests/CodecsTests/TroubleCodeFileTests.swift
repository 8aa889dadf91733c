import Codecs
import SimKit
import Testing

struct TroubleCodeFileTests {
    private static func file(_ text: String) throws(TroubleCodeFileError) -> TroubleCodeFile {
        try TroubleCodeFile(Array(text.utf8))
    }

    private static func shipped() throws -> TroubleCodeFile {
        try TroubleCodeFile(Repository.bytes("Deploy/trouble-codes/generic.csv"))
    }

    @Test func theShippedTableIsOfGenericCodesOnly() throws {
        let file = try Self.shipped()
        #expect(file.codes.count == 9_249 && file.codes.allSatisfy { $0.origin == .generic && file[$0] != nil })
        #expect(file[TroubleCode(text: "P0133".utf8)!] == "O2 Sensor Circuit Slow Response Bank 1 Sensor 1")
    }

    @Test func aMakeComesBeforeTheGenericTable() throws {
        let make = try Self.file("code,description\r\nP1100,\"BARO, \"\"A\"\"\"\r\nP0133,Own words\r\n")
        let meanings = TroubleCodeMeanings(generic: try Self.shipped(), make: make)
        func text(_ code: String) -> String { meanings.text(of: TroubleCode(text: code.utf8)!) }
        #expect(text("P1100") == "BARO, \"A\"" && text("P0133") == "Own words")
        #expect(meanings.codes.count == 9_250)
        #expect(text("P1345") == "the maker's own code (ignition system or misfire): look it up in the maker's manual")
        #expect(text("B3001") == "a reserved code: no standard gives it a meaning")
    }

    @Test(
        "A line that is wrong is named",
        arguments: [
            ("", "line 1: the first line must be `code,description`"),
            ("code;text\n", "line 1: the first line must be `code,description`"),
            (
                "code,description\nP0133,a\nP01,b\n",
                "line 3: must be a code like P0133, a comma and what it means; quote texts with commas"
            ),
            (
                "code,description\nP0133,a,b\n",
                "line 2: must be a code like P0133, a comma and what it means; quote texts with commas"
            ),
            ("code,description\nP0133,\n", "line 2: the description must be 1 to 300 bytes of UTF-8"),
            ("code,description\nP0133,a\np0133,b\n", "line 3: P0133 stands twice. Leave one out"),
        ])
    func refuses(_ text: String, _ message: String) {
        do throws(TroubleCodeFileError) {
            _ = try Self.file(text)
            Issue.record("taken")
        } catch { #expect(error.description == message) }
    }

    @Test func makesHaveFilesOfTheirOwn() {
        #expect(TroubleCodeMeanings.fileName(make: "Mercedes-Benz") == "mercedes-benz")
        #expect(TroubleCodeMeanings.fileName(make: "../etc/passwd") == "etc-passwd")
        #expect(TroubleCodeMeanings.fileName(make: " ") == nil)
    }
}
