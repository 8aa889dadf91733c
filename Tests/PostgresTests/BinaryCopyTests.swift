import Postgres
import Testing

/// The bytes themselves; that a server takes them is in ServerTests.
@Suite struct BinaryCopyTests {
    @Test func headerRowsAndTrailer() {
        var copy = BinaryCopy()
        copy.row(columns: 3)
        copy.int4(258)
        copy.text("é")
        copy.null()
        copy.finish()
        let header: [UInt8] = [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let row: [UInt8] = [0, 3, 0, 0, 0, 4, 0, 0, 1, 2, 0, 0, 0, 2, 0xC3, 0xA9, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(copy.bytes == header + row + [0xFF, 0xFF])
    }

    @Test func aRowTooShortStopsUs() async {
        await #expect(processExitsWith: .failure) {
            var copy = BinaryCopy()
            copy.row(columns: 2)
            copy.int4(1)
            copy.row(columns: 2)
        }
    }

    @Test func timesRoundDown() {
        #expect(Timestamp.epochMs(microseconds: 0) == 946_684_800_000)
        #expect(Timestamp.epochMs(microseconds: -1) == 946_684_799_999)
        #expect(Timestamp.epochMs(microseconds: 1999) == 946_684_800_001)
        #expect(Timestamp.epochMs(microseconds: .max) == .max)
        #expect(
            Timestamp.epochMs(microseconds: Timestamp.microseconds(epochMs: 1_795_243_920_123)) == 1_795_243_920_123)
    }

    @Test(arguments: [
        (
            "22P02", "invalid input syntax for type integer: \"secret\"",
            "invalid input syntax for type integer: (value withheld)"
        ),
        ("22P02", "\"secret\" is out of range for type real", "(value withheld) is out of range for type real"),
        (
            "23505", "duplicate key value violates unique constraint \"pk\"",
            "duplicate key value violates unique constraint \"pk\""
        ),
        ("42P01", "relation \"x\" does not exist", "relation \"x\" does not exist"),
    ])
    func messagesLoseValues(_ state: String, _ text: String, _ expect: String) {
        #expect(Withheld.message(text, state) == expect)
    }

    @Test func detailsAndContextLoseValues() {
        #expect(Withheld.detail("Key (a, b)=(1, secret) already exists.", "23505") == "Key (a, b)")
        #expect(Withheld.detail("Failing row contains (1, secret).", "23502") == nil)
        #expect(Withheld.context("COPY t, line 3, column x: \"secret\"") == "COPY t, line 3, column x")
        #expect(Withheld.context("unnamed portal parameter $1 = 'secret'") == "unnamed portal parameter $1")
    }

    @Test func noServerSaysWhatToDo() {
        let error = #expect(throws: PostgresError.self) {
            try Connection(conninfo: "host=127.0.0.1 port=1 dbname=x password=hunter2")
        }
        #expect(error?.isConnectionLost == true)
        #expect(error?.description.contains("Start the server or correct host and port") == true)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test func brokenSettingsAreNotRepeated() {
        let error = #expect(throws: PostgresError.self) { try Connection(conninfo: "password=hunter2 hunter3") }
        #expect(error?.description.contains("hunter") == false)
    }
}
