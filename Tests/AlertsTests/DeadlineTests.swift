import Alerts
import Codecs
import Fleet
import SimKit
import Testing

struct DeadlineTests {
    static let rules = always(
        rule(.gpsAvailable, .below, 1, hold: 300, absent: 300), rule(.lastCellCallIn, .above, 5),
        rule(.tirePressure, .below, 70, hold: 600))
    let machine = VehicleID("m-1")!

    private func overdue(_ readings: [MachineReading], at seconds: Int64) -> [String] {
        var fold = AlertFold()
        for reading in readings { _ = fold.observe(reading, rules: Self.rules) }
        return fold.overdue(at: start + seconds * 1_000, rules: Self.rules, vehicle: machine).map {
            "\($0.parameter) \(($0.openedMs - start) / 1_000) \($0.test)"
        }
    }

    private func reporting(_ seconds: Int64, _ values: [MachineParameter: Int64] = [:]) -> MachineReading {
        var reading = reading(seconds, values)
        reading.isReporting = true
        return reading
    }

    @Test("What the clock opens, and when") func clock() {
        let day: Int64 = 86_400
        #expect(overdue([], at: 10 * day) == [])
        #expect(overdue([reporting(0, [.gpsAvailable: 1])], at: 300) == [])
        #expect(overdue([reporting(0, [.gpsAvailable: 1])], at: 301) == ["gpsAvailable 300 absent"])
        // Upload only: judged within the times of its readings.
        #expect(overdue([reading(0, [.gpsAvailable: 1])], at: day) == [])
        // The last one decides whether more is expected.
        #expect(overdue([reporting(0, [.gpsAvailable: 1]), reading(10, [.gpsAvailable: 1])], at: day) == [])
        // Already missing at the last reading: counted from when it was there.
        #expect(overdue([reporting(0, [.gpsAvailable: 1]), reporting(200)], at: 301) == ["gpsAvailable 300 absent"])
        // Judged always, to the millisecond.
        let called = [reading(0, [.lastCellCallIn: start - 1_000])]
        #expect(overdue(called, at: 5 * day - 1) == [])
        #expect(overdue(called, at: 5 * day) == ["lastCellCallIn 431999 above"])
        // A later reading that does not know of a call-in changes nothing.
        #expect(overdue(called + [reading(day)], at: 5 * day) == ["lastCellCallIn 431999 above"])
        // `<for>` is measured between readings.
        #expect(overdue([reporting(0, [.tirePressure: 60_000, .gpsAvailable: 1])], at: 299) == [])
        #expect(overdue([reading(0, [.tirePressure: 60_000])], at: day) == [])
    }

    @Test("A limit that no clock reaches is no deadline") func never() {
        let rules = always(rule(.lastCellCallIn, .above, 1_000_000_000))
        var fold = AlertFold()
        _ = fold.observe(reading(0, [.lastCellCallIn: start]), rules: rules)
        #expect(fold.nextDeadlineMs(after: start, rules: rules, vehicle: machine) == nil)
    }

    @Test("The clock's alert is the one that the next reading finds", arguments: 0..<60 as Range<UInt64>)
    func same(seed: UInt64) {
        var chance = SeededChance(seed: seed)
        var fold = AlertFold()
        for index in 0..<40 as Range<Int64> {
            var next = reading(index * 200 + chance.below(190))
            if chance.once(in: 2) { next.values[.gpsAvailable] = chance.below(2) }
            if chance.once(in: 2) { next.values[.lastCellCallIn] = next.ts - 431_900_000 - chance.below(100_000) }
            next.isReporting = chance.once(in: 2)
            let told = fold.overdue(at: next.ts, rules: Self.rules, vehicle: machine)
            let seen = fold.observe(next, rules: Self.rules)
            for episode in told {
                let explained = next.values[.lastCellCallIn] ?? 0 > 0 && episode.parameter == .lastCellCallIn
                #expect(explained || seen.contains(episode), "seed \(seed)")
            }
            #expect(fold.nextDeadlineMs(after: next.ts, rules: Self.rules, vehicle: machine) ?? .max >= next.ts)
        }
    }

    @Test("A transition as a record on drover.alerts") func transition() throws {
        var fold = AlertFold()
        let rules = always(rule(.coolantTemperature, .above, 85, critical: 95, advice: "Clean \"it\"."))
        let found = try #require(fold.observe(reading(0, [.coolantTemperature: 96_500]), rules: rules).first)
        var told = ToldAlerts()
        let transitions = told.tell([found], cause: AlertCause(pushedMs: 5, isLate: false)) { _ in true }
        #expect(transitions.map(\.id) == ["\(found.id)-opened-0"] && transitions.map(\.key) == ["m-1"])
        #expect(
            String(decoding: RecordWriter.alert(transitions[0]), as: UTF8.self) == """
                {"schema":1,"kind":"alert","id":"\(found.id)-opened-0","vehicle":"m-1","ts":\(start),\
                "transition":"opened","alert":"\(found.id)","revision":0,"model":"8R Tractor",\
                "parameter":"Coolant Temperature","unit":"u","severity":"critical","state":"open","test":"above",\
                "threshold":85,"since_ts":\(start),"opened_ts":\(start),"opening_value":96.5,"worst_value":96.5,\
                "worst_ts":\(start),"audience":"farmer","advice":"Clean \\"it\\".",\
                "rules_version":"\(rules.inForce(at: start).version)"}
                """)
        let gone = told.tell([], cause: AlertCause(pushedMs: start + 7, isLate: true)) { _ in true }
        #expect(gone.map(\.id) == ["\(found.id)-withdrawn-1"])
        let json = String(decoding: RecordWriter.alert(gone[0]), as: UTF8.self)
        #expect(json.contains(#""state":"withdrawn""#) && json.contains(#""ts":\#(start + 7),"#))
    }
}
