internal import Alerts
internal import Basics
package import Formats

/// The JSON that programs get.
extension NoticeText {
    /// For a webhook: stored values in stored units, times in UTC.
    package func json(id: String) -> JSONValue {
        .object([
            ("schema", .integer(1)), ("id", .text(id)), ("kind", .text("notice")), ("account", .text(account.id)),
            ("manner", .text((isDaily ? NoticeManner.daily : .atOnce).rawValue)), ("made", .text(UTC.text(nowMs))),
            ("subject", .text(subject)), ("acknowledge_url", .optional(link)),
            ("notices", .list(lines.map(json))),
        ])
    }

    private func json(_ line: NoticeLine) -> JSONValue {
        let alert = line.alert
        return .object([
            ("notice", .text(line.notice.id)), ("occasion", .text(line.notice.occasion.rawValue)),
            ("why", .text(line.notice.relation.rawValue)), ("alert", .text(alert.id)),
            ("vehicle", .text(alert.vehicle)),
            ("vehicle_name", .optional(alert.vehicleName.isEmpty ? nil : alert.vehicleName)),
            ("model", .text(alert.model)), ("parameter", .text(alert.parameter)),
            ("severity", .text(alert.severity.rawValue)), ("state", .text(alert.state.rawValue)),
            ("test", .text(alert.test.rawValue)), ("threshold", number(alert.threshold)),
            ("rule", .optional(alert.rule)),
            ("worst_value", number(alert.worstValue)), ("unit", .text(alert.unit)),
            ("opened", .text(UTC.text(alert.openedMs))),
            ("resolved", .optional(alert.resolvedMs.map(UTC.text))),
            ("advice", .optional(alert.advice)),
        ])
    }

    private func number(_ value: Double?) -> JSONValue {
        value.flatMap { Decimal.scaled($0, decimals: 3) }.map { .number(Decimal.text($0, decimals: 3)) } ?? .null
    }

    /// The JSON that a push shows (Sources/People/Web/Assets/push.js). At most 3 KB: an encrypted push has at most 4 (RFC 8030, 7.2).
    package func pushJSON(id: String) -> JSONValue {
        .object([
            ("id", .text(id)), ("title", .text(String(subject.prefix(200)))),
            ("body", .text(String(short.prefix(500)))), ("open", .text("/alerts")),
        ])
    }
}
