package import Alerts
internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Postgres
internal import Presentation
internal import Storage

/// One alert in full: what happened, the rule and its origin, the readings behind it, and what would end it.
package struct AlertDetail: Sendable {
    package struct Reading: Sendable {
        package let what: String
        package let readMs: Int64
        package let value: String?
        package let id: String
        package let offset: Int?
    }

    package let alert: AlertRow
    package let vehicleName: String?
    package let id, vehicle, model, parameter, unit, rulesVersion: String
    package let state: AlertState
    package let severity: Episode.Severity
    package let rule: String
    /// `of this machine` or `of model 8R Tractor`, as drover.rule_whose says it. Nil when the rule set is not on record any more, or is
    /// not the one that judged (a partition's own).
    package let ruleSource: String?
    package let isOwnRule: Bool
    private let judgedBy: Threshold?
    package let recommended, advice: String?
    /// The limits it was judged by, in the stored unit.
    package let limits: [LineChart.Limit]
    package let partition: Int
    package let readings: [Reading]
    package let revision: Int
    /// Alerts of the same parameter in the 30 days before.
    package let repeats: Int
    package let acknowledged, silencedUntil: String?
    package let acknowledgement: (by: String, ms: Int64, note: String?)?
    package let silencedUntilMs: Int64?
    package let isMutedToItsEnd, isService: Bool
    /// Who is to take care of it; nil: nobody was asked.
    package let assignedTo: String?
    /// When it was told that it opened, and that it is over; and whether that was late (Lateness).
    package let told, resolvedTold: (text: String, isLate: Bool)?

    /// Nil when there is no such alert, or not for these audiences.
    package static func read(
        _ id: String, audiences: [Audience], _ queries: ReportQueries, on connection: Connection
    ) throws -> AlertDetail? {
        let rows = try connection.query(
            queries["alert_story"], [.text(id), .textArray(audiences.map(\.rawValue))])
        return try rows.first.map { try AlertDetail($0, queries, connection) }
    }

    private init(_ row: Row, _ queries: ReportQueries, _ connection: Connection) throws {
        let alert = try AlertRow(row)
        self.alert = alert
        vehicleName = try row.text("vehicle_name")
        id = try row.text("alert_id")!
        rulesVersion = try row.text("rules_version")!
        vehicle = alert.vehicle
        model = alert.model
        parameter = alert.parameter
        unit = alert.unit
        state = alert.state
        severity = alert.severity
        rule = alert.rule
        recommended = alert.recommended
        advice = alert.advice
        partition = try row.int("topic_partition")!
        revision = try row.int("revision")!
        repeats = try row.int("repeats")!
        acknowledged = try row.text("acknowledged_by").map { by in
            let note = try row.text("acknowledgement_note").map { ": \($0)" } ?? ""
            return "\(UTC.text(try row.timestampMs("acknowledged_at")!)) by \(by)\(note)"
        }
        acknowledgement = try row.text("acknowledged_by").map { by in
            (by, try row.timestampMs("acknowledged_at")!, try row.text("acknowledgement_note"))
        }
        silencedUntilMs = try row.timestampMs("silenced_until_at")
        silencedUntil = silencedUntilMs.map(UTC.text)
        isMutedToItsEnd = try row.bool("is_muted_to_its_end")!
        isService = try row.bool("is_service")!
        assignedTo = try row.text("assigned_to")
        told = try AlertDetail.told(row, "told_at", of: "first_opened_at")
        resolvedTold = try AlertDetail.told(row, "resolved_told_at", of: "resolved_at")

        let threshold = try AlertDetail.threshold(row, alert)
        ruleSource = threshold.map { $0.isOwn ? "of this machine" : "of model \(alert.model)" }
        isOwnRule = threshold?.isOwn ?? false
        limits = AlertDetail.limits(alert, threshold?.threshold)
        judgedBy = threshold?.threshold
        readings = try AlertDetail.readings(alert, queries, connection)
    }

    private static func told(
        _ row: Row, _ column: String, of whatColumn: String
    ) throws -> (text: String, isLate: Bool)? {
        guard let toldMs = try row.timestampMs(column), let ms = try row.timestampMs(whatColumn) else { return nil }
        return (UTC.text(toldMs), Lateness.isLate(ms, pushedMs: toldMs))
    }

    private static func threshold(_ row: Row, _ alert: AlertRow) throws -> (threshold: Threshold, isOwn: Bool)? {
        guard let text = try row.text("rules"), let rules = try? RuleSet(text: text),
            let vehicle = VehicleID(alert.vehicle)
        else { return nil }
        let isThis = { (threshold: Threshold) in threshold.name == alert.parameter }
        if let own = rules.machines[vehicle]?.first(where: isThis) { return (own, true) }
        return rules.models[alert.model]?.first(where: isThis).map { ($0, false) }
    }

    /// The alert keeps its limit and recommended value; the critical one stands in its rule set.
    private static func limits(_ alert: AlertRow, _ rule: Threshold?) -> [LineChart.Limit] {
        // Of silence and services there is no value to draw.
        guard alert.test != .absent, rule?.every == nil else { return [] }
        let critical = rule.flatMap { $0.critical }.map { Double($0) / 1_000 }
        let found: [(Double?, LineChart.Limit.Kind)] = [
            (alert.threshold.flatMap { Double($0) }, .warning), (critical, .critical),
            (alert.recommended.flatMap { Double($0) }, .recommended),
        ]
        return found.compactMap { value, kind in value.map { LineChart.Limit($0, kind) } }
    }

    /// What would end it, in the words of a page.
    package func ending(in units: DriverSettings.Units) -> String {
        guard alert.resolvedMs == nil else { return t("it is over") }
        guard let threshold = judgedBy else { return t("a reading for which the rule does not hold") }
        if threshold.every != nil { return t("recording a service") }
        guard let limit = threshold.clear ?? threshold.threshold else {
            return t("a reading that has \(alert.parameter)")
        }
        let plain = Decimal.text(limit, decimals: 3)
        let text = alert.shown(plain, units) ?? plain
        if threshold.type == .bool { return t("a reading with \(alert.parameter) \(text)") }
        return threshold.test == .above
            ? t("a reading with \(alert.parameter) of \(text) or less")
            : t("a reading with \(alert.parameter) of \(text) or more")
    }

    /// As programs read it: in the unit of the rule.
    private var ending: String {
        let unit = alert.unit.allSatisfy(\.isWhitespace) ? "" : " \(alert.unit)"
        guard alert.resolvedMs == nil else { return "it is over" }
        guard let threshold = judgedBy else { return "a reading for which the rule does not hold" }
        if threshold.every != nil { return "recording a service" }
        guard let limit = threshold.clear ?? threshold.threshold else { return "a reading that has \(alert.parameter)" }
        let text = Decimal.text(limit, decimals: 3) + unit
        if threshold.type == .bool { return "a reading with \(alert.parameter) \(text)" }
        return "a reading with \(alert.parameter) of \(text) or \(threshold.test == .above ? "less" : "more")"
    }

    private static func readings(
        _ alert: AlertRow, _ queries: ReportQueries, _ connection: Connection
    ) throws -> [Reading] {
        guard let column = MachineStore.column(ofName: alert.parameter) else { return [] }
        return try connection.query(
            queries["alert_readings"],
            [
                .text(alert.vehicle), .text(column), .timestampMs(alert.sinceMs), .timestampMs(alert.openedMs),
                .timestampMs(alert.worstAtMs), .timestampMs(alert.resolvedMs ?? alert.worstAtMs),
            ]
        ).map { row in
            Reading(
                what: try row.text("what")!, readMs: try row.timestampMs("read_at")!, value: try row.text("value"),
                id: try row.text("reading_id")!, offset: try row.int("record_offset"))
        }
    }

    /// The parameter that a silence of it names; nil: it is none of a machine's.
    package var machineParameter: MachineParameter? {
        guard case .parameter(let parameter)? = ThresholdField(anyName: parameter) else { return nil }
        return parameter
    }

    package var text: String {
        let revised = revision > 0 ? ", corrected \(revision) times" : ""
        let lines: [(String, String?)] = [
            ("alert", id), ("vehicle", "\(vehicle), \(model)"),
            ("what", "\(parameter), \(severity.rawValue), \(state.rawValue)\(revised)"),
            ("opened late", told.flatMap { $0.isLate ? "told \($0.text)" : nil }),
            ("resolved late", resolvedTold.flatMap { $0.isLate ? "told \($0.text)" : nil }),
            ("rule", "\(rule), \(ruleSource ?? "its rule set is not on record"), version \(rulesVersion)"),
            ("before it", repeats == 0 ? nil : "\(repeats) of this parameter in 30 days"), ("ends with", ending),
            ("recommended", recommended.map { "\($0) \(unit)" }), ("advice", advice),
            ("acknowledged", acknowledged), ("with", assignedTo), ("silenced until", silencedUntil),
        ]
        var table = Table(["reading", "time", "\(parameter), \(unit)", "id", "topic", "partition", "offset"])
        for reading in readings {
            table.rows.append([
                reading.what, UTC.text(reading.readMs), reading.value, reading.id, Topic.machines, String(partition),
                reading.offset.map(String.init),
            ])
        }
        return lines.compactMap { name, value in value.map { "\(name): \($0)" } }.joined(separator: "\n") + "\n\n"
            + table.text()
    }

    package var json: String {
        let fields: [JSONValue.Field] = [
            ("alert", .text(id)), ("vehicle", .text(vehicle)), ("model", .text(model)), ("parameter", .text(parameter)),
            ("unit", .text(unit)), ("severity", .text(severity.rawValue)), ("state", .text(state.rawValue)),
            ("revision", .integer(Int64(revision))), ("repeats_30_days", .integer(Int64(repeats))),
            ("told_at", .optional(told?.text)),
            ("is_opened_late", told.map { .bool($0.isLate) } ?? .null),
            ("resolved_told_at", .optional(resolvedTold?.text)),
            ("is_resolved_late", resolvedTold.map { .bool($0.isLate) } ?? .null), ("rule", .text(rule)),
            ("rule_source", .optional(ruleSource)),
            ("rules_version", .text(rulesVersion)), ("ends_with", .text(ending)), ("recommended", .number(recommended)),
            ("advice", .optional(advice)), ("acknowledged", .optional(acknowledged)),
            ("assigned_to", .optional(assignedTo)), ("silenced_until", .optional(silencedUntil)),
            (
                "readings",
                .list(
                    readings.map { reading in
                        .object([
                            ("what", .text(reading.what)), ("read_at", .text(UTC.text(reading.readMs))),
                            ("value", .optional(reading.value)), ("id", .text(reading.id)),
                            ("topic", .text(Topic.machines)), ("partition", .integer(Int64(partition))),
                            ("offset", reading.offset.map { .integer(Int64($0)) } ?? .null),
                        ])
                    })
            ),
        ]
        return JSONValue.object(fields).rendered(indent: true)
    }
}
