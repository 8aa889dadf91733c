package import Alerts
internal import Basics
internal import Codecs
package import Fleet
internal import Formats
internal import Presentation
package import Postgres

/// An alert as it stands in the database.
package struct AlertRow: Sendable {
    package let vehicle, model, parameter, unit: String
    package let severity: Episode.Severity
    package let state: AlertState
    package let test: Episode.Test
    package let kind: VehicleKind
    package let sinceMs, openedMs, worstAtMs: Int64
    package let resolvedMs: Int64?
    package let threshold, openingValue, worstValue, recommended, advice: String?

    package init(_ row: Row) throws {
        kind = try row.word("kind")!
        vehicle = try row.text("vehicle")!
        model = try row.text("model")!
        parameter = try row.text("parameter")!
        unit = try row.text("unit")!
        severity = try row.word("severity")!
        state = try row.word("state")!
        test = try row.word("test")!
        sinceMs = try row.timestampMs("since_at")!
        openedMs = try row.timestampMs("opened_at")!
        worstAtMs = try row.timestampMs("worst_at")!
        resolvedMs = try row.timestampMs("resolved_at")
        threshold = try AlertRow.plain(row, "threshold")
        openingValue = try AlertRow.plain(row, "opening_value")
        worstValue = try AlertRow.plain(row, "worst_value")
        recommended = try AlertRow.plain(row, "recommended")
        advice = try row.text("advice")
    }

    private static func plain(_ row: Row, _ column: String) throws -> String? {
        try row.double(column).flatMap { Decimal.scaled($0, decimals: 3) }.map { Decimal.text($0, decimals: 3) }
    }

    /// `above 85 °C`; a flag that must be 1 is `no`, a reprogramming `failed`.
    package var rule: String {
        let unit = unit.allSatisfy(\.isWhitespace) ? nil : unit
        if isOfFlag { return flagWord(false) }
        return [test.rawValue, threshold, unit].compactMap { $0 }.joined(separator: " ")
    }

    /// It is about something that must be so.
    package var isOfFlag: Bool { test == .below && threshold == "1" && unit.allSatisfy(\.isWhitespace) }

    private func flagWord(_ flag: Bool) -> String {
        guard case .parameter(let parameter)? = ThresholdField(anyName: parameter) else { return flag ? "yes" : "no" }
        return parameter.word(flag)
    }

    /// It is about a service interval, and no service is on record yet.
    package var isWithoutService: Bool { test == .above && MissingService.isSaid(by: advice) }

    /// A value of the alert as an account reads it.
    package func shown(_ value: String?, _ units: DriverSettings.Units) -> String? {
        guard let value, let number = Double(value) else { return nil }
        return isOfFlag ? flagWord(number != 0) : ShownValue(number, unit: unit, in: units).text
    }

    /// `above 85 °C`
    package func shownRule(_ units: DriverSettings.Units) -> String {
        guard !unit.allSatisfy(\.isWhitespace), let limit = shown(threshold, units) else { return rule }
        return "\(test.rawValue) \(limit)"
    }

    static let columns = [
        "vehicle", "model", "parameter", "severity", "state", "test", "threshold", "unit", "since", "opened",
        "resolved",
        "opening_value", "worst_value", "worst_at", "recommended", "advice",
    ]

    static let texts = Set(columns).subtracting(["threshold", "opening_value", "worst_value", "recommended"])

    var cells: [String?] {
        [
            vehicle, model, parameter, severity.rawValue, state.rawValue, test.rawValue, threshold, unit,
            UTC.text(sinceMs), UTC.text(openedMs),
            resolvedMs.map(UTC.text), openingValue, worstValue, UTC.text(worstAtMs), recommended, advice,
        ]
    }

    var json: JSONValue { .object(zip(AlertRow.columns, cells).map { ($0, AlertRow.json($0, $1)) }) }

    static func json(_ column: String, _ cell: String?) -> JSONValue {
        !texts.contains(column) ? .number(cell) : .optional(cell)
    }
}

extension AlertRow {
    /// The columns that fit on a terminal.
    package static func shortTable(_ rows: [AlertRow]) -> Table {
        var table = Table([
            "vehicle", "model", "parameter", "severity", "state", "alert when", "opened", "resolved", "worst",
        ])
        for row in rows {
            table.rows.append([
                row.vehicle, row.model, row.parameter, row.severity.rawValue, row.state.rawValue, row.rule,
                UTC.text(row.openedMs),
                row.resolvedMs.map(UTC.text), row.worstValue,
            ])
        }
        return table
    }
}
