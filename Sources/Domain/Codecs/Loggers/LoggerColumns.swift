internal import Basics
public import Fleet

/// The content of a column in a logger's file.
public enum LoggerColumn: Equatable, Sendable {
    case signal(Signal, LoggerUnit)
    case time(LoggerTime)
    /// One reading a row and signal: the name stands in one column, the value in another.
    case signalName
    case signalValue
    case ignored
}

public enum LoggerTime: Equatable, Sendable {
    /// Seconds since the recording began.
    case relativeSeconds
    /// The engine's own counter of whole seconds: taken only when the file has no better clock.
    case engineRunSeconds
    /// Epoch milliseconds or ISO 8601 or a clock without a date, told by the text.
    case absolute
}

/// Units that loggers write, as value × numerator / denominator after an offset (in thousandths).
public struct LoggerUnit: Equatable, Sendable {
    var offset: Int64 = 0
    var numerator: Int64 = 1
    var denominator: Int64 = 1

    static let own = LoggerUnit()
    /// 1 mile = 1.609344 km.
    static let milesPerHour = LoggerUnit(numerator: 1_609_344, denominator: 1_000_000)
    static let fahrenheit = LoggerUnit(offset: -32_000, numerator: 5, denominator: 9)
    /// 1 psi = 6.894757 kPa.
    static let poundsPerSquareInch = LoggerUnit(numerator: 6_894_757, denominator: 1_000_000)

    func applied(to stored: Int64) -> Int64 {
        Decimal.divided((stored + offset) * numerator, by: denominator)
    }

    /// By the text in a header's brackets; nil when it is not a unit that the signal can have.
    static func named(_ text: String, for signal: Signal) -> LoggerUnit? {
        switch (signal, text) {
        case (_, ""): .own
        case (.speed, "km/h"), (.speed, "kmh"), (.speed, "kph"), (.rpm, "rpm"), (.rpm, "1/min"), (.rpm, "min-1"): .own
        case (.speed, "mph"): .milesPerHour
        case (.maf, "g/s"), (.mafCalculated, "g/s"), (.voltage, "v"), (.fuelRate, "l/h"): .own
        case (.manifoldPressure, "kpa"): .own
        case (.manifoldPressure, "psi"): .poundsPerSquareInch
        case (.coolant, "°c"), (.coolant, "c"), (.intakeAir, "°c"), (.intakeAir, "c"), (.ambientAir, "°c"),
            (.ambientAir, "c"):
            .own
        case (.coolant, "°f"), (.coolant, "f"), (.intakeAir, "°f"), (.intakeAir, "f"), (.ambientAir, "°f"),
            (.ambientAir, "f"):
            .fahrenheit
        case (.engineLoad, "%"), (.throttle, "%"), (.fuelLevel, "%"), (.shortFuelTrim, "%"), (.longFuelTrim, "%"): .own
        case (.engineRunTime, "s"), (.distanceSinceClear, "km"): .own
        case (.latitude, "deg"), (.latitude, "°"), (.longitude, "deg"), (.longitude, "°"): .own
        default: nil
        }
    }
}

/// The column names that are known, in lower case with `_` for blanks and without their unit. Users add to them with
/// a mapping file; a name that is not known is ignored.
public enum LoggerColumns {
    static let known: [String: LoggerColumn] = {
        var table: [String: LoggerColumn] = [
            // Time
            "ts": .time(.absolute), "time": .time(.absolute), "timestamp": .time(.absolute), "t_ms": .time(.absolute),
            "device_time": .time(.absolute), "gps_time": .time(.absolute),
            "t_s": .time(.relativeSeconds), "elapsed_time": .time(.relativeSeconds), "seconds": .time(.relativeSeconds),
            "engine_run_tine": .time(.engineRunSeconds), "engine_run_time": .time(.engineRunSeconds),
            // One reading a row and signal
            "pid_name": .signalName, "pid": .signalName, "value": .signalValue,
        ]
        for (name, signal) in names { table[name] = .signal(signal, .own) }
        for signal in Signal.allCases { table[signal.row.key] = .signal(signal, .own) }
        return table
    }()

