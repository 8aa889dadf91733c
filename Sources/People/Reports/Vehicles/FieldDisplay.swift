internal import Fleet
internal import Alerts
internal import Basics
internal import Codecs
internal import Formats
package import Postgres

/// A machine as it is shown over a camera's picture or on a phone in the field: its name, the worst that is open, and each value
/// with its unit and state.
package struct FieldDisplay: Sendable {
    /// More do not fit beside a machine.
    private static let alertsMax: Int64 = 5

    /// How something stands by its rules; the raw value is in the document and a class of the page.
    package enum Standing: String, Sendable {
        case critical, warning
        case dueSoon = "due_soon"
        case ok
        /// Nothing judges it.
        case unjudged = "none"

        package init(_ open: OpenAlert) {
            switch (open.alert.state, open.alert.severity) {
            case (.dueSoon, _): self = .dueSoon
            case (_, .critical): self = .critical
            case (_, .warning): self = .warning
            }
        }
    }

    package struct Value: Sendable {
        package let name: String
        /// In the reader's units: `86.5 °C`.
        package let text: String
        package let state: Standing
        fileprivate let stored: FieldValue
        fileprivate let unit: String?
    }

    package let vehicle: String
    package let name, model: String?
    /// What its box calls it; nil also where that is not for the reader.
    package let machineID: String?
    package let isDisabled: Bool
    package let lastMs: Int64?
    /// Nil: something judges it.
    package let notMonitored: UnmonitoredReason?
    package let alerts: [OpenAlert]
    package let values: [Value]

    /// Of its latest reading.
    package var engineHours: Double? {
        guard let value = values.first(where: { $0.name == MachineParameter.engineHours.row.name }),
            case .number(let hours) = value.stored
        else { return nil }
        return hours
    }

    /// The state of the worst alert that is open.
    package var state: Standing { alerts.first.map(Standing.init) ?? (notMonitored == nil ? .ok : .unjudged) }

    init(
        vehicle: String, name: String?, model: String?, machineID: String?, isDisabled: Bool, lastMs: Int64?,
        notMonitored: UnmonitoredReason?, open: [OpenAlert],
        latest: [MachineDetail.Value], judged: Set<String>, show: (MachineDetail.Value) -> String
    ) {
        self.vehicle = vehicle
        self.name = name
        self.model = model
        self.machineID = machineID
        self.isDisabled = isDisabled
        self.lastMs = lastMs
        self.notMonitored = notMonitored
        alerts = Array(open.prefix(Int(FieldDisplay.alertsMax)))
        values = latest.map { value in
            let alert = open.first { $0.alert.parameter == value.name }
            return Value(
                name: value.name, text: show(value),
                state: alert.map(Standing.init) ?? (judged.contains(value.name) ? .ok : .unjudged), stored: value.value,
                unit: value.unit)
        }
    }

    package var json: String {
        let known: [JSONValue.Field] = [
            ("vehicle", .text(vehicle)), ("name", .optional(name)), ("model", .optional(model)),
            ("machine_id", .optional(machineID)), ("is_disabled", .bool(isDisabled)),
            ("last_updated", .optional(lastMs.map(UTC.text))),
            ("state", .text(state.rawValue)),
            ("alerts", .list(alerts.map(\.json))),
            (
                "parameters",
                .list(
                    values.map { value in
                        .object([
                            ("name", .text(value.name)), ("value", QueryOutput.json(value.stored)),
                            ("unit", .optional(value.unit)), ("shown", .text(value.text)),
                            ("state", .text(value.state.rawValue)),
                        ])
                    })
            ),
        ]
        return JSONValue.object(known + UnmonitoredReason.fields(notMonitored)).rendered()
    }
}

extension MachineDetail {
    /// - Parameter show: a value as the reader's account has it.
    package func field(
        _ queries: ReportQueries, on connection: Connection, show: (Value) -> String
    ) throws -> FieldDisplay {
        FieldDisplay(
            vehicle: vehicle, name: name, model: model, machineID: machineID, isDisabled: isDisabled, lastMs: lastMs,
            notMonitored: notMonitored,
            open: try OpenAlert.read(
                ofKind: .machine, vehicle, role: role, limit: 100, queries, on: connection),
            latest: try latest(queries, on: connection),
            judged: Set(thresholds.filter { $0.judged != nil }.map(\.name)),
            show: show)
    }
}
