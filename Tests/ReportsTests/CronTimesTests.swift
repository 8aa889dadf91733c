import Reports
import Testing

struct CronTimesTests {
    @Test(
        "How close two times come",
        arguments: [
            ("0 6 * * *", 60), ("* * * * *", 1), ("*/5 * * * *", 5), ("0,30 * * * *", 30), ("0,59 * * * *", 1),
            ("0,50 6 * * *", 50),
            ("0,50 6,7 * * *", 10), ("5,55 23,0 * * *", 10), ("59 * * * *", 60), ("5,35 0-3 * * *", 30),
            ("10,10 * * * *", 60),
        ])
    func closest(_ text: String, _ minutes: Int) throws {
        #expect(try CronTimes(text).leastMinutes == minutes)
    }

    @Test("A schedule that comes more often than is allowed is refused with what to do") func tooOften() throws {
        #expect(throws: Never.self) { try NewSchedule.check("7 * * * *", zone: "UTC", leastMinutes: 60, nowMs: 0) }
        #expect(throws: Never.self) { try NewSchedule.check("*/20 * * * *", zone: "UTC", leastMinutes: 20, nowMs: 0) }
        let fault = #expect(throws: NewSchedule.Fault.self) {
            try NewSchedule.check("*/20 * * * *", zone: "UTC", leastMinutes: 60, nowMs: 0)
        }
        #expect(fault?.description.contains("every 20 minutes") == true)
    }
}
