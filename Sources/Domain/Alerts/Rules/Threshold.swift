public import Fleet

/// The audiences of a parameter; each includes those before it.
public enum Audience: String, CaseIterable, Sendable {
    case farmer, dealer, developer

    /// The audiences whose parameters this one sees: its own and those before.
    public var seen: [Audience] { Audience.allCases.filter { Audience.rank($0) <= Audience.rank(self) } }
    private static func rank(_ audience: Audience) -> Int { allCases.firstIndex(of: audience)! }
}

/// The subject of a row in a threshold file: a number that is judged, or a text that is only shown.
public enum ThresholdField: Hashable, Sendable {
    case parameter(MachineParameter)
    case serialNumber, machineID, firmware
}

/// One row of a model's threshold file. All values are thousandths of the unit, times are milliseconds.
public struct Threshold: Equatable, Sendable {
    /// Both tests are strict: an equal value raises nothing. `shown` is written `none`.
    public enum Test: String, CaseIterable, Sendable { case above, below, shown = "none" }
    public enum ValueType: String, CaseIterable, Sendable { case int, bool, string }

    public var field: ThresholdField
    public var test: Test
    /// As written in the file, for people; empty where there is none. Values are never converted.
    public var unit: String
    public var type: ValueType
    public var audience: Audience
    /// The limit; nil when nothing is compared with it (test `none`).
    public var threshold: Int64?
    /// Beyond this the same alert is critical.
    public var critical: Int64?
    /// The condition must have held longer than this; 0 raises at once.
    public var holdMs: Int64 = 0
    /// The value at which an alert resolves; nil: as soon as the condition does not hold.
    public var clear: Int64?
    /// Longer than this without information raises, too.
    public var absentMs: Int64?
    /// Service interval: what has run since the last service is compared with it.
    public var every: Int64?
    /// The time before a service from which it counts as soon due; nil: a tenth of the interval.
    public var soon: Int64?
    public var recommended: Int64?
    public var capacity: Int64?
    /// The advice when the alert opens.
    public var advice: String?

    public init(
        field: ThresholdField, test: Test, unit: String, type: ValueType, audience: Audience, threshold: Int64?
    ) {
        self.field = field
        self.test = test
        self.unit = unit
        self.type = type
        self.audience = audience
        self.threshold = threshold
    }

    /// The parameter that this row judges; nil when the row is only shown.
    public var judged: MachineParameter? {
        guard case .parameter(let parameter) = field, test != .shown || absentMs != nil else { return nil }
        return parameter
    }

    /// An element that contradicts the limit, and why.
    public typealias Contradiction = (element: String, why: String)

    /// Values on the wrong side of the limit: one rule for files, pages and backtests.
    public var contradictions: [Contradiction] {
        guard let threshold else { return [] }
        func isBeyond(_ value: Int64, _ other: Int64) -> Bool { test == .above ? value > other : value < other }
        var found: [Contradiction] = []
        if let critical, isBeyond(threshold, critical) {
            found.append(("critical", "critical must lie beyond the threshold"))
        }
        if let clear, isBeyond(clear, threshold) {
            found.append(("clear", "clear must lie on the good side of the threshold"))
        }
        return found
    }

    /// The field's name as shown to people, whichever of its names the file used.
    public var name: String { field.names[0] }
}

extension ThresholdField {
    /// Every name that a threshold file may use: the one shown to people first, then those of old files.
    public static let table: [(field: ThresholdField, names: [String])] = [
        (.serialNumber, ["Terminal Serial Number", "MTG Serial Number"]),
        (.parameter(.engineHours), ["Engine Hours", "Machine Hours"]),
        (.machineID, ["Machine ID"]),
        (.parameter(.engineTurnOnCount), ["Engine Turn On Count"]),
        (.parameter(.keyTurnOnCount), ["Key Turn On Count"]),
        (.parameter(.gpsAvailable), ["GPS Available", "GPS Working"]),
        (.parameter(.rdaLicense), ["RDA License Available"]),
        (.parameter(.wdtLicense), ["WDT License Available"]),
        (.parameter(.machineSync), ["Machine Sync Available"]),
        (.parameter(.fuelLevel), ["Fuel Level"]),
        (.parameter(.tirePressure), ["Tire Pressure"]),
        (.parameter(.coolantTemperature), ["Coolant Temperature"]),
        (.parameter(.hydraulicOilTemperature), ["Hydraulic Oil Temperature"]),
        (.parameter(.lastCellCallIn), ["Last Cell Call In"]),
        (.parameter(.lastReprogrammingStatus), ["Last Reprogramming Status"]),
        (.firmware, ["MTG Firmware Version"]),
        (.parameter(.connectedDevices), ["Connected Devices"]),
        (.parameter(.contact), ["Contact"]),
    ]

    /// Nil for a name that no reading has. Names match exactly, capitals included.
    public init?(name: String) {
        guard let row = ThresholdField.table.first(where: { $0.names.contains(name) }) else { return nil }
        self = row.field
    }

    var names: [String] {
        if let row = ThresholdField.table.first(where: { $0.field == self }) { return row.names }
        guard case .parameter(let parameter) = self else { return [""] }
        return [parameter.row.name]
    }

    /// Every name that this parameter was given in alerts.
    public static func names(of parameter: MachineParameter) -> [String] { ThresholdField.parameter(parameter).names }

    static let acceptedNames = table.flatMap(\.names)

    /// The type that a row must have to be judged; nil for fields that are only shown.
    var judgedType: Threshold.ValueType? {
        guard case .parameter(let parameter) = self else { return nil }
        switch parameter.row.kind {
        case .number, .count, .time: return .int
        case .flag: return .bool
        }
    }
}
