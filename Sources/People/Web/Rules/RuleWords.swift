internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation

/// A rule as people say it: `Tell me when coolant temperature of any S690 Combine is above 85 °C for 3 min`.
struct RuleWords {
    let field: ThresholdField
    /// Nil: there is none yet.
    let rule: Threshold?
    let units: DriverSettings.Units

    init(_ rule: Threshold, in units: DriverSettings.Units) { self.init(field: rule.field, rule: rule, units: units) }

    init(field: ThresholdField, rule: Threshold?, units: DriverSettings.Units) {
        self.field = field
        self.rule = rule
        self.units = units
    }

    var unit: RuleUnit { RuleUnit(rule?.unit ?? RuleWords.unit(of: field), in: units) }

    static func unit(of field: ThresholdField) -> String {
        guard case .parameter(let parameter) = field else { return "" }
        return parameter.row.kind == .time ? "days" : parameter.row.unit
    }

    /// What is looked at, within a sentence.
    static func noun(_ field: ThresholdField) -> String {
        guard case .parameter(let parameter) = field else { return lowered(field.shownName) }
        switch parameter {
        case .gpsAvailable: return "GPS"
        case .contact: return "the box"
        case .lastCellCallIn: return "the last call-in"
        case .lastReprogrammingStatus: return "the last reprogramming"
        case .rdaLicense: return "the RDA license"
        case .wdtLicense: return "the WDT license"
        case .machineSync: return "machine sync"
        case .connectedDevices: return "the number of connected devices"
        case .engineHours, .engineTurnOnCount, .keyTurnOnCount, .fuelLevel, .coolantTemperature,
            .hydraulicOilTemperature, .tirePressure, .gpsFixTime, .lastReprogrammingTime, .carSpeed, .wheelHours,
            .carCoolant, .voltageLow, .voltageHigh, .troubleCode:
            return lowered(field.shownName)
        }
    }

    private static func lowered(_ name: String) -> String {
        name.split(separator: " ").map { word in
            word.dropFirst().contains { $0.isUppercase } ? String(word) : word.lowercased()
        }.joined(separator: " ")
    }

    /// False: it is a text, which raises nothing.
    static func isJudged(_ field: ThresholdField) -> Bool {
        guard case .parameter = field else { return false }
        return true
    }

    static func icon(_ field: ThresholdField) -> IconName {
        guard case .parameter(let parameter) = field else { return field == .machineID ? .tractor : .info }
        switch parameter {
        case .coolantTemperature: return .temp
        case .hydraulicOilTemperature: return .oil
        case .fuelLevel: return .fuel
        case .tirePressure: return .tyre
        case .engineHours: return .wrench
        case .gpsAvailable, .gpsFixTime: return .locate
        case .contact: return .signal
        case .lastCellCallIn: return .phone
        case .engineTurnOnCount, .keyTurnOnCount: return .engine
        case .rdaLicense, .wdtLicense: return .key
        case .machineSync, .lastReprogrammingStatus, .lastReprogrammingTime: return .sync
        case .connectedDevices: return .link
        case .carSpeed, .wheelHours, .carCoolant, .voltageLow, .voltageHigh, .troubleCode: return .rule
        }
    }

    /// What is wrong of a value that is only yes or no.
    static func state(_ field: ThresholdField, _ test: Threshold.Test) -> String {
        guard test == .below, case .parameter(let parameter) = field else { return test == .above ? "is on" : "is off" }
        switch parameter {
        case .gpsAvailable: return "is lost"
        case .contact: return "does not answer"
        case .rdaLicense, .wdtLicense: return "is missing"
        case .lastReprogrammingStatus: return "has failed"
        case .engineHours, .engineTurnOnCount, .keyTurnOnCount, .fuelLevel, .coolantTemperature,
            .hydraulicOilTemperature, .tirePressure, .gpsFixTime, .machineSync, .connectedDevices, .lastCellCallIn,
            .lastReprogrammingTime, .carSpeed, .wheelHours, .carCoolant, .voltageLow, .voltageHigh, .troubleCode:
            return "is off"
        }
    }

    var isService: Bool { rule?.every != nil }
    /// Raises alerts.
    var isOn: Bool { rule?.judged != nil }
    var isFlag: Bool {
        guard case .parameter(let parameter) = field else { return false }
        return parameter.row.kind == .flag
    }
    var isAge: Bool {
        guard case .parameter(let parameter) = field else { return false }
        return parameter.row.kind == .time
    }

    /// - Parameter whose: one machine, as in `any S690 Combine`.
    func sentence(_ whose: String) -> HTML {
        let noun = RuleWords.noun(field)
        guard let rule else { return "No rule for \(noun) of \(whose)." }
        guard isOn else { return "Show \(noun) of \(whose). It raises no alert." }
        if let every = rule.every {
            let soon = rule.soon ?? every / 10
            return """
                Tell me when \(whose) has run <b>\(unit.full(every))</b> since its last service, and \
                <b>\(unit.full(soon))</b> before that
                """
        }
        var conditions: [HTML] = []
        if rule.test != .shown { conditions.append(condition(rule)) }
        if let absentMs = rule.absentMs { conditions.append("says nothing for <b>\(RuleSpan.text(absentMs))</b>") }
        return "Tell me when <b>\(noun)</b> of \(whose) \(conditions.joined(separator: ", or "))"
    }

    private func condition(_ rule: Threshold) -> HTML {
        let hold: HTML = rule.holdMs > 0 ? " for <b>\(RuleSpan.text(rule.holdMs))</b>" : ""
        if isFlag { return "<b>\(RuleWords.state(field, rule.test))</b>\(hold)" }
        let limit = rule.threshold.map(unit.full) ?? ""
        if isAge { return "is <b>\(rule.test == .above ? "more" : "less") than \(limit)</b> ago\(hold)" }
        return "is <b>\(rule.test.rawValue) \(limit)</b>\(hold)"
    }

    /// What stands in a list beside the name: `above 85 °C, critical above 95 °C`.
    var short: String {
        guard let rule else { return "no rule" }
        guard isOn else { return "shown only" }
        if let every = rule.every { return "every \(unit.full(every))" }
        var parts: [String] = []
        if rule.test != .shown {
            let hold = rule.holdMs > 0 ? " for \(RuleSpan.text(rule.holdMs))" : ""
            let limit = rule.threshold.map(unit.full) ?? ""
            parts.append(
                (isFlag
                    ? String(RuleWords.state(field, rule.test).trimmingPrefix("is "))
                    : isAge
                        ? "\(rule.test == .above ? "more" : "less") than \(limit) ago"
                        : "\(rule.test.rawValue) \(limit)") + hold)
        }
        if let absentMs = rule.absentMs { parts.append("silent for \(RuleSpan.text(absentMs))") }
        if let critical = rule.critical { parts.append("critical \(rule.test.rawValue) \(unit.full(critical))") }
        return parts.joined(separator: ", ")
    }

    /// The tone of its pill and the words: a rule with a critical limit raises both.
    var severity: (tone: String, words: String) {
        guard let rule, isOn else { return ("plain", "Shown only") }
        if rule.every != nil { return ("service", "Service") }
        return rule.critical == nil ? ("warning", "Warning") : ("critical", "Critical")
    }
}
