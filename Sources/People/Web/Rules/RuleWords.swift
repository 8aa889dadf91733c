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
        guard case .parameter(let parameter) = field else { return AlertWords.lowered(field.shownName) }
        switch parameter {
        case .gpsAvailable: return t("GPS")
        case .contact: return t("the box")
        case .lastCellCallIn: return t("the last call-in")
        case .lastReprogrammingStatus, .lastReprogrammingTime: return t("the last reprogramming")
        case .rdaLicense: return t("the RDA license")
        case .wdtLicense: return t("the WDT license")
        case .machineSync: return t("machine sync")
        case .connectedDevices: return t("the number of connected devices")
        case .engineHours: return t("engine hours")
        case .engineTurnOnCount: return t("the number of engine starts")
        case .keyTurnOnCount: return t("the number of key turns")
        case .fuelLevel: return t("fuel level")
        case .coolantTemperature: return t("coolant temperature")
        case .hydraulicOilTemperature: return t("hydraulic oil temperature")
        case .tirePressure: return t("tire pressure")
        case .gpsFixTime: return t("the last GPS fix")
        case .carSpeed, .wheelHours, .carCoolant, .voltageLow, .voltageHigh, .troubleCode:
            return AlertWords.lowered(field.shownName)
        }
    }

    /// At the beginning of one.
    static func name(_ field: ThresholdField) -> String {
        let noun = noun(field)
        return noun.prefix(1).uppercased() + noun.dropFirst()
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
        guard test == .below, case .parameter(let parameter) = field else {
            return test == .above ? t("is on") : t("is off")
        }
        switch parameter {
        case .gpsAvailable: return t("is lost")
        case .contact: return t("does not answer")
        case .rdaLicense, .wdtLicense: return t("is missing")
        case .lastReprogrammingStatus: return t("has failed")
        case .engineHours, .engineTurnOnCount, .keyTurnOnCount, .fuelLevel, .coolantTemperature,
            .hydraulicOilTemperature, .tirePressure, .gpsFixTime, .machineSync, .connectedDevices, .lastCellCallIn,
            .lastReprogrammingTime, .carSpeed, .wheelHours, .carCoolant, .voltageLow, .voltageHigh, .troubleCode:
            return t("is off")
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
        guard let rule else { return .t("No rule for \(noun) of \(whose).") }
        guard isOn else { return .t("Show \(noun) of \(whose). It raises no alert.") }
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
        return conditions.count == 2
            ? "Tell me when <b>\(noun)</b> of \(whose) \(conditions[0]), or \(conditions[1])"
            : "Tell me when <b>\(noun)</b> of \(whose) \(conditions.joined())"
    }

    private func condition(_ rule: Threshold) -> HTML {
        let hold: HTML = rule.holdMs > 0 ? " for <b>\(RuleSpan.text(rule.holdMs))</b>" : ""
        if isFlag { return "<b>\(RuleWords.state(field, rule.test))</b>\(hold)" }
        return "is <b>\(limit(rule))</b>\(hold)"
    }

    /// `above 85 °C`, `more than 30 days ago`
    private func limit(_ rule: Threshold) -> String { limit(rule, rule.threshold) }

    private func limit(_ rule: Threshold, _ thousandths: Int64?) -> String {
        let limit = thousandths.map(unit.full) ?? ""
        if isAge { return rule.test == .above ? t("more than \(limit) ago") : t("less than \(limit) ago") }
        return rule.test == .above ? t("above \(limit)") : t("below \(limit)")
    }

    private func held(_ rule: Threshold) -> String {
        let what = isFlag ? RuleWords.state(field, rule.test) : limit(rule)
        return rule.holdMs > 0 ? t("\(what) for \(RuleSpan.text(rule.holdMs))") : what
    }

    /// A line of a list: `Coolant temperature above 85 °C for 3 min`.
    var brief: String {
        let name = RuleWords.name(field)
        guard let rule, isOn else { return t("\(name): shown only") }
        if let every = rule.every { return t("Service every \(unit.full(every))") }
        let parts = [
            rule.test == .shown ? nil : held(rule), rule.absentMs.map { t("silent for \(RuleSpan.text($0))") },
        ].compactMap(\.self)
        return parts.count == 2 ? t("\(name) \(parts[0]), or \(parts[1])") : "\(name) \(parts.joined())"
    }

    /// What stands below it: `critical above 95 °C`; nil: nothing.
    var beyond: String? {
        guard let rule, isOn else { return nil }
        if let every = rule.every { return t("due soon \(unit.full(rule.soon ?? every / 10)) before") }
        return rule.critical.map { t("critical \(limit(rule, $0))") }
    }

    /// What stands in a list beside the name: `above 85 °C, critical above 95 °C`.
    var short: String {
        guard let rule else { return t("no rule") }
        guard isOn else { return t("shown only") }
        if let every = rule.every { return t("every \(unit.full(every))") }
        return [
            rule.test == .shown ? nil : held(rule), rule.absentMs.map { t("silent for \(RuleSpan.text($0))") }, beyond,
        ].compactMap(\.self).joined(separator: ", ")
    }

    /// The tone of its pill and the words: a rule with a critical limit raises both.
    var severity: (tone: String, words: String) {
        guard let rule, isOn else { return ("plain", t("Shown only")) }
        if rule.every != nil { return ("service", t("Service")) }
        return rule.critical == nil ? ("warning", t("Warning")) : ("critical", t("Critical"))
    }
}
