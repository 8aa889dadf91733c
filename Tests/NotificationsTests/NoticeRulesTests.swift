import Alerts
import Foundation
import Notifications
import SimKit
import Testing

struct NoticeRulesTests {
    private let rules = NoticeRules()
    private let noonMs: Int64 = 1_795_348_800_000

    private func event(_ transition: AlertTransition.Kind, toldMs: Int64) -> NoticeEvent {
        NoticeEvent(alert: "8R-1-x", transition: transition, toldMs: toldMs)
    }

    private func alert(_ severity: Episode.Severity = .critical, openedAgoMs: Int64 = 1_000) -> NoticeAlert {
        NoticeSample.alert(severity, openedMs: noonMs - openedAgoMs, toldMs: noonMs)
    }

    @Test("Any story of one alert, told twice, in any order: each occasion once, and an end only after a beginning")
    func stories() {
        let transitions: [AlertTransition.Kind] = [.opened, .worse, .resolved, .revised, .withdrawn]
        for seed in 0..<UInt64(ProcessInfo.processInfo.environment["DROVER_LONG"] == nil ? 2_000 : 200_000) {
            var random = SeededChance(seed: seed)
            var (rows, nowMs): ([Notice], Int64) = ([], noonMs)
            var alert = alert(Bool.random(using: &random) ? .critical : .warning)
            let account = NoticeSample.account("miller")
            for _ in 0..<12 {
                let transition = transitions.randomElement(using: &random)!
                switch transition {
                case .worse: alert.severity = .critical
                case .resolved: (alert.state, alert.resolvedMs) = (.resolved, nowMs)
                case .revised:
                    (alert.revision, alert.state) = (
                        alert.revision + 1, Bool.random(using: &random) ? .open : .resolved
                    )
                case .withdrawn: (alert.revision, alert.state) = (alert.revision + 1, .withdrawn)
                case .opened: break
                }
                let wasTold = rows.contains { $0.state == .told && [.opened, .worse].contains($0.occasion) }
                for _ in 0..<2 {
                    let decided = rules.decide(
                        event(transition, toldMs: nowMs), alert, account, relation: .owner, past: rows, nowMs: nowMs)
                    for new in decided.new where [.resolved, .corrected, .withdrawn].contains(new.occasion) {
                        #expect(wasTold, "seed \(seed): \(new.occasion) of what nobody was told")
                    }
                    let changed = Dictionary(uniqueKeysWithValues: decided.changed.map { ($0.id, $0) })
                    rows = rows.map { changed[$0.id] ?? $0 }
                    rows += decided.new.filter { new in !rows.contains { $0.id == new.id } }
                }
                #expect(Set(rows.map(\.id)).count == rows.count, "seed \(seed)")
                if Bool.random(using: &random) {
                    // Due: told, if it is still so.
                    rows = rows.map { row in
                        guard row.state == .waiting else { return row }
                        return switch rules.fate(row, alert, account, nowMs: nowMs) {
                        case .tell: row.settled(.told, row.reason)
                        case .not(let reason): row.settled(.notTold, reason)
                        case .wait: row
                        }
                    }
                }
                nowMs += 60_000
            }
            // One beginning waits at a time: nobody is told twice of one.
            let beginnings = rows.filter { $0.state == .waiting && [.opened, .worse].contains($0.occasion) }
            #expect(beginnings.count <= 1, "seed \(seed)")
        }
    }

    @Test("Worse before the opening is told: once, and at once") func worseMeanwhile() {
        let account = NoticeSample.account("miller")
        func told(_ waiting: Notice) -> (new: [Notice], changed: [Notice]) {
            rules.decide(
                event(.worse, toldMs: noonMs), alert(), account, relation: .owner, past: [waiting],
                nowMs: noonMs + 1_000)
        }
        let opening = rules.decide(
            event(.opened, toldMs: noonMs), alert(), account, relation: .owner, past: [], nowMs: noonMs
        ).new[0]
        // It goes out in half a minute, and says then that it is critical.
        #expect(told(opening).new.isEmpty && told(opening).changed.isEmpty)
        // One that waits for the end of the night does not hold up what has become critical.
        let held = told(opening.waiting(until: noonMs + 3_600_000, "quiet hours"))
        #expect(held.new.map(\.occasion) == [.worse] && held.changed.map(\.state) == [.notTold])
        // One that was told is told again.
        #expect(told(opening.settled(.told, "")).new.map(\.occasion) == [.worse])
    }

    @Test("A storm: five messages in five minutes, then when the oldest is that old")
    func burst() {
        #expect(NoticeRules.allowedFrom([4, 3, 2, 1]) == 0)
        #expect(NoticeRules.allowedFrom([50, 40, 30, 20, 10]) == 10 + 300_000)
        #expect(NoticeRules.allowedFrom([60, 50, 40, 30, 20, 10]) == 20 + 300_000)
    }

    @Test(
        "Repeats slow down",
        arguments: [
            (240, 1, 0, 240), (240, 3, 0, 960), (240, 9, 0, 1_440), (15, 8, 0, 1_440), (2_880, 1, 0, 2_880),
            (240, 2, 8, 10_080),
        ])
    func repeats(first: Int, round: Int, days: Int, expected: Int) {
        #expect(NoticeRules.repeatMin(first, round: round, ageMs: Int64(days) * 86_400_000) == expected)
    }

    @Test("Nobody who is disabled, nobody without a way, nothing that its reader has acknowledged") func fates() {
        let row = rules.decide(
            event(.opened, toldMs: noonMs), alert(), NoticeSample.account("a"), relation: .owner, past: [],
            nowMs: noonMs
        ).new[0]
        var seen = alert()
        #expect(rules.fate(row, seen, NoticeSample.account("a"), nowMs: noonMs) == .tell)
        #expect(rules.fate(row, seen, nil, nowMs: noonMs) == .not("the account is disabled"))
        seen.acknowledgedBy = "a"
        #expect(rules.fate(row, seen, NoticeSample.account("a"), nowMs: noonMs) == .not("you have acknowledged it"))
        var setting = NoticeSetting()
        setting.critical.channels = [.webhook]
        #expect(rules.fate(row, alert(), NoticeSample.account("a", setting: setting), nowMs: noonMs) != .tell)
    }
}
