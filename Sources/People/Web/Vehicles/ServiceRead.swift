internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Reports

/// A machine's service: when it was done, and when it is next.
struct ServiceRead {
    static let machinesMax: Int64 = 1_000

    enum State: String, CaseIterable { case due, soon, fine, unplanned }

    struct Done {
        let ms: Int64
        let hours: Double
        let by: String
        let note: String?
    }

    let vehicle: String
    let name, model: String?
    /// The hour meter; nil: it has told none.
    let engineHours: Double?
    /// Nil: none is recorded.
    let last: Done?
    /// Hours between two services; nil: no rule says how many.
    let every: Double?
    let state: State
    /// The alert of the service, where one is open.
    let alert: String?

    var shownName: String { name ?? vehicle }

    /// Hours that have run since the last service.
    var run: Double? {
        guard let engineHours, let last else { return nil }
        return engineHours - last.hours
    }

    /// Hours until the next service; negative: it is over.
    var left: Double? {
        guard let every, let run else { return nil }
        return every - run
    }

    /// The most urgent first.
    static func read(
        search: String, tag: String, role: Audience, _ queries: ReportQueries, on connection: Connection
    ) throws -> [ServiceRead] {
        let rows = try connection.query(
            queries["services_due"],
            [.text(search), .text(tag), .textArray(role.seen.map(\.rawValue)), .int8(machinesMax)]
        ).map { $0 }
        let rules = try rules(
            Set(rows.compactMap { try $0.int("topic_partition").map { Int32($0) } }), queries, on: connection)
        let reads = try rows.map { try ServiceRead($0, rules) }
        // The order of names stays among those that are equally urgent.
        return State.allCases.flatMap { state in
            let found = reads.filter { $0.state == state }
            return state == .unplanned ? found : found.sorted { ($0.left ?? -.infinity) < ($1.left ?? -.infinity) }
        }
    }

    /// The rules by partition. Most partitions have the same: each is read once.
    private static func rules(
        _ partitions: Set<Int32>, _ queries: ReportQueries, on connection: Connection
    ) throws -> [Int: RuleSet] {
        var (byText, found) = ([String: RuleSet](), [Int: RuleSet]())
        for row in try connection.query(queries["rules_in_force"], [.int4Array(partitions.sorted())]) {
            let text = try row.text("rules")!
            let rules = try byText[text] ?? RuleSet(text: text)
            byText[text] = rules
            found[try row.int("topic_partition")!] = rules
        }
        return found
    }

    private init(_ row: Row, _ rules: [Int: RuleSet]) throws {
        vehicle = try row.text("vehicle")!
        name = try row.text("name")
        model = try row.text("model")
        engineHours = try row.double("engine_hours_h")
        last = try row.timestampMs("done_at").map { ms in
            Done(
                ms: ms, hours: try row.double("done_hours_h")!, by: try row.text("recorded_by")!,
                note: try row.text("note"))
        }
        let rule = try row.int("topic_partition").flatMap { rules[$0] }.flatMap { [model] rules -> Threshold? in
            guard let id = VehicleID(try row.text("vehicle")!) else { return nil }
            return rules.thresholds(of: model ?? "", id).first { $0.every != nil }
        }
        let every = try rule.flatMap { $0.every }.map { Double($0) / 1_000 } ?? row.double("threshold")
        self.every = every
        alert = try row.text("alert_id")
        let open: AlertState? = try row.word("state")
        let soon = rule?.soon.map { Double($0) / 1_000 } ?? (every ?? 0) / 10
        let (now, done) = (engineHours, last)
        let left: Double? = done.flatMap { last in
            now.flatMap { hours in every.map { $0 - (hours - last.hours) } }
        }
        // The hours decide where they are known: a service that was recorded a moment ago is done before its alert is resolved, and not
        // everybody sees the alert.
        state =
            if let left {
                left < 0 ? .due : left < soon || open == .dueSoon && left <= soon ? .soon : .fine
            } else {
                switch open {
                case .dueSoon?: .soon
                case .open?: .due
                case .resolved?, .withdrawn?, nil: every == nil ? .unplanned : last == nil ? .due : .fine
                }
            }
    }

    /// A recorded service.
    struct Recorded {
        let vehicle: String
        let name: String?
        let done: Done

        /// The last first.
        static func read(
            search: String, tag: String, limit: Int64, _ queries: ReportQueries, on connection: Connection
        ) throws -> [Recorded] {
            try connection.query(
                queries["services_done"],
                [.text(search), .text(tag), .int8(machinesMax), .int8(20), .int8(limit)]
            ).map { row in
                Recorded(
                    vehicle: try row.text("vehicle")!, name: try row.text("name"),
                    done: Done(
                        ms: try row.timestampMs("done_at")!, hours: try row.double("engine_hours_h")!,
                        by: try row.text("recorded_by")!, note: try row.text("note")))
            }
        }
    }
}
