import Alerts
import Fleet
import SimKit
import Testing

struct AlertFoldTests {
    /// What became of one rule: when it opened and resolved (seconds), the worst value (thousandths), and how grave it was.
    struct Seen: Equatable, CustomStringConvertible {
        var opened: Int64, resolved: Int64?, worst: Int64?, severity: Episode.Severity
        init(_ opened: Int64, _ resolved: Int64?, _ worst: Int64?, _ severity: Episode.Severity = .warning) {
            (self.opened, self.resolved, self.worst, self.severity) = (opened, resolved, worst, severity)
        }
        init(_ episode: Episode) {
            self.init(
                (episode.openedMs - start) / 1_000, episode.resolvedMs.map { ($0 - start) / 1_000 }, episode.worstValue,
                episode.severity)
        }
        var description: String {
            "\(opened)..\(resolved.map(String.init) ?? "") worst \(worst.map(String.init) ?? "none") \(severity)"
        }
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let rule: Threshold
        /// Stored values at seconds; nil is a reading without the value.
        let values: [(Int64, Int64?)]
        let expected: [Seen]
        init(_ name: String, _ rule: Threshold, _ values: [(Int64, Int64?)], _ expected: [Seen]) {
            (testDescription, self.rule, self.values, self.expected) = (name, rule, values, expected)
        }
    }

    static let coolant = rule(.coolantTemperature, .above, 85, critical: 95, clear: 82)
    static let fuel = rule(.fuelLevel, .below, 50, clear: 54)
    static let held = rule(.coolantTemperature, .above, 85, hold: 300)
    static let gps = rule(.gpsAvailable, .below, 1, hold: 300, absent: 300)
    static let oldGPS = rule(.gpsAvailable, .below, 1)

    /// What clear, critical and missing values do to a plain rule the seeded reference below says; here are a thousandth beside
    /// the limits, and the other kinds of rules.
    static let cases = [
        Case("above: an equal value raises nothing", coolant, [(0, 85_000), (10, 85_000)], []),
        Case("above: a thousandth more does", coolant, [(0, 85_001)], [Seen(0, nil, 85_001)]),
        Case("below: an equal value raises nothing", fuel, [(0, 50_000)], []),
        Case("below: a thousandth less does", fuel, [(0, 49_999)], [Seen(0, nil, 49_999)]),
        Case("an equal critical value is a warning", coolant, [(0, 95_000)], [Seen(0, nil, 95_000)]),
        Case("beyond the critical value at once", coolant, [(0, 95_001)], [Seen(0, nil, 95_001, .critical)]),
        Case("a thousandth short of clear stays open", coolant, [(0, 90_000), (1, 82_001)], [Seen(0, nil, 90_000)]),
        Case("below: just short of clear stays open", fuel, [(0, 40_000), (1, 53_999)], [Seen(0, nil, 40_000)]),
        Case(
            "no clear: the limit itself resolves", rule(.fuelLevel, .below, 50), [(0, 49_000), (1, 50_000)],
            [Seen(0, 1, 49_000)]),
        Case("hold: exactly as long opens nothing", held, [(0, 90_000), (300, 90_000)], []),
        Case("hold: longer opens where it is seen", held, [(0, 90_000), (301, 90_000)], [Seen(301, nil, 90_000)]),
        Case("hold: one reading, however late it comes, opens nothing", held, [(7_200, 99_000)], []),
        Case(
            "hold: a good value between begins anew", held, [(0, 90_000), (200, 80_000), (310, 90_000), (600, 90_000)],
            []),
        Case(
            "hold: a good value and then long enough", held,
            [(0, 90_000), (200, 80_000), (310, 90_000), (611, 91_000)], [Seen(611, nil, 91_000)]),
        Case("hold: missing neither ends nor goes on", held, [(0, 90_000), (500, nil)], []),
        Case(
            "hold: missing between does not begin anew", held, [(0, 90_000), (200, nil), (301, 90_000)],
            [Seen(301, nil, 90_000)]),
        Case("absent: exactly as long opens nothing", gps, [(0, 1), (300, nil)], []),
        Case("absent: opens at its deadline, not at the reading", gps, [(0, 1), (900, nil)], [Seen(300, nil, nil)]),
        Case(
            "absent: counts from the last reading that had it", gps, [(0, 1), (100, 1), (401, nil)],
            [Seen(400, nil, nil)]),
        Case("absent: never there counts from the first reading", gps, [(50, nil), (351, nil)], [Seen(350, nil, nil)]),
        Case("absent: a single reading without it opens nothing", gps, [(7_200, nil)], []),
        Case("absent: the value resolves", gps, [(0, 1), (900, nil), (901, 1)], [Seen(300, 901, nil)]),
        Case("absent: a silence between good readings is none", gps, [(0, 1), (9_000, 1)], []),
        Case("flag: failing and held", gps, [(0, 0), (301, 0), (302, 1)], [Seen(301, 302, 0)]),
        Case(
            "flag: failing, then missing, is one stretch", gps, [(0, 0), (200, nil), (301, nil)], [Seen(301, nil, nil)]),
        Case("old file: GPS alerts at once", oldGPS, [(0, 1), (1, 0), (2, 1)], [Seen(1, 2, 0)]),
        Case("old file: missing GPS raises nothing", oldGPS, [(0, 1), (90_000, nil)], []),
        Case(
            "service: open from the first reading on", rule(.engineHours, .above, 50, every: 50),
            [(0, 10_000), (9, 40_000)], [Seen(0, nil, 40_000)]),
        Case("service: nothing without hours", rule(.engineHours, .above, 50, every: 50), [(0, nil)], []),
        Case(
            "hours as the old app: the value itself", rule(.engineHours, .above, 50), [(0, 50_000), (1, 50_001)],
            [Seen(1, nil, 50_001)]),
        Case("shown only", rule(.fuelLevel, .shown), [(0, 0), (1, 2_000_000)], []),
        Case(
            "shown, but its absence is judged", rule(.fuelLevel, .shown, absent: 60), [(0, 1), (61, nil), (70, 5)],
            [Seen(60, 70, nil)]),
    ]

