import Alerts
import Fleet
import SimKit
import Testing

struct RuleFolderTests {
    private static func folder(_ path: String) throws -> RuleFolder {
        let names = try Repository.names(path, ending: ".xml")
        return RuleFolder(
            Dictionary(uniqueKeysWithValues: try names.map { ($0, try Repository.bytes("\(path)/\($0)")) }))
    }

    @Test("The file of the old app loads unchanged") func old() throws {
        var fuel = rule(.fuelLevel, .below, 65)
        fuel.unit = "gallons"
        #expect(try Self.folder("Tests/Fixtures/thresholds/old").load() == RuleSet(["S690 Combine": [fuel]]))
    }

    @Test("Twelve broken files, each with its message") func broken() throws {
        let folder = try Self.folder("Tests/Fixtures/thresholds/broken")
        #expect(folder.files.count == 12)
        let error = try #require(throws: ThresholdError.self) { try folder.load() }
        let names = ThresholdField.table.flatMap(\.names).joined(separator: ", ")
        #expect(
            error.description == """
                01 unknown name-thresholds.xml:3: <name>: is "Coolant Temp", must be one of: \(names).
                02 unknown test-thresholds.xml:4: <test>: is "over", must be one of: above, below, none.
                03 number with a comma-thresholds.xml:8: <threshold>: is "85,5", must be a number such as 65 or 65.5.
                04 missing unit-thresholds.xml:2: <parameter>: is missing; accepted: <unit>.
                05 flag that is no flag-thresholds.xml:8: <threshold>: is "2", must be one of: 0, 1.
                06 critical on the good side-thresholds.xml:9: <critical>: is "80", critical must lie beyond the threshold.
                07 clear on the bad side-thresholds.xml:9: <clear>: is "90", clear must lie on the good side of the threshold.
                08 unknown element-thresholds.xml:9: <hold>: is not an element of this file; accepted: name, test, unit, \
                type, user, threshold, critical, for, clear, absent, every, soon, recommended, capacity, advice.
                09 parameter twice-thresholds.xml:10: <parameter>: is "Engine Hours", stands a second time, first in line \
                2. Keep one of them.
                10 two intervals-thresholds.xml:9: <threshold>: is "50", must be the same number of hours as <every>.
                11 soon after due-thresholds.xml:10: <soon>: is "60", must be less than <every>.
                12 cut off-thresholds.xml:9: <root>: the file cannot be read: it is not well-formed XML, or cut off.
                """)
    }

    @Test("A machine's own file stands in the place of its model's rules") func machines() throws {
        func file(_ name: String, _ limit: Int) -> [UInt8] {
            Array(
                """
                <root><parameter><name>\(name)</name><test>above</test><unit>°C</unit><type>int</type>
                <user>farmer</user><threshold>\(limit)</threshold></parameter></root>
                """.utf8)
        }
        var folder = RuleFolder([
            "8R Tractor-thresholds.xml": file("Coolant Temperature", 85),
            "machines/m-1-thresholds.xml": file("Coolant Temperature", 90),
            "machines/m-2-thresholds.xml": file("Hydraulic Oil Temperature", 55),
            "machines/notes.xml": Array("no XML".utf8), "tractors.xml": Array("<root/>".utf8),
        ])
        let rules = RuleTimeline(always: try folder.load())
        func opened(_ vehicle: String, _ model: String) -> [Int64?] {
            var (fold, hot) = (AlertFold(), reading(0, model: model))
            hot.values = [.coolantTemperature: 88_000, .hydraulicOilTemperature: 60_000]
            hot.vehicle = VehicleID(vehicle)!
            return fold.observe(hot, rules: rules).map(\.threshold)
        }
        #expect(opened("m-0", tractor) == [85_000])
        #expect(opened("m-1", tractor) == [])
        #expect(opened("m-2", tractor) == [85_000, 55_000])
        // A model without thresholds, a machine with some.
        #expect(opened("m-2", "544K Loader") == [55_000] && opened("m-1", "544K Loader") == [])
        folder.files["machines/m 3-thresholds.xml"] = file("Coolant Temperature", 90)
        let error = try #require(throws: ThresholdError.self) { try folder.load() }
        #expect(
            error.description == "machines/m 3-thresholds.xml:1: <root>: is \"m 3\", the file's name must begin with a "
                + "machine's id: 1 to 64 letters, digits, -, _ or ..")
    }

    @Test("What changed is said by model, machine and parameter") func changes() throws {
        var (hot, low) = (AlertFoldTests.coolant, AlertFoldTests.fuel)
        let before = RuleSet([tractor: [hot, low], "R4038 Sprayer": [low]])
        (hot.threshold, hot.critical, hot.holdMs) = (90_000, nil, 2_500)
        low.advice = "Refuel."
        let after = RuleSet(
            [tractor: [hot, AlertFoldTests.gps], "R4038 Sprayer": [low]], machines: [VehicleID("m-1")!: [hot]])
        #expect(
            after.changes(since: before).map(\.description) == [
                "changed 8R Tractor: Coolant Temperature: threshold 85 → 90, critical 95 → none, for 2.5",
                "removed 8R Tractor: Fuel Level: test below, unit u, type int, user farmer, threshold 50, clear 54",
                "added 8R Tractor: GPS Available: test below, unit u, type int, user farmer, threshold 1, for 300, "
                    + "absent 300", "changed R4038 Sprayer: Fuel Level: advice Refuel.",
                "added machine m-1: Coolant Temperature: test above, unit u, type int, user farmer, threshold 90, "
                    + "for 2.5, clear 82",
            ])
        #expect(after.changes(since: after).isEmpty)
    }
}
