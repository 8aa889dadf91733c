import Fleet
import Testing

struct DayHoursTests {
    @Test func anHourHasTheNumberOfItsSpan() throws {
        let hours = try DayHours("0-6 40, 6-10 22.5, 10-24 30", 1_000...200_000)
        #expect(hours.thousandths[5] == 40_000 && hours.thousandths[6] == 22_500 && hours.thousandths[23] == 30_000)
    }

    @Test(arguments: [
        "", "0-24", "0-24 0.5", "0-23 2", "0-12 2, 11-24 2", "0-25 2", "5-5 2", "a-24 2", "0-24 2 3", "-1-24 2",
    ])
    func whatIsNoDayIsRefused(_ text: String) {
        #expect(throws: DayHours.Fault.self) { try DayHours(text, 1_000...200_000) }
    }

    @Test func aStepHoldsFromItsThresholdOn() throws {
        let steps = try StepTable("0.5 1.1, 2.5 1.25", 100...10_000)
        #expect(
            [0, 499, 500, 2_499, 2_500, 90_000].map { steps.number(at: $0) } == [
                1_000, 1_000, 1_100, 1_100, 1_250, 1_250,
            ])
        #expect(try StepTable("", 100...10_000).number(at: 5) == 1_000)
    }

    @Test(arguments: ["1", "1 1 1", "2 1, 1 1", "1 1, 1 2", "-1 1", "1 0.05", "1 11", "x 1"])
    func whatDoesNotRiseIsRefused(_ text: String) {
        #expect(throws: DayHours.Fault.self) { try StepTable(text, 100...10_000) }
    }
}
