import Alerts
import Codecs
import Fleet
import SimKit
import Testing

struct RuleTextTests {
    /// Rules with texts that need care, and numbers up to what a file may say.
    static func set(seed: UInt64) -> RuleSet {
        var chance = SeededChance(seed: seed)
        let texts = [
            "", " ", "a\tb", "a\nb", "\\", "\\n", "\\e", "\r\n", "Größe 🛞", "e\u{301}", "\"q\"", "rule\tmodel",
        ]
        func text() -> String { chance.pick(texts) }
        func number() -> Int64? { [nil, 0, 1, 1_000, 999_999_999_999, 1_000_000_000_000][Int(chance.below(6))] }
        func signed() -> Int64? { number().map { chance.once(in: 2) ? $0 : -$0 } }
        let isSecond = chance.once(in: 2)
        func thresholds() -> [Threshold] {
            var fields: [ThresholdField] = [.serialNumber, .machineID, .firmware]
            fields += MachineParameter.allCases.map { .parameter($0) }
            fields.shuffle(using: &chance)
            return fields.prefix(Int(chance.below(8))).map { field in
                var rule = Threshold(
                    field: field, test: Threshold.Test.allCases[Int(chance.below(3))], unit: text(),
                    type: Threshold.ValueType.allCases[Int(chance.below(3))],
                    audience: Audience.allCases[Int(chance.below(3))], threshold: signed())
                (rule.critical, rule.clear, rule.recommended, rule.capacity) = (signed(), signed(), signed(), signed())
                (rule.holdMs, rule.absentMs, rule.every) = (number() ?? 0, number(), number())
                rule.advice = chance.once(in: 3) ? nil : text()
                rule.soon = isSecond ? number() : nil
                return rule
            }
        }
        var (models, machines): ([String: [Threshold]], [VehicleID: [Threshold]]) = ([:], [:])
        for model in 0..<chance.below(5) { models[text() + "\(model)"] = thresholds() }
        if isSecond { for machine in 0..<chance.below(3) { machines[VehicleID("m-\(machine)")!] = thresholds() } }
        return RuleSet(models, machines: machines)
    }

    @Test("A rule set comes back from the log as it went", arguments: 0..<300 as Range<UInt64>)
    func identity(seed: UInt64) throws {
        let rules = Self.set(seed: seed)
        let again = try RuleSet(text: rules.text)
        #expect(again == rules && again.version == rules.version && again.text == rules.text, "seed \(seed)")
        let json = RecordWriter.rules(fromMs: start, version: rules.version, text: rules.text)
        guard case .rules(let fromMs, let version, let text) = try RecordDecoder().decode(line: json, isMachine: true)
        else {
            Issue.record("no rules")
            return
        }
        let entry = try RuleTimeline.Entry(fromMs: fromMs, version: version, text: text)
        #expect(entry == RuleTimeline.Entry(inForceMs: start, rules: rules), "seed \(seed)")
        #expect(throws: DecodeError.self) { try RuleTimeline.Entry(fromMs: fromMs, version: version + "0", text: text) }
    }

    @Test("The shipped rules fit a record many times over") func shipped() throws {
        let rules = try shippedRules()
        #expect(try RuleSet(text: rules.text) == rules)
        #expect(rules.text.utf8.count < RuleSet.textBytesMax / 50)
        #expect(rules.text.hasPrefix("drover-rules 2\nmodel\t8R Tractor\nrule\t"))
    }

    @Test("A record of the first form decodes to the rules and the version that it carried") func first() throws {
        let text = """
            drover-rules 1
            model\t8R Tractor
            rule\tCoolant Temperature\tabove\t°C\tint\tfarmer\t85000\t95000\t0\t82000\t\t\t\t\tStop.
            rule\tEngine Hours\tabove\thours\tint\tfarmer\t50000\t\t0\t\t\t50000\t\t\t
            """
        let entry = try RuleTimeline.Entry(fromMs: start, version: "812d5cb0c63c2503", text: text)
        #expect(entry.rules.text == text)
        var (coolant, hours) = (
            rule(.coolantTemperature, .above, 85, critical: 95, clear: 82, advice: "Stop."),
            rule(.engineHours, .above, 50, every: 50)
        )
        (coolant.unit, hours.unit) = ("°C", "hours")
        #expect(entry.rules == RuleSet([tractor: [coolant, hours]]))
        // What the first form cannot say needs the second.
        hours.soon = 5_000
        #expect(RuleSet([tractor: [hours]]).text.hasPrefix("drover-rules 2\n"))
        #expect(RuleSet([:], machines: [VehicleID("m")!: []]).text == "drover-rules 2\nmachine\tm")
    }

