import Foundation
import Notifications
import Testing

struct PersonClockTests {
    /// Minute by minute through the calendar's eyes: the reference for the days that have 23, 24 and 25 hours, or 23.5 and 24.5.
    private func brute(_ minute: Int, _ zone: String, after ms: Int64) -> Int64 {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: zone)!
        var at = (ms / 60_000 + 1) * 60_000
        func local(_ ms: Int64) -> Int {
            let parts = calendar.dateComponents(
                [.hour, .minute], from: Date(timeIntervalSince1970: Double(ms) / 1_000))
            return parts.hour! * 60 + parts.minute!
        }
        while true {
            let (before, now) = (local(at - 60_000), local(at))
            if now == minute { return at }
            // The clocks went forward over it.
            if now > before + 1, before < minute, minute < now { return at }
            at += 60_000
        }
    }

    @Test(
        "The next time of a local clock, over both changes of the year",
        arguments: [
            "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca",
            "America/Sao_Paulo",
        ])
    func next(zone: String) {
        let clock = PersonClock(zone: zone)
        // Days around the changes of 2026 in these zones, and one without.
        let days: [Int64] = [
            1_771_113_600, 1_772_928_000, 1_773_964_800, 1_774_656_000, 1_775_260_800, 1_790_985_600, 1_792_886_400,
            1_793_491_200, 1_782_000_000,
        ]
        for day in days {
            for hour in stride(from: Int64(0), to: 48, by: 7) {
                for minute in [0, 125, 150, 420, 1_439] {
                    let fromMs = (day + hour * 3_600) * 1_000 + 1
                    #expect(
                        clock.next(minute: minute, after: fromMs) == brute(minute, zone, after: fromMs),
                        "\(zone) \(minute) after \(fromMs)")
                }
            }
        }
    }

    @Test("Quiet hours over midnight and within a day") func quiet() {
        let clock = PersonClock(zone: "UTC")
        let at = { (hour: Int64) in 1_795_305_600_000 + hour * 3_600_000 }  // 2026-11-22 00:00 UTC
        #expect(clock.quietUntil(.init(from: 1_320, until: 360), at: at(23)) == at(30))
        #expect(clock.quietUntil(.init(from: 1_320, until: 360), at: at(5)) == at(6))
        #expect(clock.quietUntil(.init(from: 1_320, until: 360), at: at(6)) == nil)
        #expect(clock.quietUntil(.init(from: 600, until: 660), at: at(10)) == at(11))
        #expect(clock.quietUntil(.init(from: 600, until: 660), at: at(12)) == nil)
        #expect(clock.quietUntil(nil, at: at(1)) == nil)
    }
}
