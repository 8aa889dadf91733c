/// Somebody near enough to an alert to be told of it.
package struct NoticePerson: Sendable {
    package let alert, account: String
    package let relation: NoticeRelation

    package init(alert: String, account: String, relation: NoticeRelation) {
        self.alert = alert
        self.account = account
        self.relation = relation
    }
}

/// The facts on several alerts when events of them are decided.
package struct NoticeFacts: Sendable {
    private struct Key: Hashable { let alert, account: String }

    let alerts: [String: NoticeAlert]
    let accounts: [String: NoticeAccount]
    private let people: [String: [NoticePerson]]
    private var past: [Key: [Notice]]

    package init(
        alerts: [String: NoticeAlert], accounts: [String: NoticeAccount], people: [NoticePerson], past: [Notice]
    ) {
        self.alerts = alerts
        self.accounts = accounts
        self.people = Dictionary(grouping: people, by: \.alert)
        self.past = Dictionary(grouping: past) { Key(alert: $0.alert, account: $0.account) }
    }

    func near(_ alert: String) -> [NoticePerson] { people[alert] ?? [] }

    func past(of alert: NoticeAlert, _ account: NoticeAccount) -> [Notice] {
        past[Key(alert: alert.id, account: account.id)] ?? []
    }

    mutating func add(_ new: [Notice], changed: [String: Notice], of alert: NoticeAlert, _ account: NoticeAccount) {
        past[Key(alert: alert.id, account: account.id), default: []] =
            past(of: alert, account).map { changed[$0.id] ?? $0 } + new
    }
}

extension NoticeRules {
    /// Decides on events for all who are near enough, one after the other.
    package func decide(_ events: [NoticeEvent], _ facts: NoticeFacts, nowMs: Int64) -> Decided {
        var facts = facts
        var (new, changed): ([Notice], [String: Notice]) = ([], [:])
        for event in events {
            guard let alert = facts.alerts[event.alert] else { continue }
            for person in facts.near(event.alert) {
                guard let account = facts.accounts[person.account] else { continue }
                let decided = decide(
                    event, alert, account, relation: person.relation, past: facts.past(of: alert, account),
                    nowMs: nowMs)
                let ended = Dictionary(uniqueKeysWithValues: decided.changed.map { ($0.id, $0) })
                facts.add(decided.new, changed: ended, of: alert, account)
                new += decided.new
                changed.merge(ended) { $1 }
            }
        }
        // One that is new and changed at once is written as it ended.
        let all = new.map { changed.removeValue(forKey: $0.id) ?? $0 }
        return (all, Array(changed.values))
    }
}