    /// carOBD, KIT ("PLX KIWI" app), enviroCar and the usual phone apps.
    static let names: [(String, Signal)] = [
        ("speed", .speed), ("vehicle_speed", .speed), ("vehicle_speed_sensor", .speed), ("obd_speed", .speed),
        ("rpm", .rpm), ("engine_rpm", .rpm), ("engine_speed", .rpm),
        ("maf", .maf), ("air_flow_rate_from_mass_flow_sensor", .maf), ("mass_air_flow_rate", .maf),
        ("maf_air_flow_rate", .maf), ("calc_maf_gps", .mafCalculated), ("calculated_maf", .mafCalculated),
        ("engine_fuel_rate", .fuelRate),
        ("coolant_temperature", .coolant), ("engine_coolant_temperature", .coolant), ("coolant", .coolant),
        ("control_module_voltage", .voltage), ("voltage", .voltage),
        ("map", .manifoldPressure), ("intake_manifold_pressure", .manifoldPressure),
        ("intake_manifold_absolute_pressure", .manifoldPressure),
        ("iat", .intakeAir), ("iat_c", .intakeAir), ("intake_air_temp", .intakeAir),
        ("intake_air_temperature", .intakeAir),
        ("engine_load", .engineLoad), ("throttle", .throttle), ("absolute_throttle_position", .throttle),
        ("fuel_tank", .fuelLevel), ("fuel_level", .fuelLevel), ("ambient_air_temperature", .ambientAir),
        ("lat", .latitude), ("latitude", .latitude), ("lon", .longitude), ("lng", .longitude),
        ("longitude", .longitude),
        ("fuel_system_status", .fuelSystemStatus), ("fuel_air_commanded_equiv_ratio", .lambda),
        ("commanded_equivalence_ratio", .lambda), ("short_term_fuel_trim_bank_1", .shortFuelTrim),
        ("long_term_fuel_trim_bank_1", .longFuelTrim), ("distance_since_codes_cleared", .distanceSinceClear),
    ]

    /// `Vehicle Speed Sensor [km/h]` → (`vehicle_speed_sensor`, `km/h`).
    static func split(_ header: String) -> (name: String, unit: String) {
        let text = header.trimmingBlanks().lowercased()
        guard let open = text.lastIndex(where: { $0 == "[" || $0 == "(" }), text.last == "]" || text.last == ")" else {
            return (text.replacingBlanks(), "")
        }
        let name = String(text[..<open]).trimmingBlanks()
        return (name.replacingBlanks(), String(text[text.index(after: open)...].dropLast()).trimmingBlanks())
    }

    /// The meaning of a header. `extra` holds the user's own names and is looked up first.
    static func column(_ header: String, extra: [String: LoggerColumn]) -> LoggerColumn {
        let (name, unit) = split(header)
        switch extra[name] ?? known[name] {
        case .signal(let signal, let own)?:
            if extra[name] != nil { return .signal(signal, own) }
            return LoggerUnit.named(unit, for: signal).map { .signal(signal, $0) } ?? .ignored
        case let column?: return column
        case nil: return .ignored
        }
    }

    /// A mapping file: one `column name,key[,unit]` a line; `key` is a signal's key on the wire, `time` or
    /// `seconds`; `#` starts a comment.
    public static func mapping(_ text: String) throws(LoggerError) -> [String: LoggerColumn] {
        var columns: [String: LoggerColumn] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let fields = line.split(separator: ",").map { String($0).trimmingBlanks() }
            guard let first = fields.first, !first.isEmpty, !first.hasPrefix("#") else { continue }
            guard fields.count >= 2,
                let column = target(fields[1], unit: fields.count > 2 ? fields[2].lowercased() : "")
            else { throw .mappingLine(index + 1) }
            columns[split(first).name] = column
        }
        return columns
    }

    private static func target(_ key: String, unit: String) -> LoggerColumn? {
        if key == "time" { return .time(.absolute) }
        if key == "seconds" { return .time(.relativeSeconds) }
        guard let signal = Signal.allCases.first(where: { $0.row.key == key }) else { return nil }
        return LoggerUnit.named(unit, for: signal).map { .signal(signal, $0) }
    }
}

extension String {
    func trimmingBlanks() -> String {
        var slice = self[...]
        while let last = slice.last, last.isWhitespace { slice = slice.dropLast() }
        while let first = slice.first, first.isWhitespace { slice = slice.dropFirst() }
        return String(slice)
    }

    func replacingBlanks() -> String { String(map { $0 == " " ? "_" : $0 }) }
}
