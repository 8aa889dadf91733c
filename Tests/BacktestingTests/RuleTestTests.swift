import Alerts
import Backtesting
import Foundation
import SimKit
import Testing

/// The shipped threshold files, and the rule tests that ship with them.
private enum Shipped {
    static let models = ["8R Tractor", "R4038 Sprayer", "S690 Combine"]

    static func thresholds(_ model: String) throws -> String {
        try Repository.text("Deploy/thresholds/\(model)-thresholds.xml")
    }

    static func tests(_ model: String) throws -> [RuleTest] {
        try RuleTestFile.read(Repository.bytes("Deploy/thresholds/tests/\(model).yaml"), name: "\(model).yaml")
    }

    /// What a person sees who runs the tests with this file: the mistakes of the file, or the tests that fail.
    static func failures(_ model: String, _ xml: String, _ tests: [RuleTest]) -> [String] {
        do throws(ThresholdError) {
            let rules = try ThresholdFile.parse(fileName: "\(model)-thresholds.xml", bytes: Array(xml.utf8))
            return tests.compactMap { $0.failure(by: RuleSet([model: rules])) }
        } catch {
            return ["\(error)"]
        }
    }
}

struct RuleTestTests {
    @Test("The shipped rules pass their tests", arguments: Shipped.models) func shipped(model: String) throws {
        let tests = try Shipped.tests(model)
        #expect(tests.count > 25)
        #expect(Shipped.failures(model, try Shipped.thresholds(model), tests) == [])
    }

    @Test("Each number of a shipped file, one step up or down, makes a rule test fail", arguments: Shipped.models)
    func mutations(model: String) throws {
        let (xml, tests) = (try Shipped.thresholds(model), try Shipped.tests(model))
        var changed = 0
        for number in xml.matches(of: /<(\w+)>(\d+)<\/\1>/) {
            // What is only shown is compared with nothing: its threshold is there because the format asks for one.
            let row = xml[..<number.range.lowerBound]
            if row[row.range(of: "<parameter>", options: .backwards)!.lowerBound...].contains("<test>none</test>") {
                continue
            }
            for step in [1, -1] {
                let (name, value) = (number.output.1, Int(number.output.2)! + step)
                var mutant = xml
                mutant.replaceSubrange(number.range, with: "<\(name)>\(value)</\(name)>")
                #expect(!Shipped.failures(model, mutant, tests).isEmpty, "\(name) \(number.output.2) → \(value)")
                changed += 1
            }
        }
        // Eight rules with 19 numbers.
        #expect(changed == 40)
    }

    @Test("Every parameter that a shipped file judges is in a test", arguments: Shipped.models)
    func whole(model: String) throws {
        let judged = try ThresholdFile.parse(
            fileName: "x", bytes: Array(Shipped.thresholds(model).utf8)
        ).filter { $0.judged != nil }
        for rule in judged {
            // Without the rule a test must miss its alert.
            let others = RuleSet([model: judged.filter { $0.field != rule.field }])
            #expect(try Shipped.tests(model).contains { $0.failure(by: others) != nil }, "\(rule.name)")
        }
    }

    // MARK: Messages

    private static func read(_ tests: String) throws -> [RuleTest] {
        try RuleTestFile.read(
            Array("given: {model: 8R Tractor, start: \"2026-09-14T06:00:00Z\"}\ntests:\n\(tests)".utf8), name: "x.yaml")
    }

