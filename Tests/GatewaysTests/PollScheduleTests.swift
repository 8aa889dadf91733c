import Gateways
import Testing

struct PollScheduleTests {
    @Test func theStandardIsTheSpecificationsTable() {
        let all: Set<UInt8> = [0x0D, 0x0C, 0x10, 0x42, 0x05, 0x0B, 0x0F]
        let plan = PollSchedule.standard.plan(supported: all)
        let second: [UInt8] = [0x0C, 0x10, 0x0C, 0x10, 0x0C, 0x42, 0x0C, 0x10, 0x0C, 0x05]
        #expect(plan == second.map { [0x0D, $0] } && PollSchedule.standard.stepMs == 1_000)
        #expect(
            PollSchedule.standard.plan(supported: [0x0B, 0x0F]) == [[], [0x0B], [], [0x0B], [], [], [], [0x0F], [], []])
    }

    @Test(arguments: [
        ("", "must begin with the length"), ("0D 1-10", "must begin with the length"),
        ("1000: 0D 1", "a step is 50 to 600000 ms"), ("10 ms: 0D 1", "a step is 50 to 600000 ms"),
        ("1000 ms:", "asks for nothing"), ("1000 ms: 0D", "must be parameter and steps"),
        ("1000 ms: 0G 1", "`0G` is no parameter"), ("1000 ms: 20 1", "`20` is no parameter"),
        ("1000 ms: 0D 0", "`0` is no step"), ("1000 ms: 0D 5-1", "`5-1` is no step"),
        ("1000 ms: 0D 1-99999999", "is no step"), ("1000 ms: 0D 1,,2", "`` is no step"),
        ("1000 ms: " + String(repeating: "0D 1;", count: 21), "step 1 has more than 20 requests"),
    ])
    func whatIsWrongIsSaid(_ text: String, _ says: String) {
        #expect { try PollSchedule(text) } throws: { "\($0)".contains(says) }
    }
}
