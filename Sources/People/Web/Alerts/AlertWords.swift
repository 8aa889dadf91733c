internal import Alerts
internal import Basics
internal import Fleet
internal import Presentation
internal import Reports

/// Alerts as people say them.
extension AlertRow {
    /// Services are counted in engine hours, and nothing else is (docs/machines.md).
    var isService: Bool { kind == .machine && parameter == "Engine Hours" && test == .above }

    /// `Coolant temperature too high`
    var title: String {
        if isService {
            return state == .dueSoon ? t("Service due soon") : resolvedMs == nil ? t("Service due") : t("Service")
        }
        if test != .absent || parameter == "Last Cell Call In" || parameter == "Contact",
            let special = AlertWords.special(parameter)
        {
            return special
        }
        let name = AlertWords.sentence(parameter)
        switch test {
        case .above: return t("\(name) too high")
        case .below: return isFlag ? t("\(name): no") : t("\(name) too low")
        case .absent: return t("No \(AlertWords.lowered(parameter))")
        }
    }

    /// `above 85 °C`, as pages say it.
    func ruleWords(_ units: DriverSettings.Units) -> String {
        guard !isFlag, let limit = shown(threshold, units) else { return shownRule(units) }
        return switch test {
        case .above: t("above \(limit)")
        case .below: t("below \(limit)")
        case .absent: shownRule(units)
        }
    }

    /// The value furthest beyond the limit, as its unit stands behind it; nil: there is none to show.
    func worst(_ units: DriverSettings.Units) -> ShownValue? {
        guard test != .absent, !isFlag else { return nil }
        return worstValue.flatMap { Double($0) }.map { ShownValue($0, unit: unit, in: units) }
    }

    /// `limit 95 °C`
    func limitWords(_ units: DriverSettings.Units) -> String? {
        guard test != .absent, !isFlag, let limit = shown(threshold, units) else { return nil }
        return isService ? t("every \(limit)") : t("limit \(limit)")
    }

    private var isFlag: Bool { unit.allSatisfy(\.isWhitespace) && threshold == "1" }
}

enum AlertWords {
    /// What a name does not say by itself.
    static func special(_ parameter: String) -> String? {
        switch parameter {
        case "GPS Available": t("GPS lost")
        case "Contact": t("The box does not answer")
        case "Last Cell Call In": t("No call-in")
        case "Last Reprogramming Status": t("Last reprogramming failed")
        case "RDA License Available": t("RDA license missing")
        case "WDT License Available": t("WDT license missing")
        case "Machine Sync Available": t("Machine sync is off")
        case "Coolant Temperature", "Engine Coolant Temperature": t("Coolant too hot")
        case "Hydraulic Oil Temperature": t("Hydraulic oil too hot")
        case "Speed": t("Too fast")
        case "Hours at the Wheel": t("Too long at the wheel")
        case "Low Voltage": t("Voltage too low")
        case "High Voltage": t("Voltage too high")
        default: nil
        }
    }

    /// `Coolant temperature`
    static func sentence(_ name: String) -> String {
        let words = lowered(name)
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// `coolant temperature`; abbreviations keep their capitals.
    static func lowered(_ name: String) -> String {
        known(name)
            ?? name.split(separator: " ").map { word in
                word.dropFirst().contains { $0.isUppercase } ? String(word) : word.lowercased()
            }.joined(separator: " ")
    }

    /// Values that alerts are about, in the reader's language; nil: what a rule file or a later version calls it.
    private static func known(_ name: String) -> String? {
        guard case .parameter(let parameter)? = ThresholdField(anyName: name) else { return nil }
        return switch parameter {
        case .engineHours: t("engine hours")
        case .fuelLevel: t("fuel level")
        case .coolantTemperature: t("coolant temperature")
        case .hydraulicOilTemperature: t("hydraulic oil temperature")
        case .tirePressure: t("tire pressure")
        case .connectedDevices: t("connected devices")
        case .carSpeed: t("speed")
        case .wheelHours: t("hours at the wheel")
        case .carCoolant: t("engine coolant temperature")
        case .voltageLow: t("low voltage")
        case .voltageHigh: t("high voltage")
        case .troubleCode: t("trouble code")
        case .gpsAvailable, .gpsFixTime, .contact, .lastCellCallIn, .lastReprogrammingStatus, .lastReprogrammingTime,
            .rdaLicense, .wdtLicense, .machineSync, .engineTurnOnCount, .keyTurnOnCount:
            nil
        }
    }

    /// `Critical`, `Warning`; a service that comes is neither.
    static func severity(_ alert: AlertRow) -> HTML {
        if alert.isService { return HTML.pill("service", alert.state == .dueSoon ? t("Due soon") : t("Due")) }
        return HTML.severity(alert.severity)
    }

    /// Whether it is muted, and how long.
    static func muted(untilMs: Int64?, isToItsEnd: Bool, nowMs: Int64, _ caller: PageCaller) -> HTML? {
        guard let untilMs else { return nil }
        return isToItsEnd
            ? .t("muted until it is over") : "<span>muted until \(planned(untilMs, nowMs: nowMs, caller))</span>"
    }

    /// `15:07` of today, else `20 Sep 15:07`; the whole of it when somebody points there.
    static func time(_ ms: Int64, nowMs: Int64, _ caller: PageCaller) -> HTML {
        "<time datetime=\"\(UTC.text(ms))\" title=\"\(caller.clock.minute(ms))\">\(caller.words.moment(ms, nowMs: nowMs, caller.clock))</time>"
    }

    /// A time to come, as people plan: `07:00` of today, `tomorrow 07:00`, `Sat 07:00`, else with its date.
    static func planned(_ ms: Int64, nowMs: Int64, _ caller: PageCaller) -> HTML {
        let (day, today) = (
            CivilDate(ofMs: ms, zone: caller.clock.zone), CivilDate(ofMs: nowMs, zone: caller.clock.zone)
        )
        let clock = String(caller.clock.minute(ms).suffix(5))
        let days = today.days(to: day)
        let words =
            if days == 0 {
                clock
            } else if days == 1 {
                t("tomorrow \(clock)")
            } else if (2...6).contains(days) {
                "\(English.weekday(day)) \(clock)"
            } else {
                caller.words.moment(ms, nowMs: nowMs, caller.clock)
            }
        return "<time datetime=\"\(UTC.text(ms))\" title=\"\(caller.clock.minute(ms))\">\(words)</time>"
    }

    /// An account as the reader knows it.
    static func person(_ account: String, _ caller: PageCaller) -> String {
        account == caller.account ? t("You") : caller.person(account)
    }
}
