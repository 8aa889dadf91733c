internal import Alerts
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// A vehicle of the list.
struct VehicleListRow {
    struct Alert {
        let id, parameter: String
        let severity: Episode.Severity
        let isDueSoon: Bool
        private let isAbsent: Bool
        private let isFlag: Bool
        private let worst: Double?
        private let unit: String

        fileprivate init(_ row: Row, _ severity: Episode.Severity) throws {
            self.severity = severity
            id = try row.text("alert_id")!
            parameter = try row.text("parameter")!
            let state: AlertState = try row.word("state")!
            isDueSoon = state == .dueSoon
            let test: Episode.Test = try row.word("test")!
            isAbsent = test == .absent
            unit = try row.text("unit")!
            worst = try row.double("worst_value")
            isFlag = try test == .below && row.double("threshold") == 1 && unit.allSatisfy(\.isWhitespace)
        }

        /// `Coolant Temperature 98.5 °C`
        func words(_ units: DriverSettings.Units) -> String {
            if isAbsent { return t("No word of \(AlertWords.lowered(parameter))") }
            if isFlag { return AlertWords.special(parameter) ?? t("\(parameter): no") }
            return parameter + (worst.map { " \(ShownValue($0, unit: unit, in: units).text)" } ?? "")
        }
    }

    let kind: VehicleKind
    let vehicle: String
    let name, model: String?
    let tags: [String]
    /// A dealer's own, which nobody else is shown.
    let ownClass: String?
    let ownTags: [String]
    let isDisabled, isSilent: Bool
    let lastMs: Int64?
    let openAlerts: Int
    let alert: Alert?
    /// Nil: something judges it.
    let notMonitored: UnmonitoredReason?
    /// Of the whole list.
    let found, all, attention, silent: Int64

    init(_ row: Row) throws {
        kind = try row.word("kind")!
        vehicle = try row.text("vehicle")!
        name = try row.text("name")
        model = try row.text("model")
        tags = try row.textArray("tags")!.compactMap { $0 }
        ownClass = try row.text("own_class")
        ownTags = try row.textArray("own_tags")!.compactMap { $0 }
        isDisabled = try row.bool("is_disabled")!
        isSilent = try row.bool("is_silent")!
        lastMs = try row.timestampMs("last_reading_at")
        openAlerts = try row.int("open_alerts")!
        let severity: Episode.Severity? = try row.word("worst_severity")
        alert = try severity.flatMap { severity in try row.text("alert_id") == nil ? nil : try Alert(row, severity) }
        notMonitored = try UnmonitoredReason(row)
        (found, all) = (Int64(try row.int("found")!), Int64(try row.int("all_count")!))
        (attention, silent) = (Int64(try row.int("attention_count")!), Int64(try row.int("silent_count")!))
    }
}
