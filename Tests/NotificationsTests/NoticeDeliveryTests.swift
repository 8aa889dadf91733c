import Alerts
import Notifications
import Testing

struct NoticeDeliveryTests {
    private let rules = NoticeRules()
    private let noonMs: Int64 = 1_795_348_800_000

    private func alert(_ severity: Episode.Severity = .critical) -> NoticeAlert {
        NoticeSample.alert(severity, openedMs: noonMs - 1_000, toldMs: noonMs)
    }

    private func opening(_ alert: NoticeAlert, to account: NoticeAccount) -> Notice {
        let event = NoticeEvent(alert: alert.id, transition: .opened, toldMs: noonMs)
        return rules.decide(event, alert, account, relation: .owner, past: [], nowMs: noonMs).new[0]
    }

    private func delivery(
        _ alert: NoticeAlert, to account: NoticeAccount, isSeen: Bool = true, lastMessages: [Int64] = []
    ) -> NoticeDelivery {
        rules.deliver(
            [opening(alert, to: account)], to: account, alerts: [alert.id: alert], seen: isSeen ? [alert.id] : [],
            lastMessages: lastMessages, nowMs: noonMs)
    }

    @Test("One bundle a channel that the account has, and what is for the day's message apart")
    func bundles() {
        var account = NoticeSample.account("miller")
        (account.pushes, account.setting.webhookURL) = (1, "https://example.org")
        let atOnce = delivery(alert(), to: account)
        #expect(atOnce.bundles.map(\.channel) == [.mail, .push, .webhook])
        #expect(atOnce.bundles.allSatisfy { !$0.isDaily && $0.lines.count == 1 })
        #expect(atOnce.changed.map(\.state) == [.told])
        let daily = delivery(alert(.warning), to: account)
        #expect(daily.bundles.map(\.channel) == [.mail, .webhook] && daily.bundles.allSatisfy(\.isDaily))
    }

    @Test("Who does not see the vehicle any more is not told")
    func unseen() {
        let unseen = delivery(alert(), to: NoticeSample.account("miller"), isSeen: false)
        #expect(unseen.bundles.isEmpty && unseen.follows.isEmpty && unseen.changed.map(\.state) == [.notTold])
    }

    @Test("The sixth message of five minutes waits until the first is that old")
    func storm() {
        let last = (0..<5).map { noonMs - Int64($0) * 10_000 }
        let sixth = delivery(alert(), to: NoticeSample.account("miller"), lastMessages: last)
        #expect(sixth.bundles.isEmpty && sixth.changed.map(\.dueMs) == [noonMs - 40_000 + NoticeRules.burstMs])
        #expect(!delivery(alert(.warning), to: NoticeSample.account("miller"), lastMessages: last).bundles.isEmpty)
    }

    @Test("A repeat after four hours, and colleagues who step in for a critical one; an acknowledged one has neither")
    func follows() {
        var account = NoticeSample.account("miller")
        account.steps = [(15, "jo"), (60, "kim")]
        let follows = delivery(alert(), to: account).follows
        #expect(follows.map(\.occasion) == [.repeated, .escalated, .escalated])
        #expect(follows.map(\.account) == ["miller", "jo", "kim"])
        #expect(follows.map { ($0.dueMs - noonMs) / 60_000 } == [240, 15, 60])
        #expect(follows[1].relation == .stepsIn(for: "miller") && follows[1].relation.rawValue == "steps in for miller")
        #expect(NoticeRelation(rawValue: "steps in for miller") == .stepsIn(for: "miller"))
        var acknowledged = alert()
        acknowledged.acknowledgedBy = "bob"
        #expect(delivery(acknowledged, to: account).follows.isEmpty)
    }

    @Test("Events of one alert one after the other: what is new and ends at once is written as it ended")
    func batch() {
        let (alert, account) = (alert(), NoticeSample.account("miller"))
        let facts = NoticeFacts(
            alerts: [alert.id: alert], accounts: ["miller": account],
            people: [.init(alert: alert.id, account: "miller", relation: .owner)], past: [])
        let events = [AlertTransition.Kind.opened, .opened, .resolved].map {
            NoticeEvent(alert: alert.id, transition: $0, toldMs: noonMs)
        }
        let decided = rules.decide(events, facts, nowMs: noonMs)
        #expect(decided.new.map(\.occasion) == [.opened] && decided.changed.isEmpty)
        let unknown = [NoticeEvent(alert: "another", transition: .opened, toldMs: noonMs)]
        #expect(rules.decide(unknown, facts, nowMs: noonMs).new.isEmpty)
    }
}
