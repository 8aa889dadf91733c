public import Fleet

/// One alert: from the reading that opened it to the one that resolved it. Values are thousandths.
public struct Episode: Equatable, Sendable {
    public enum Severity: String, Sendable { case warning, critical }
    /// `dueSoon`: a service that is not due yet; the alert is there, and becomes `open` when it is due.
    public enum State: String, Sendable { case dueSoon = "due_soon", open, resolved }
    public enum Test: String, Sendable { case above, below, absent }

    /// Made from vehicle, parameter and opening time, so that a replay finds the same alert.
    public let id: String
    public let vehicle: VehicleID
    public let model: String
    public let parameter: MachineParameter
    /// The parameter's name as shown to people.
    public let name: String
    public let unit: String
    public internal(set) var severity: Severity
    public internal(set) var state: State
    public let test: Test
    public let threshold: Int64?
    /// When the condition began, and when it had lasted long enough; epoch milliseconds.
    public let sinceMs: Int64
    public let openedMs: Int64
    public let openingValue: Int64?
    public internal(set) var worstValue: Int64?
    public internal(set) var worstMs: Int64
    public internal(set) var resolvedMs: Int64?
    public let audience: Audience
    public let recommended: Int64?
    public let advice: String?
    public let rulesVersion: String
}

extension Episode {
    /// At its opening. A value is nil where it is missing.
    init(
        vehicle: VehicleID, model: String, parameter: MachineParameter, threshold: Threshold, isMissing: Bool,
        sinceMs: Int64, openedMs: Int64, value: Int64?, isCritical: Bool = false, isSoon: Bool = false,
        advice: String? = nil, rulesVersion: String
    ) {
        self.init(
            id: Episode.id(vehicle, parameter, name: threshold.name, openedMs: openedMs), vehicle: vehicle,
            model: model,
            parameter: parameter, name: threshold.name, unit: threshold.unit,
            severity: isCritical ? .critical : .warning, state: isSoon ? .dueSoon : .open,
            test: isMissing ? .absent : threshold.test == .below ? .below : .above,
            threshold: isMissing ? threshold.absentMs : threshold.every ?? threshold.threshold, sinceMs: sinceMs,
            openedMs: openedMs, openingValue: value, worstValue: value, worstMs: openedMs, resolvedMs: nil,
            audience: threshold.audience, recommended: threshold.recommended, advice: advice ?? threshold.advice,
            rulesVersion: rulesVersion)
    }

    /// From its stored form; nil when a name is unknown.
    public init?(
        vehicle: VehicleID, model: String, name: String, unit: String, severity: Severity, isSoon: Bool, test: Test,
        threshold: Int64?, sinceMs: Int64, openedMs: Int64, openingValue: Int64?, worstValue: Int64?, worstMs: Int64,
        resolvedMs: Int64?, audience: Audience, recommended: Int64?, advice: String?, rulesVersion: String
    ) {
        guard case .parameter(let parameter)? = ThresholdField(anyName: name) else { return nil }
        self.init(
            id: Episode.id(vehicle, parameter, name: name, openedMs: openedMs), vehicle: vehicle, model: model,
            parameter: parameter, name: name, unit: unit, severity: severity,
            state: resolvedMs != nil ? .resolved : isSoon ? .dueSoon : .open, test: test, threshold: threshold,
            sinceMs: sinceMs,
            openedMs: openedMs, openingValue: openingValue, worstValue: worstValue, worstMs: worstMs,
            resolvedMs: resolvedMs, audience: audience, recommended: recommended, advice: advice,
            rulesVersion: rulesVersion)
    }

    /// At most 64 bytes of letters, digits, `-`, `_` and `.`: a long vehicle id is shortened and told apart by a hash. The
    /// trouble codes that one scan shows are told apart by the code.
    static func id(_ vehicle: VehicleID, _ parameter: MachineParameter, name shown: String, openedMs: Int64) -> String {
        var name = vehicle.text
        if name.utf8.count > 40 {
            var hash = StableHash()
            hash.add(field: name)
            name = "\(name.prefix(23))-\(hash.hex64)"
        }
        let code = parameter == .troubleCode ? "-" + shown.dropFirst(TroubleCodes.prefix.count) : ""
        return "\(name)-\(parameter.rawValue)-\(String(openedMs, radix: 36))\(code)"
    }
}
