import Alerts
import Basics
import Fleet
import SimKit
import Testing

struct ServiceLogTests {
    private static func service(_ seconds: Int64, _ hours: Int64, _ id: String = "s") -> ServiceLog.Entry {
        ServiceLog.Entry(doneMs: start + seconds * 1_000, atHours: hours * 1_000, id: id)
    }

    /// What became of service alerts: opened, due, resolved (hours since the start) and the worst value.
    private static func judge(
        _ hours: [(Int64, Int64)], _ services: [ServiceLog.Entry], soon: Int64? = 5, critical: Int64? = nil
    ) -> [String] {
        var interval = rule(.engineHours, .above, 50, critical: critical, every: 50)
        interval.soon = soon.map { $0 * 1_000 }
        let (rules, log) = (always(interval), ServiceLog(services))
        var (fold, told): (AlertFold, [String: Episode]) = (AlertFold(), [:])
        for (seconds, tenths) in hours {
            for episode in fold.observe(reading(seconds, [.engineHours: tenths * 100]), rules: rules, services: log) {
                told[episode.id] = episode
            }
        }
        for episode in fold.served(log, rules: rules) { told[episode.id] = episode }
        return told.values.sorted { $0.openedMs < $1.openedMs }.map {
            let resolved = $0.resolvedMs.map { "-\(($0 - start) / 1_000)" } ?? ""
            let worst = $0.worstValue.map { Decimal.text($0, decimals: 3) } ?? "none"
            return "\(($0.openedMs - start) / 1_000)\(resolved) \($0.state.rawValue) \($0.severity) \(worst)"
        }
    }

    @Test("Due soon, due, done: an interval counts from the recorded service") func interval() {
        let done = [Self.service(0, 1_000)]
        // Tenths of hours: 45.0 is not soon yet, 45.1 is; 50.0 is not due, 50.1 is.
        #expect(Self.judge([(1, 10_450)], done) == [])
        #expect(Self.judge([(1, 10_450), (2, 10_451)], done) == ["2 due_soon warning 45.1"])
        #expect(Self.judge([(2, 10_451), (3, 10_500)], done) == ["2 due_soon warning 50"])
        #expect(Self.judge([(2, 10_451), (3, 10_501)], done) == ["2 open warning 50.1"])
        // No reading between: due at once.
        #expect(Self.judge([(1, 10_700)], done) == ["1 open warning 70"])
        #expect(Self.judge([(1, 10_700)], done, critical: 60) == ["1 open critical 70"])
        // Without `<soon>` it is a tenth of the interval; 0 says nothing before.
        #expect(Self.judge([(1, 10_451)], done, soon: nil) == ["1 due_soon warning 45.1"])
        #expect(Self.judge([(1, 10_500)], done, soon: 0) == [])
    }

    @Test("Recording a service closes the alert when it was done") func recorded() {
        let readings: [(Int64, Int64)] = [(0, 9_000), (10, 9_010)]
        #expect(Self.judge(readings, []) == ["0 open warning 901"])
        #expect(Self.judge(readings, [Self.service(5, 900)]) == ["0-5 resolved warning 900"])
        #expect(Self.judge(readings, [Self.service(10, 901)]) == ["0-10 resolved warning 900"])
        // After the last reading.
        #expect(Self.judge(readings, [Self.service(60, 901)]) == ["0-60 resolved warning 901"])
        // Before the first: nothing was ever open.
        #expect(Self.judge(readings, [Self.service(0, 900)]) == [])
        // A service of long ago: closed as it was done, and due again by the next reading.
        #expect(Self.judge(readings, [Self.service(5, 800)]) == ["0-5 resolved warning 900", "10 open warning 101"])
        // The next service counts from itself.
        #expect(
            Self.judge(
                [(0, 9_000), (10, 9_460), (20, 9_470), (30, 9_920)], [Self.service(0, 900), Self.service(15, 946)]) == [
                    "10-15 resolved warning 46", "30 due_soon warning 46",
                ])
    }

    @Test("What was due soon and is due is told as worse, once") func told() throws {
        let rules = always(rule(.engineHours, .above, 50, every: 50))
        let log = ServiceLog([Self.service(0, 0)])
        var (fold, told) = (AlertFold(), ToldAlerts())
        var kinds: [String] = []
        for (seconds, hours) in [(1, 46), (2, 47), (3, 51), (4, 52)] as [(Int64, Int64)] {
            let changed = fold.observe(reading(seconds, [.engineHours: hours * 1_000]), rules: rules, services: log)
            kinds += told.tell(changed, cause: AlertCause(pushedMs: 0, isLate: false)) { _ in true }.map {
                "\($0.kind) \($0.alert.episode.state.rawValue) \($0.id.suffix(2))"
            }
            #expect(try AlertFold(packed: fold.packed) == fold)
        }
        #expect(kinds == ["opened due_soon -0", "worse open -0"])
    }

    @Test(
        "Any order and any repetition gives the same log, and the effect is all that is judged otherwise",
        arguments: 0..<50 as Range<UInt64>)
    func order(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        let entries = (0..<8).map { _ in Self.service(chance.below(6), chance.below(3), "s\(chance.below(3))") }
        var repeated = entries + entries.filter { _ in chance.once(in: 2) }
        repeated.shuffle(using: &chance)
        #expect(ServiceLog(entries) == ServiceLog(repeated), "seed \(seed)")
        func last(_ log: ServiceLog, _ ts: Int64) -> ServiceLog.Entry? { log.entries.last { $0.doneMs <= ts } }
        var log = ServiceLog.none
        for entry in entries {
            let before = log
            let effect = log.insert(entry)
            for second in 0..<7 as Range<Int64> {
                let ts = start + second * 1_000
                guard last(before, ts) != last(log, ts) else { continue }
                #expect(effect.map { $0.fromMs <= ts && ts < $0.untilMs ?? .max } == true, "seed \(seed)")
            }
        }
    }
}