    @Test("What was expected, what came, and the readings around") func differs() throws {
        let rules = RuleSet([
            "8R Tractor": try ThresholdFile.parse(fileName: "x", bytes: Array(Shipped.thresholds("8R Tractor").utf8))
        ])
        let tests = try RuleTestTests.read(
            """
              - name: fuel
                when:
                  - {at: +0m, fuel_level_gal: 60}
                  - {at: +1m, fuel_level_gal: 49.9}
                  - {at: +2m}
                  - {tick: +3m}
                  - {at: +4m, fuel_level_gal: 54, coolant_c: 90}
                then:
                  - {alert: Fuel Level, opened: +1m, worst: 48}
              - name: nothing at all
                when: []
                then:
                  - {alert: Tire Pressure, opened: +1h}
                  - {rule: Fuel Level, capacity: 200}
            """)
        #expect(
            tests.compactMap { $0.failure(by: rules) } == [
                """
                x.yaml:3: fuel
                  expected: Fuel Level opened +1m, resolved none, state open, severity warning, worst 48
                  came:     Fuel Level opened +1m, resolved +4m, state resolved, severity warning, test below, since +1m, \
                opening 49.9, worst 49.9, worst_at +1m, threshold 50, recommended none, advice Refuel before the next \
                field., user farmer, revision 0
                      +0s  reading, fuel_level_gal 60
                      +1m  reading, fuel_level_gal 49.9
                      +2m  reading, without the value
                      +3m  tick
                  expected: nothing
                  came:     Coolant Temperature opened +4m, resolved none, state open, severity warning, test above, \
                since +4m, opening 90, worst 90, worst_at +4m, threshold 85, recommended none, advice Let the engine idle \
                and clean the radiator screen. Above 95 °C stop the engine., user farmer, revision 0
                      +1m  reading, without the value
                      +2m  reading, without the value
                      +3m  tick
                      +4m  reading, coolant_c 90

                """,
                """
                x.yaml:12: nothing at all
                  expected: rule Fuel Level capacity 200
                  came:     rule Fuel Level capacity 190
                  expected: Tire Pressure opened +1h, resolved none, state open, severity warning
                  came:     nothing

                """,
            ])
    }

    @Test(
        "A file that cannot be read says where and what is accepted",
        arguments: [
            ("  - {name: a, when: [], than: []}", "x.yaml:3: `than` is not one of name, given, when, then"),
            ("  - {name: a, when: [{at: 5m}], then: []}", "x.yaml:3: `5m` is not a time like +5m, -2d"),
            ("  - {name: a, when: [{fuel_level_gal: 5}], then: []}", "must begin with `at`, `tick` or `service`"),
            ("  - {name: a, when: [{at: +5m, fuel: 5}], then: []}", "`fuel` is not one of at, tick, service"),
            ("  - {name: a, when: [{at: +5m, coolant_c: 999}], then: []}", "`999` is no possible value of coolant_c"),
            ("  - {name: a, when: [{at: +5m, gps_available: 1}], then: []}", "`1` is neither true nor false"),
            ("  - {name: a, when: [{service: +5m}], then: []}", "a service needs `engine_hours_h`"),
            ("  - {name: a, when: [{tick: +5m, coolant_c: 9}], then: []}", "`coolant_c` is not one of tick"),
            ("  - {name: a, when: [], then: [{alert: Fuel, opened: +1m}]}", "`Fuel` is not one of Terminal Serial"),
            ("  - {name: a, when: [], then: [{alert: Fuel Level}]}", "`opened` is missing"),
            ("  - {name: a, when: [], then: [{alert: Fuel Level, opened: +1m, wurst: 1}]}", "`wurst` is not one of"),
            ("  - {when: [], then: []}", "`name` is missing"),
            ("  - {name: a, given: {coolant: 5}, when: [], then: []}", "`coolant` is not one of model"),
            ("  - {name: a}", "`when` and `then` must be there"),
            ("  - [1, 2", "x.yaml: line 4: "), ("  - just text", "must be a map of name, given, when, then"),
            ("  - &a {name: a, when: [], then: []}\n  - *a", "aliases are not read"),
        ])
    func unread(tests: String, says: String) {
        let error = #expect(throws: RuleTestFault.self) { try RuleTestTests.read(tests) }
        #expect(
            error?.description.hasPrefix("x.yaml:") == true && error?.description.contains(says) == true,
            "\(error as Any)")
    }
}
