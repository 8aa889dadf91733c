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
        if isService { return state == .dueSoon ? "Service due soon" : resolvedMs == nil ? "Service due" : "Service" }
        if test != .absent || parameter == "Last Cell Call In" || parameter == "Contact",
            let special = AlertWords.special(parameter)
        {
            return special
        }
        let name = AlertWords.sentence(parameter)
        switch test {
        case .above: return "\(name) too high"
        case .below: return isFlag ? "\(name): no" : "\(name) too low"
        case .absent: return "No \(AlertWords.lowered(parameter))"
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
        return isService ? "every \(limit)" : "limit \(limit)"
    }

    private var isFlag: Bool { unit.allSatisfy(\.isWhitespace) && threshold == "1" }
}

enum AlertWords {
    /// What a name does not say by itself.
    static func special(_ parameter: String) -> String? { special[parameter] }

    private static let special = [
        "GPS Available": "GPS lost", "Contact": "The box does not answer", "Last Cell Call In": "No call-in",
        "Last Reprogramming Status": "Last reprogramming failed", "RDA License Available": "RDA license missing",
        "WDT License Available": "WDT license missing", "Machine Sync Available": "Machine sync is off",
        "Coolant Temperature": "Coolant too hot", "Engine Coolant Temperature": "Coolant too hot",
        "Hydraulic Oil Temperature": "Hydraulic oil too hot", "Speed": "Too fast",
        "Hours at the Wheel": "Too long at the wheel",
        "Low Voltage": "Voltage too low", "High Voltage": "Voltage too high",
    ]

    /// `Coolant temperature`
    static func sentence(_ name: String) -> String {
        let words = lowered(name)
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// `coolant temperature`; abbreviations keep their capitals.
    static func lowered(_ name: String) -> String {
        name.split(separator: " ").map { word in
            word.dropFirst().contains { $0.isUppercase } ? String(word) : word.lowercased()
        }.joined(separator: " ")
    }

    /// `Critical`, `Warning`; a service that comes is neither.
    static func severity(_ alert: AlertRow, _ caller: PageCaller) -> HTML {
        if alert.isService { return HTML.pill("service", alert.state == .dueSoon ? "Due soon" : "Due") }
        return HTML.pill(alert.severity.rawValue, caller.words.severity(alert.severity))
    }

    /// Whether it is muted, and how long.
    static func muted(untilMs: Int64?, isToItsEnd: Bool, nowMs: Int64, _ caller: PageCaller) -> HTML? {
        guard let untilMs else { return nil }
        return isToItsEnd ? "muted until it is over" : "muted until \(time(untilMs, nowMs: nowMs, caller))"
    }

    /// `15:07` of today, else `20 Sep 15:07`; the whole of it when somebody points there.
    static func time(_ ms: Int64, nowMs: Int64, _ caller: PageCaller) -> HTML {
        "<time datetime=\"\(UTC.text(ms))\" title=\"\(caller.clock.minute(ms))\">\(caller.words.moment(ms, nowMs: nowMs, caller.clock))</time>"
    }

    /// An account as the reader knows it.
    static func person(_ account: String, _ caller: PageCaller) -> String {
        account == caller.account ? "You" : caller.person(account)
    }
}
