import Fleet
import Ingest
import Testing

struct UploadTests {
    private func record(_ number: Int, _ car: String, _ trip: Int) -> String {
        "{\"schema\":1,\"kind\":\"trip_tag\",\"id\":\"t-\(number)\",\"vehicle\":\"\(car)\",\"ts\":1767225600000,\"by\":\"x\",\"trip_ts\":\(trip),\"tag\":\"work\"}"
    }

    @Test("What an upload says a thousand times of one drive is asked for once")
    func aboutIsWhatItIsAboutOnce() throws {
        let trip = 1_767_200_000_000
        let records =
            (0..<500).map { record($0, "car-b", trip) } + (500..<900).map { record($0, "car-a", trip) } + [
                record(900, "car-a", trip + 1)
            ]
        let upload = try Upload(
            Array(records.joined(separator: "\n").utf8), .trips, .lines, account: "sid", nowMs: 1_767_225_600_000)
        #expect(upload.reasons.allSatisfy { $0 == nil })
        #expect(upload.about.map(\.vehicle.text) == ["car-a", "car-a", "car-b"])
        #expect(upload.about.map(\.span.lowerBound) == [1_767_200_000_000, 1_767_200_000_001, 1_767_200_000_000])
    }
}