    @Test("One rule", arguments: cases) func rules(_ test: Case) {
        guard case .parameter(let parameter) = test.rule.field else {
            return #expect(Bool(false), "a rule of a number")
        }
        let readings = test.values.map { seconds, value in reading(seconds, value.map { [parameter: $0] } ?? [:]) }
        #expect(episodes(readings, always(test.rule)).map(Seen.init) == test.expected)
    }

    @Test(
        "The call-in's age is judged at the reading's own time",
        arguments: [(432_000, false), (432_044, true), (518_400, true), (0, false), (-60, false)] as [(Int64, Bool)])
    func callIn(ageSeconds: Int64, isOpen: Bool) {
        let found = episodes(
            [reading(0, [.lastCellCallIn: start - ageSeconds * 1_000])], always(rule(.lastCellCallIn, .above, 5)))
        #expect(found.map(\.state) == (isOpen ? [.open] : []))
        // Thousandths of a day, rounded.
        #expect(found.first?.openingValue == (isOpen ? (ageSeconds * 1_000 + 43_200) / 86_400 : nil))
    }

    @Test("An unrecorded service says so") func service() throws {
        let rules = always(rule(.engineHours, .above, 50, every: 250, advice: "Change the oil."))
        let found = try #require(episodes([reading(0, [.engineHours: 7_000])], rules).first)
        #expect(found.advice == "No service recorded. Change the oil.")
        #expect(found.threshold == 250_000)
        let plain = episodes([reading(0, [.engineHours: 7_000])], always(rule(.engineHours, .above, 50, every: 50)))
        #expect(plain.first?.advice == "No service recorded.")
    }

    @Test(
        "Another model's rules resolve what they do not know",
        arguments: [
            ("R4038 Sprayer", 60), ("544K Loader", 60), (tractor, nil),
        ] as [(String, Int64?)])
    func modelChange(to model: String, resolved: Int64?) {
        let rules = RuleSet([tractor: [AlertFoldTests.fuel], "R4038 Sprayer": [AlertFoldTests.coolant]])
        let found = episodes(
            [reading(0, [.fuelLevel: 1_000]), reading(60, [.fuelLevel: 1_000], model: model)],
            RuleTimeline(always: rules))
        #expect(found.map(Seen.init) == [Seen(0, resolved, 1_000)])
        #expect(found.map(\.model) == [tractor])
    }

    @Test(
        "Absence does not count from before a time without a rule",
        arguments: [(400, 0), (700, 0), (701, 1)] as [(Int64, Int)])
    func absenceAcrossModels(lastSeconds: Int64, alerts: Int) {
        let readings = [
            reading(0, [.gpsAvailable: 1]), reading(300, [.gpsAvailable: 1], model: "544K Loader"), reading(400),
            reading(lastSeconds),
        ]
        let found = episodes(lastSeconds == 400 ? Array(readings.dropLast()) : readings, always(Self.gps))
        #expect(found.map(\.sinceMs) == Array(repeating: start + 400_000, count: alerts))
    }

    @Test(
        "The model's name matches exactly",
        arguments: ["8r Tractor", "8R  Tractor", " 8R Tractor", "8R Tractor ", "", "8R"])
    func unknownModel(_ model: String) {
        #expect(episodes([reading(0, [.fuelLevel: 0], model: model)], always(Self.fuel)).isEmpty)
        #expect(!episodes([reading(0, [.fuelLevel: 0])], always(Self.fuel)).isEmpty)
    }

