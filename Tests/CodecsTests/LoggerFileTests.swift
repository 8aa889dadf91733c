import Basics
import Codecs
import Fleet
import Testing

struct LoggerFileTests {
    private func read(_ text: String, name: String = "a.csv", start: Int64? = nil) throws -> LoggerRecording {
        try LoggerFile(fileName: name, startMs: start).read(Array(text.utf8))
    }

    @Test(
        "Times in all their shapes",
        arguments: [
            ("time,speed\n2026-01-01T00:00:01Z,5\n", 1_767_225_601_000),
            ("ts,speed\n1767225601000,5\n", 1_767_225_601_000),
            ("t_ms,speed\n1767225601000,5\n", 1_767_225_601_000), ("t_s,speed\n1.5,5\n", 1_700_000_001_500),
            ("timestamp;speed\n2026-01-01 01:00:01+01:00;5,5\n", 1_767_225_601_000),
            ("\u{FEFF}time\tspeed\r\n2026-01-01T00:00:01Z\t5\r\n", 1_767_225_601_000),
            ("Time,Vehicle Speed Sensor [km/h]\n08:00:00.250,5\n", 1_700_000_000_000),
        ] as [(String, Int64)])
    func times(_ text: String, _ ts: Int64) throws {
        #expect(try read(text, start: 1_700_000_000_000).readings.map(\.ts) == [ts])
    }

    @Test func aClockTakesItsDateFromTheNameAndPassesMidnight() throws {
        let recording = try read("Time,speed\n23:59:59.500,1\n00:00:00.500,2\n", name: "2018-02-20_Leon.csv")
        #expect(
            recording.readings.map(\.ts) == [
                UTC.parse("2018-02-20T23:59:59.5Z")!, UTC.parse("2018-02-21T00:00:00.5Z")!,
            ])
    }

    @Test(
        "Units in the header are converted",
        arguments: [
            ("speed [mph]", "10", Signal.speed, 16_093), ("coolant (°F)", "212", .coolant, 100_000),
            ("map [psi]", "10", .manifoldPressure, 68_948),
            ("speed [km/h]", "10", .speed, 10_000), ("SPEED ()", "10", .speed, 10_000),
        ] as [(String, String, Signal, Int32)])
    func units(_ header: String, _ text: String, _ signal: Signal, _ stored: Int32) throws {
        #expect(try read("t_s,\(header)\n0,\(text)\n", start: 1_700_000_000_000).readings[0][signal] == stored)
    }

    @Test func whatIsNotTakenIsCounted() throws {
        let recording = try read(
            "time,speed,rpm\n2026-01-01T00:00:00Z,1,NODATA\nyesterday,1,1\n2026-01-01T00:00:01Z,,\n2026-01-01T00:00:02Z,900,800\n"
                + "2026-01-01T00:00:02Z,,800\n1971-01-01T00:00:00Z,1,1\n2026-01-01T00:00:03Z,5")
        #expect(recording.rows == 7)
        #expect(recording.readings.count == 2)
        #expect(
            recording.skipped == [
                .valueUnreadable: 1, .timeUnreadable: 1, .rowEmpty: 1, .valueImpossible: 1, .rowRepeated: 1,
                .timeImpossible: 1, .rowCut: 1,
            ])
    }

    @Test func rowsOfOneTimeStampThatContradictKeepTheirOrder() throws {
        let recording = try read("time,speed\n2026-01-01T00:00:00Z,9\n2026-01-01T00:00:00Z,5\n2026-01-01T00:00:00Z,7\n")
        #expect(recording.readings.map { $0.ts - recording.readings[0].ts } == [0, 1, 2])
        #expect(recording.readings.map { $0[.speed] } == [9_000, 5_000, 7_000])
    }

    @Test func oneSignalARowBecomesOneReadingATime() throws {
        let recording = try read(
            "t_ms,pid_name,value\n1767225601000,Speed,5\n1767225601000,RPM,800\n1767225601200,Nonsense,1\n")
        #expect(recording.readings.unioned().count == 1)
        #expect(recording.skipped == [.rowEmpty: 1])
    }

    @Test func namesOfTheUsersOwn() throws {
        var file = LoggerFile(fileName: "a.csv")
        file.extraColumns = try LoggerColumns.mapping("# ours\r\nTempo,time\r\nVelocidade,speed_kmh,mph\n")
        #expect(try file.read(Array("Tempo,Velocidade\n2026-01-01T00:00:00Z,10\n".utf8)).readings[0][.speed] == 16_093)
        #expect(throws: LoggerError.mappingLine(1)) { try LoggerColumns.mapping("a,b") }
    }

    @Test(
        "Files of another kind say what is missing",
        arguments: [
            "", "\n\n", "a,b,c\n1,2,3\n", "time,b\n2026-01-01T00:00:00Z,2\n", "\u{0}PNG", "{\"vehicle\":1}\n",
            "speed\n5\n",
        ])
    func refuses(_ text: String) { #expect(throws: LoggerError.self) { try read(text) } }

    @Test func withoutAStartTheFileSaysSo() {
        #expect(throws: LoggerError.self) { try read("t_s,speed\n0,5\n") }
        #expect(throws: LoggerError.self) { try read("Time,speed\n08:00:00,5\n") }
    }
}