    @Test(
        "Text that is no rule set is refused",
        arguments: [
            "", "drover-rules 3", "drover-rules 1\n", "drover-rules 1\nmodel", "drover-rules 1\nmodel\t",
            "drover-rules 1\nmodel\ta\nmodel\ta", "drover-rules 1\nmodel\ta\\x", "drover-rules 1\nmodel\ta\\",
            "drover-rules 1\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t1\t\t0\t\t\t\t\t\t",
            "drover-rules 1\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t1\t\t0\t\t\t\t\t",
            "drover-rules 1\nmodel\ta\nrule\tFuel\tbelow\tgal\tint\tfarmer\t1\t\t0\t\t\t\t\t\t",
            "drover-rules 1\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t1\t\t\t\t\t\t\t\t",
            "drover-rules 1\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t1\t\t0\t\t-1\t\t\t\t",
            "drover-rules 1\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t01\t\t0\t\t\t\t\t\t",
            "drover-rules 1\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t9000000000000000000\t\t0\t\t\t\t\t\t",
            "drover-rules 1\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t1\t\t0\t\t\t\t\t\t"
                + String(repeating: "x", count: 1_001),
            "drover-rules 1\nmachine\tm-1", "drover-rules 2\nmachine\tm 1", "drover-rules 2\nmachine\tm\nmachine\tm",
            "drover-rules 2\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t1\t\t0\t\t\t\t\t\t",
            "drover-rules 2\nmodel\ta\nrule\tFuel Level\tbelow\tgal\tint\tfarmer\t1\t\t0\t\t\t\t\t\t\t-1",
        ])
    func refuses(_ text: String) {
        #expect(throws: DecodeError.self) { try RuleSet(text: text) }
    }

    @Test("Changed text throws or gives rules that can be judged by", arguments: 0..<20 as Range<UInt64>)
    func hostile(seed: UInt64) throws {
        var chance = SeededChance(seed: seed)
        let bytes = Array(try shippedRules().text.utf8)
        for _ in 0..<200 {
            var changed = bytes
            chance.change(&changed, most: 3)
            guard let rules = try? RuleSet(text: String(decoding: changed, as: UTF8.self)) else { continue }
            var fold = AlertFold()
            _ = fold.observe(reading(0, [.fuelLevel: 1, .lastCellCallIn: start]), rules: RuleTimeline(always: rules))
            _ = fold.overdue(at: start, rules: RuleTimeline(always: rules), vehicle: VehicleID("m")!)
            #expect(try RuleSet(text: rules.text) == rules)
        }
    }
}

struct RuleTimelineTests {
    private func entry(_ seconds: Int64, _ limit: Int64) -> RuleTimeline.Entry {
        RuleTimeline.Entry(
            inForceMs: start + seconds * 1_000, rules: RuleSet([tractor: [rule(.fuelLevel, .below, limit)]]))
    }

    @Test("In force: the last set that began, and before the first the first") func inForce() {
        var timeline = RuleTimeline()
        #expect(timeline.inForce(at: start) == .empty)
        for entry in [entry(20, 2), entry(10, 1)] { _ = timeline.insert(entry) }
        let found = [0, 10, 19, 20, 99].map { timeline.inForce(at: start + $0 * 1_000) }
        #expect(found == [1, 1, 1, 2, 2].map { entry(0, $0).rules })
    }

    @Test("Any order and any repetition gives the same timeline", arguments: 0..<50 as Range<UInt64>)
    func order(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        let entries = (0..<8).map { _ in entry(chance.below(5), chance.below(4)) }
        var repeated = entries + entries.filter { _ in chance.once(in: 2) }
        repeated.shuffle(using: &chance)
        #expect(RuleTimeline(entries) == RuleTimeline(repeated), "seed \(seed)")
    }

    @Test("The effect of a set is all that is judged otherwise", arguments: 0..<100 as Range<UInt64>)
    func effect(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        var timeline = RuleTimeline()
        for _ in 0..<10 {
            let before = timeline
            let effect = timeline.insert(entry(chance.below(8), chance.below(3)))
            for second in -1..<10 as Range<Int64> {
                let ts = start + second * 1_000
                // Without any set nothing was judged, which no reading may have noticed.
                guard before.inForce(at: ts) != timeline.inForce(at: ts) else { continue }
                #expect(effect.map { $0.fromMs <= ts && ts < $0.untilMs ?? .max } == true, "seed \(seed)")
            }
        }
    }
}
