import Postgres
import Reports
import Testing

struct SpreadsheetTests {
    private static let output = QueryOutput(
        columns: ["text", "number"],
        rows: [
            [.text("=1+1"), .number(12.5)], [.text(String(repeating: "ü", count: 40_000)), .number(.nan)],
            [.text("\r\n\u{7}"), .null],
        ])

    @Test func theSameRowsMakeTheSameBytes() throws {
        let file = try Self.output.spreadsheet("answer")
        #expect(file.prefix(2) == [0x50, 0x4B])
        #expect(try Self.output.spreadsheet("answer") == file)
    }

    @Test func aNameThatNoSheetMayHaveIsTold() {
        #expect(throws: (any Error).self) { try Self.output.spreadsheet("a/b") }
    }
}
