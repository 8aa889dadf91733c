import ExternalServices
import Testing

struct CallLimitsTests {
    @Test(arguments: [
        ("", "none"), ("60/min", "60/min"), (" 60 / min,1000/day ", "60/min, 1000/day"), ("1/s", "1/s"),
        ("1000000/month, 5000/h, 4/s", "4/s, 5000/h, 1000000/month"),
    ])
    func read(_ text: String, _ shown: String) throws { #expect(try CallLimits(text).text == shown) }

    @Test(arguments: [
        "60", "0/min", "-1/min", "60/minute", "60/min, 30/min", "1/s,2/s", "2000/s", "x/min", "1/2/min", "1.5/s",
        "99999999999/min",
    ])
    func refused(_ text: String) { #expect(throws: CallLimits.Fault.self) { try CallLimits(text) } }
}
