package import Alerts
package import Fleet

/// An alert as it stands now, for who is to be told of it.
package struct NoticeAlert: Sendable {
    package var id: String
    package var kind: VehicleKind
    package var vehicle, model, parameter, unit: String
    /// Empty: it has no name of its own.
    package var vehicleName = ""
    package var severity: Episode.Severity
    package var state: AlertState
    package var test: Episode.Test
    package var threshold, openingValue, worstValue, recommended: Double?
    package var advice: String?
    package var openedMs: Int64
    package var resolvedMs: Int64?
    /// When the records that told of its opening and its end were pushed; nil: not known.
    package var toldMs, resolvedToldMs: Int64?
    package var revision = 0
    package var acknowledgedBy, silencedBy: String?
    package var silencedUntilMs: Int64?
    /// `of this machine` or `of model 8R Tractor`; nil: of a car, or not known any more.
    package var rule: String?

    package var isOpen: Bool { state.isOpen }
    package var isCritical: Bool { severity == .critical }
    /// It is about something that must be so.
    package var isOfFlag: Bool { test == .below && threshold == 1 && unit.allSatisfy(\.isWhitespace) }

    package init(
        id: String, kind: VehicleKind, vehicle: String, model: String, parameter: String, unit: String,
        severity: Episode.Severity, state: AlertState, test: Episode.Test, openedMs: Int64
    ) {
        self.id = id
        self.kind = kind
        self.vehicle = vehicle
        self.model = model
        self.parameter = parameter
        self.unit = unit
        self.severity = severity
        self.state = state
        self.test = test
        self.openedMs = openedMs
    }
}
