import Alerts
import Codecs
import Fleet
import Foundation
import SimKit
import Testing

/// Two days of six synthetic machines against the alerts that the generator worked out without this code.
struct FixtureTests {
    struct Alert: Decodable, Equatable {
        var vehicle: String, parameter: String, severity: String
        var opened_ts: Int64, resolved_ts: Int64?
        /// Null where there was none.
        var worst_value: Double?
    }

    @Test("The fixture's readings give exactly the expected alerts") func expected() throws {
        let (decoder, timeline) = (RecordDecoder(), RuleTimeline(always: try shippedRules()))
        var folds: [VehicleID: AlertFold] = [:]
        var (found, lines): ([String: Episode], Int) = ([:], 0)
        for line in try Repository.bytes("Tests/Fixtures/machines/readings.jsonl").split(separator: 0x0A) {
            guard case .machine(let reading, let dropped) = try decoder.decode(line: Array(line), isMachine: true)
            else {
                Issue.record("line \(lines + 1) is no machine's reading")
                continue
            }
            #expect(dropped == 0)
            lines += 1
            for episode in folds[reading.vehicle, default: AlertFold()].observe(reading, rules: timeline) {
                found[episode.id] = episode
            }
        }
        #expect(lines == 6 * 288)
        let rows = found.values.map { episode in
            Alert(
                vehicle: episode.vehicle.text, parameter: episode.name, severity: episode.severity.rawValue,
                opened_ts: episode.openedMs,
                resolved_ts: episode.resolvedMs, worst_value: episode.worstValue.map { Double($0) / 1_000 })
        }.sorted { ($0.vehicle, $0.parameter, $0.opened_ts) < ($1.vehicle, $1.parameter, $1.opened_ts) }
        let expected = try JSONDecoder().decode(
            [Alert].self, from: Data(Repository.bytes("Tests/Fixtures/machines/expected.json")))
        #expect(rows == expected)
        #expect(expected.count > 10)
    }
}
