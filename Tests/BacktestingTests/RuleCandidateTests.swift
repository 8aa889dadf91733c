import Alerts
import Backtesting
import Fleet
import SimKit
import Testing

struct RuleCandidateTests {
    private static func coolant() -> Threshold {
        var rule = Threshold(
            field: .parameter(.coolantTemperature), test: .above, unit: "°C", type: .int, audience: .farmer,
            threshold: 85_000)
        (rule.critical, rule.clear, rule.advice) = (95_000, 82_000, "Clean it.")
        return rule
    }

    private static func tried(_ test: Threshold.Test? = nil, _ value: Int64 = 0) -> RuleCandidate {
        var tried = RuleCandidate(.coolantTemperature, of: "8R Tractor")
        if let test { tried.limit = (test, value * 1_000) }
        return tried
    }

    /// Test, threshold, critical and clear, in the unit.
    private static func text(_ rule: Threshold?) -> String {
        guard let rule else { return "none" }
        return "\(rule.test) "
            + [rule.threshold, rule.critical, rule.clear].map { $0.map { "\($0 / 1_000)" } ?? "-" }.joined(
                separator: " ")
    }

    @Test("What stands on the wrong side of the tried limit is left out") func sides() {
        func rule(_ tried: RuleCandidate) -> String { Self.text(tried.rule(Self.coolant())) }
        #expect(rule(Self.tried()) == "above 85 95 82")
        #expect(rule(Self.tried(.above, 90)) == "above 90 95 82")
        #expect(rule(Self.tried(.above, 96)) == "above 96 - 82")
        #expect(rule(Self.tried(.above, 80)) == "above 80 95 -")
        #expect(rule(Self.tried(.below, 60)) == "below 60 - -")
        var all = Self.tried(.above, 80)
        (all.critical, all.clear) = (92_000, 75_000)
        #expect(rule(all) == "above 80 92 75")
        #expect(Self.text(Self.tried().rule(nil)) == "none")
        #expect(Self.text(Self.tried(.below, 5).rule(nil)) == "below 5 - -")
    }

    @Test("Other parameters and models, machines' own rules and times stay as they are") func timeline() {
        let (own, fuel) = (
            Self.coolant(),
            Threshold(
                field: .parameter(.fuelLevel), test: .below, unit: "", type: .int, audience: .farmer, threshold: 1)
        )
        let set = RuleSet(
            ["8R Tractor": [Self.coolant(), fuel], "S690 Combine": [Self.coolant()]],
            machines: [VehicleID("m-1")!: [own], VehicleID("m-2")!: [fuel]])
        let tried = Self.tried(.above, 90).timeline(
            RuleTimeline([
                RuleTimeline.Entry(inForceMs: 5, rules: .empty), RuleTimeline.Entry(inForceMs: 7, rules: set),
            ]))
        #expect(tried.entries.map(\.inForceMs) == [5, 7])
        let rules = tried.entries[1].rules
        func text(_ model: String, _ vehicle: String) -> [String] {
            rules.thresholds(of: model, VehicleID(vehicle)!).map(Self.text)
        }
        #expect(text("8R Tractor", "m-0") == ["above 90 95 82"] && text("8R Tractor", "m-2") == ["above 90 95 82"])
        #expect(text("8R Tractor", "m-1") == ["above 85 95 82"] && text("S690 Combine", "m-0") == ["above 85 95 82"])
        // Before there was a rule there would have been the tried one.
        #expect(tried.entries[0].rules.thresholds(of: "8R Tractor", VehicleID("m")!).map(Self.text) == ["above 90 - -"])
    }

    /// Episodes of minutes: from, to, worst.
    private static func episodes(_ spans: [(Int64, Int64?, Int64)], limit: Int64) -> [Episode] {
        spans.flatMap { from, to, worst in
            var readings = [reading(from, worst)]
            if let to { readings.append(reading(to, 0)) }
            var rule = coolant()
            (rule.threshold, rule.critical, rule.clear) = (limit * 1_000, nil, nil)
            return MachineBacktest.episodes(
                readings, rules: RuleTimeline(always: RuleSet(["8R Tractor": [rule]])), clockMs: nil)
        }
    }

    private static func reading(_ minute: Int64, _ celsius: Int64) -> MachineReading {
        MachineReading(
            vehicle: VehicleID("m")!, ts: 1_789_344_000_000 + minute * 60_000, id: "r",
            [.coolantTemperature: celsius * 1_000])
    }

    @Test("What was beside what would have been") func pairs() {
        let was = Self.episodes([(0, 5, 90), (10, 20, 99), (30, 40, 91), (50, nil, 97)], limit: 85)
        func verdicts(_ spans: [(Int64, Int64?, Int64)]) -> [String] {
            BacktestAlert.pairs(was: was, would: Self.episodes(spans, limit: 89)).map {
                "\($0.verdict) \(($0.openedMs - 1_789_344_000_000) / 60_000)"
            }
        }
        // Another limit alone changes nothing that happened.
        #expect(
            verdicts([(0, 5, 90), (10, 20, 99), (30, 40, 91), (50, nil, 97)]) == [
                "same 0", "same 10", "same 30", "same 50",
            ])
        #expect(
            verdicts([(3, 5, 90), (10, 19, 99), (42, 44, 96), (51, nil, 97)]) == [
                "changed 3", "changed 10", "removed 30", "added 42", "changed 51",
            ])
        #expect(verdicts([]) == ["removed 0", "removed 10", "removed 30", "removed 50"])
    }

    @Test("Settled when no later reading can change what opened before") func settled() {
        var trial = MachineBacktest(rules: RuleTimeline(always: RuleSet(["8R Tractor": [Self.coolant()]])))
        let end = Self.reading(10, 0).ts
        #expect(!trial.isSettled(before: end))
        trial.observe(Self.reading(9, 90))
        trial.observe(Self.reading(11, 90))
        #expect(!trial.isSettled(before: end))
        trial.observe(Self.reading(12, 80))
        #expect(trial.isSettled(before: end))
    }
}