    @Test("An episode says everything of the rule that raised it") func whole() throws {
        var rule = AlertFoldTests.coolant
        (rule.recommended, rule.advice, rule.audience, rule.unit) = (75_000, "Clean it.", .dealer, "°C")
        let rules = RuleSet([tractor: [rule]])
        let found = try #require(
            episodes([reading(7, [.coolantTemperature: 97_000])], RuleTimeline(always: rules)).first)
        #expect(
            (found.vehicle.text, found.parameter, found.name) == ("m-1", .coolantTemperature, "Coolant Temperature"))
        #expect((found.test, found.threshold, found.recommended) == (.above, 85_000, 75_000))
        #expect((found.advice, found.audience, found.unit) == ("Clean it.", .dealer, "°C"))
        #expect((found.rulesVersion, found.state, found.resolvedMs) == (rules.version, .open, nil))
        #expect([found.sinceMs, found.openedMs, found.worstMs] == [start + 7_000, start + 7_000, start + 7_000])
    }

    @Test("Since when and until when: hold and absence") func since() throws {
        let hot = [0, 400].map { reading($0, [.coolantTemperature: 90_000]) }
        let held = try #require(episodes(hot, always(Self.held)).first)
        #expect((held.sinceMs, held.openedMs, held.test) == (start, start + 400_000, .above))
        let absent = try #require(episodes([reading(0, [.gpsAvailable: 1]), reading(999)], always(Self.gps)).first)
        #expect((absent.sinceMs, absent.openedMs, absent.test) == (start, start + 300_000, .absent))
        #expect(absent.threshold == 300_000)
    }

    @Test("Ids are at most 64 characters of the wire's alphabet and told apart", arguments: [1, 40, 41, 64])
    func ids(length: Int) {
        let found = ["a", "b"].map { last in
            var low = reading(0, [.fuelLevel: 0])
            low.vehicle = VehicleID(String(repeating: "v", count: length - 1) + last)!
            return episodes([low], always(Self.fuel))[0].id
        }
        for id in found { #expect(VehicleID(id) != nil, "\(id)") }
        #expect(found[0] != found[1])
    }

    @Test("The same rules have the same version, other rules another") func versions() {
        let (a, b) = (AlertFoldTests.fuel, AlertFoldTests.coolant)
        #expect(RuleSet([tractor: [a, b]]).version == RuleSet([tractor: [b, a]]).version)
        var changed = a
        changed.clear = 55_000
        let others = [
            RuleSet([tractor: [a]]), RuleSet([tractor: [changed, b]]), RuleSet(["x": [a, b]]), RuleSet([:]),
        ]
        #expect(Set(others.map(\.version) + [RuleSet([tractor: [a, b]]).version]).count == 5)
    }

    /// Plain rules with clear, written from the specification: strictly beyond opens, back past clear resolves.
    private func reference(_ values: [(Int64, Int64?)], isAbove: Bool, limit: Int64, critical: Int64, clear: Int64)
        -> [Seen]
    {
        var all: [Seen] = []
        var isOpen = false
        for case (let seconds, let value?) in values {
            func beyond(_ bound: Int64) -> Bool { isAbove ? value > bound : value < bound }
            if !isOpen, beyond(limit) {
                isOpen = true
                all.append(Seen(seconds, nil, value))
            } else if isOpen, !beyond(clear) {
                isOpen = false
                all[all.count - 1].resolved = seconds
            }
            guard isOpen else { continue }
            let last = all.count - 1
            all[last].worst = isAbove ? max(all[last].worst!, value) : min(all[last].worst!, value)
            if beyond(critical) { all[last].severity = .critical }
        }
        return all
    }

    @Test("Seeded readings against the plain reference", arguments: 0..<200 as Range<UInt64>) func seeded(seed: UInt64)
    {
        var chance = SeededChance(seed: seed)
        let isAbove = chance.once(in: 2)
        let sign: Int64 = isAbove ? 1 : -1
        let (limit, gap, more) = (50 + chance.below(20), chance.below(8), chance.below(12))
        var (seconds, values): (Int64, [(Int64, Int64?)]) = (0, [])
        for _ in 0..<300 {
            seconds += 1 + chance.below(900)
            // Whole units and halves, so that equal values are frequent.
            values.append((seconds, chance.once(in: 6) ? nil : (limit * 2 - 30 + chance.below(61)) * 500))
        }
        let rules = always(
            rule(
                .fuelLevel, isAbove ? .above : .below, limit, critical: limit + sign * more, clear: limit - sign * gap))
        let found = episodes(values.map { reading($0, $1.map { [.fuelLevel: $0] } ?? [:]) }, rules).map(Seen.init)
        let wanted = reference(
            values, isAbove: isAbove, limit: limit * 1_000, critical: (limit + sign * more) * 1_000,
            clear: (limit - sign * gap) * 1_000)
        #expect(found == wanted, "seed \(seed)")
        #expect(wanted.count > 1, "seed \(seed) tests little")
    }
}
