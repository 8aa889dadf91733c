import Alerts
import Notifications
import Testing

/// What becomes of one event, for one account, as one row each: what was told before, what somebody wishes, what they get.
struct NoticeTableTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        var transition = AlertTransition.Kind.opened
        var severity = Episode.Severity.critical
        var state = AlertState.open
        var ageMs: Int64 = 1_000
        var relation = NoticeRelation.owner
        var past: [NoticeState] = []
        var wish: @Sendable (inout NoticeSetting) -> Void = { _ in }
        /// Occasion, manner, state; nil: nothing.
        let expected: String?
        var testDescription: String { name }
    }

    private static let noonMs: Int64 = 1_795_348_800_000
    private static let hourMs: Int64 = 3_600_000

    @Test(
        "Who is told of what, and how soon",
        arguments: [
            Case(name: "critical", expected: "opened at_once waiting"),
            Case(name: "a warning is for the day's message", severity: .warning, expected: "opened daily waiting"),
            Case(
                name: "switched off", severity: .warning, wish: { $0.warning.manner = .never },
                expected: "opened never not_told"),
            Case(name: "of a backlog", ageMs: 2 * hourMs, expected: "opened daily waiting"),
            Case(name: "an hour old", ageMs: hourMs, expected: "opened at_once waiting"),
            Case(
                name: "of a backlog, as usual", ageMs: 2 * hourMs, wish: { $0.backlog = .asUsual },
                expected: "opened at_once waiting"),
            Case(
                name: "of a backlog, never", ageMs: 2 * hourMs, wish: { $0.backlog = .never },
                expected: "opened never not_told"),
            Case(name: "opened again by a replay", past: [.told], expected: nil),
            Case(name: "not its maker", relation: .developer, expected: nil),
            Case(
                name: "its maker, who asked for it", relation: .developer, wish: { $0.hasMadeMachines = true },
                expected: "opened at_once waiting"),
            Case(
                name: "over, of what was told", transition: .resolved, past: [.told],
                expected: "resolved at_once waiting"),
            Case(name: "over, of what nobody was told", transition: .resolved, past: [.notTold], expected: nil),
            Case(name: "over before it was told", transition: .resolved, past: [.waiting], expected: nil),
            Case(
                name: "over, switched off meanwhile", transition: .resolved, past: [.told],
                wish: { $0.critical.manner = .never }, expected: nil),
            Case(name: "corrected", transition: .revised, past: [.told], expected: "corrected at_once waiting"),
            Case(name: "opened by a correction", transition: .revised, expected: "opened at_once waiting"),
            Case(name: "corrected, and over", transition: .revised, state: .resolved, expected: nil),
            Case(
                name: "taken back", transition: .withdrawn, state: .withdrawn, past: [.told],
                expected: "withdrawn at_once waiting"),
            Case(
                name: "taken back before it was told", transition: .withdrawn, state: .withdrawn, past: [.waiting],
                expected: nil),
            Case(name: "worse than it was told", transition: .worse, past: [.told], expected: "worse at_once waiting"),
            Case(name: "worse, and told within the half minute", transition: .worse, past: [.waiting], expected: nil),
        ])
    func decided(row: Case) {
        var alert = NoticeSample.alert(row.severity, openedMs: Self.noonMs - row.ageMs, toldMs: Self.noonMs)
        alert.state = row.state
        var setting = NoticeSetting()
        row.wish(&setting)
        let account = NoticeSample.account("miller", setting: setting)
        let (rules, event) = (NoticeRules(), { NoticeEvent(alert: alert.id, transition: $0, toldMs: Self.noonMs) })
        let past = row.past.map { state in
            rules.decide(
                event(.opened), alert, NoticeSample.account("miller"), relation: .owner, past: [], nowMs: Self.noonMs
            ).new[0].settled(state, "")
        }
        let new = rules.decide(
            event(row.transition), alert, account, relation: row.relation, past: past, nowMs: Self.noonMs
        ).new
        #expect(
            new.map { "\($0.occasion.rawValue) \($0.manner.rawValue) \($0.state.rawValue)" }
                == (row.expected.map { [$0] } ?? []))
    }

    struct Fate: CustomTestStringConvertible, Sendable {
        let name: String
        let change: @Sendable (inout NoticeAlert, inout NoticeAccount) -> Void
        let expected: NoticeFate
        var testDescription: String { name }
        init(
            _ name: String, _ expected: NoticeFate,
            _ change: @escaping @Sendable (inout NoticeAlert, inout NoticeAccount) -> Void
        ) {
            self.name = name
            self.change = change
            self.expected = expected
        }
    }

    @Test(
        "When, as both stand by then",
        arguments: [
            Fate("as it is", .tell) { _, _ in },
            Fate("taken back", .not("late readings took it back before it was told")) { alert, _ in
                alert.state = .withdrawn
            },
            Fate("silenced", .wait(untilMs: noonMs + hourMs, reason: "silenced by bob")) { alert, _ in
                (alert.silencedBy, alert.silencedUntilMs) = ("bob", noonMs + hourMs)
            },
            Fate("silenced and over", .not("it was silenced by somebody and is over")) { alert, _ in
                (alert.state, alert.silencedUntilMs) = (.resolved, noonMs + hourMs)
            },
            Fate("no mail any more", .not("there is no way to tell it: see the channels in the settings")) {
                $1.setting.isMailEnded = true
            },
            Fate("at noon, critical", .tell) { $1.setting.quiet = .init(from: 700, until: 780) },
            Fate("at noon, and quiet also for critical ones", .wait(untilMs: noonMs + hourMs, reason: "quiet hours")) {
                ($1.setting.quiet, $1.setting.isQuietForCritical) = (.init(from: 700, until: 780), true)
            },
            Fate("disabled", .not("the account is disabled")) { $1.isEnabled = false },
        ])
    func fate(row: Fate) {
        var alert = NoticeSample.alert(.critical, openedMs: Self.noonMs, toldMs: Self.noonMs)
        var account = NoticeSample.account("miller")
        let notice = NoticeRules().decide(
            NoticeEvent(alert: alert.id, transition: .opened, toldMs: Self.noonMs), alert, account, relation: .owner,
            past: [], nowMs: Self.noonMs
        ).new[0]
        row.change(&alert, &account)
        #expect(NoticeRules().fate(notice, alert, account, nowMs: Self.noonMs) == row.expected)
    }
}
