import Alerts
import Codecs
import Fleet
import Testing

struct LatenessTests {
    @Test(
        "Late is what was pushed more than five minutes after its time; stamps that are none are not late",
        arguments: [
            (start, false), (start + 300_000, false), (start + 300_001, true), (-1, false), (.min, false), (.max, true),
        ] as [(Int64, Bool)])
    func late(pushedMs: Int64, isLate: Bool) {
        #expect(Lateness.isLate(start, pushedMs: pushedMs) == isLate)
        var read = reading(0)
        read.isReporting = true
        #expect(read.pushed(atMs: pushedMs).isReporting == !isLate)
        read.isReporting = false
        #expect(read.pushed(atMs: pushedMs) == read)
    }

    private let rules = always(rule(.coolantTemperature, .above, 85, critical: 95))

    /// What is told of readings, each pushed so many seconds after the start.
    private func told(_ readings: [(Int64, coolant: Int64, pushed: Int64)]) -> (ToldAlerts, [AlertTransition]) {
        var (fold, told, transitions) = (AlertFold(), ToldAlerts(), [AlertTransition]())
        for (seconds, coolant, pushed) in readings {
            let changes = fold.observe(reading(seconds, [.coolantTemperature: coolant * 1_000]), rules: rules)
            let cause = AlertCause(pushedMs: start + pushed * 1_000, isLate: false)
            transitions += told.tell(changes, cause: cause) { $0.episode.state != .resolved }
        }
        return (told, transitions)
    }

    private func late(_ transitions: [AlertTransition]) -> [String] {
        transitions.map { transition in
            let json = String(decoding: RecordWriter.alert(transition), as: UTF8.self)
            return "\(transition.kind)\(json.contains(#""late":true"#) ? " late" : "")"
        }
    }

    @Test("Each thing told says for itself whether it was late") func transitions() {
        // Opened live; the rest of it came with a backlog an hour later; then live again.
        let (alerts, transitions) = told([
            (0, coolant: 90, pushed: 1), (60, coolant: 96, pushed: 3_600), (120, coolant: 80, pushed: 3_600),
            (3_600, coolant: 90, pushed: 3_601), (3_660, coolant: 80, pushed: 3_661),
        ])
        #expect(late(transitions) == ["opened", "worse late", "resolved late", "opened", "resolved"])
        #expect(alerts.all.map(\.toldMs) == [start + 1_000, start + 3_601_000])
        #expect(alerts.all.map(\.resolvedToldMs) == [start + 3_600_000, start + 3_661_000])
    }

    @Test("When an end is told anew the time is its own, and an end that is taken back has none") func anew() {
        var (alerts, _) = told([(0, coolant: 90, pushed: 1), (120, coolant: 80, pushed: 121)])
        var fold = AlertFold()
        let open = fold.observe(reading(0, [.coolantTemperature: 90_000]), rules: rules)
        _ = alerts.tell(open, cause: AlertCause(pushedMs: start + 200_000, isLate: true)) { _ in true }
        #expect(alerts.all.map(\.resolvedToldMs) == [nil] && alerts.all.map(\.toldMs) == [start + 1_000])
        let over = fold.observe(reading(180, [.coolantTemperature: 80_000]), rules: rules)
        _ = alerts.tell(over, cause: AlertCause(pushedMs: start + 300_000, isLate: true)) { _ in true }
        #expect(alerts.all.map(\.resolvedToldMs) == [start + 300_000])
    }
}
