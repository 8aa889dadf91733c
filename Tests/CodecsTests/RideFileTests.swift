import Codecs
import Fleet
import Testing

struct RideFileTests {
    static let head =
        "request,rider,passengers,from_latitude_deg,from_longitude_deg,to_latitude_deg,to_longitude_deg,requested_at,cancelled_at,picked_up_at,dropped_off_at,from_address\n"
    static let place = "38.9,-77.05,38.91,-77.04"

    private func faults(_ text: String, campus: String? = "c") -> [String] {
        guard case .failure(let faults) = RideFile.read(Array(text.utf8), campus: campus) else { return [] }
        return faults.all.map(\.description)
    }

    @Test("Rides of another system are what their people said, in the order of time") func rides() throws {
        let text =
            Self.head + "b,g-2,2,\(Self.place),2026-11-20T14:05:00Z,2026-11-20T14:07:30Z,,,\r\n"
            + "a,g-1,1,\(Self.place),2026-11-20T09:00:00-05:00,,2026-11-20T14:06:00Z,2026-11-20T14:20:00Z,\"Gate \"\"1\"\", north\"\n"
        let records = try RideFile.read(Array(text.utf8), campus: "c").get()
        #expect(records.map(\.id) == ["a-requested", "b-requested", "a-picked-up", "b-cancelled", "a-dropped-off"])
        #expect(records.allSatisfy { $0.campus == "c" } && records[0].ts == 1_795_183_200_000)
        var pickup = RideRecord.Pickup(
            request: "a", rider: "g-1", passengers: 1, from: Position(latitude: 389_000_000, longitude: -770_500_000),
            to: Position(latitude: 389_100_000, longitude: -770_400_000))
        pickup.fromAddress = "Gate \"1\", north"
        #expect(records[0].kind == .pickup(pickup))
        #expect(records[2].kind == .done(request: "a", isPickup: true) && records[3].kind == .cancel(request: "b"))
    }

    @Test("JSON lines come back as they were written") func lines() throws {
        let records = [
            RideRecord(id: "x-1", campus: "c", ts: 1_700_000_000_000, by: "t", kind: .surge(thousandths: 1_250)),
            RideRecord(id: "x-2", campus: "d", ts: 1_600_000_000_000, by: "t", kind: .cancel(request: "r")),
            RideRecord(id: "x-3", campus: "c", ts: 1_700_000_000_000, by: "t", kind: .clock),
        ]
        let text = records.map { String(decoding: RideRecords.encode($0), as: UTF8.self) }.joined(separator: "\r\n\n")
        #expect(try RideFile.read(Array(text.utf8), campus: nil).get() == records)
        #expect(faults(text) == ["line 3: `campus` is not the one that was named"])
    }

    private static func row(_ ids: String, _ place: String, _ times: String) -> String { "\(ids),\(place),\(times),\n" }
    private static let asked = "2026-11-20T14:05:00Z"
    private static let good: String = row("a,g-1,1", place, asked + ",,,")

    private static let badRides: [(String, String)] = [
        ("", "holds no ride"), (row("a,g-1,0", place, asked + ",,,"), "line 2: `passengers`"),
        (row("a b,g-1,1", place, asked + ",,,"), "line 2: `request`"),
        (row("a,g-1,1", "91,0,1,1", asked + ",,,"), "line 2: `from_latitude_deg`"),
        (row("a,g-1,1", place, "2026-11-20 14:05,,,"), "line 2: `requested_at` must be a time with its zone"),
        (row("a,g-1,1", place, ",,,"), "line 2: `requested_at` is missing"),
        (row("a,g-1,1", place, asked + ",2026-11-20T14:04:00Z,,"), "line 2: its times are not in order"),
        (row("a,g-1,1", place, asked), "line 2: has 9 whole fields, the header has 12"),
        (good + good, "line 3: the request stands in line 2"),
    ]

    @Test("What is wrong with rides is told with its line", arguments: badRides)
    func badRide(text: String, said: String) {
        let found = faults(Self.head + text)
        #expect(found.first?.contains(said) == true, "\(found)")
    }

    private static let badFiles: [(String, String)] = [
        ("", "is empty"), ("request,rider\n", "line 1: the column `passengers` is missing"),
        (#"{"schema":1}"#, "line 1: `campus` is missing"), ("{\n", "line 1: not a JSON object"),
        (#"{"schema":1,"kind":"tick","ts":1700000000000,"campus":"c"}"#, "line 1: ticks do not come"),
        (
            #"{"schema":1,"kind":"decision","id":"x","ts":1700000000000,"campus":"c","offset":1,"decision":"","why":""}"#,
            "line 1: a decision"
        ),
        (
            #"{"schema":1,"kind":"clock","id":"x","ts":1700000000001,"campus":"c"}"# + "\n"
                + #"{"schema":1,"kind":"clock","id":"y","ts":1700000000000,"campus":"c"}"#, "line 2: `ts` is before"
        ),
    ]

    @Test("What is wrong with a file is told with its line", arguments: badFiles)
    func badFile(text: String, said: String) {
        let found = faults(text)
        #expect(found.first?.contains(said) == true, "\(found)")
    }

    @Test("CSV needs to be told whose rides they are") func whose() {
        #expect(faults(Self.head, campus: nil) == ["is CSV: say whose rides they are, --campus C"])
    }
}
