package import Alerts
internal import Fleet
package import Postgres

/// An alert with what people have done about it, as lists show it.
package struct TriagedAlert: Sendable {
    package let alert: AlertRow
    package let id: String
    package let vehicleName: String?
    package let acknowledgedBy, assignedTo: String?
    package let acknowledgedMs, mutedUntilMs: Int64?
    package let isMutedToItsEnd, isService: Bool
    /// Whether the reader may act on alerts of this vehicle at all.
    package let mayAct: Bool
    /// What was said of it last.
    package let note: String?

    /// What is asked for; empty words ask for nothing.
    package struct Filter: Equatable, Sendable {
        package enum Whom: String, CaseIterable, Sendable { case anybody, me, nobody }

        package var severity: Episode.Severity?
        package var tag = "", search = ""
        package var whom = Whom.anybody
        package init() {}
    }

    package enum List: String, CaseIterable, Sendable { case open, acknowledged, services }

    /// The worst first.
    package static func read(
        _ list: List, _ filter: Filter, role: Audience, account: String, limit: Int64, _ queries: ReportQueries,
        on connection: Connection
    ) throws -> [TriagedAlert] {
        try connection.query(
            queries["alert_list"],
            [.text(list.rawValue), audiences(role)] + filter.parameters(account) + [.int8(limit)]
        ).map(TriagedAlert.init)
    }

    /// Where a page of alerts that are over begins: before the alert that ended then.
    package struct Place: Equatable, Sendable {
        package let ms: Int64
        package let id: String
        package init(ms: Int64, id: String) { (self.ms, self.id) = (ms, id) }
    }

    /// So many of those that are over are looked at for a page.
    private static let lookedAtMax: Int64 = 2_000

    /// Those that are over, the latest first, and where the page after this one begins; nil: this is the last one.
    package static func resolved(
        _ filter: Filter, before place: Place, role: Audience, account: String, limit: Int, _ queries: ReportQueries,
        on connection: Connection
    ) throws -> (alerts: [TriagedAlert], next: Place?) {
        let rows = try connection.query(
            queries["alert_resolved"],
            [audiences(role)] + filter.parameters(account) + [
                .timestampMs(place.ms), .text(place.id), .int8(Int64(limit) + 1), .int8(lookedAtMax),
            ])
        // A row without an alert says how many were looked at.
        let found = try rows.filter { try $0.text("alert_id") != nil }.map(TriagedAlert.init)
        if found.count > limit, let last = found.prefix(limit).last, let ms = last.alert.resolvedMs {
            return (Array(found.prefix(limit)), Place(ms: ms, id: last.id))
        }
        guard let row = rows.first, let looked = try row.int("looked_at"), looked == lookedAtMax,
            let ms = try row.timestampMs("oldest_at"), let id = try row.text("oldest_id")
        else { return (found, nil) }
        return (found, Place(ms: ms, id: id))
    }

    private static func audiences(_ role: Audience) -> Parameter { .textArray(role.seen.map(\.rawValue)) }

    private init(_ row: Row) throws {
        alert = try AlertRow(row)
        id = try row.text("alert_id")!
        vehicleName = try row.text("vehicle_name")
        acknowledgedBy = try row.text("acknowledged_by")
        acknowledgedMs = try row.timestampMs("acknowledged_at")
        assignedTo = try row.text("assigned_to")
        mutedUntilMs = try row.timestampMs("silenced_until_at")
        isMutedToItsEnd = try row.bool("is_muted_to_its_end")!
        isService = try row.bool("is_service")!
        mayAct = try row.bool("may_act")!
        note = try row.text("acknowledgement_note")
    }
}

extension TriagedAlert.Filter {
    fileprivate func parameters(_ account: String) -> [Parameter] {
        [
            .text(severity?.rawValue ?? ""), .text(tag), .text(search), .text(whom == .anybody ? "" : whom.rawValue),
            .text(account),
        ]
    }
}

/// How many alerts there are in each part of the page of alerts.
package struct AlertCounts: Sendable {
    /// Of those that are over, so many are counted.
    package static let resolvedMax = 1_000

    package let open, critical, acknowledged, services, resolved: Int

    package init(role: Audience, _ queries: ReportQueries, on connection: Connection) throws {
        let row = try connection.query(
            queries["alert_counts"], [.textArray(role.seen.map(\.rawValue))])[0]
        open = try row.int("open")!
        critical = try row.int("critical")!
        acknowledged = try row.int("acknowledged")!
        services = try row.int("services")!
        resolved = try row.int("resolved")!
    }
}
