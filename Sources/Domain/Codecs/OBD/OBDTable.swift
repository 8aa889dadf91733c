internal import Basics

/// All parameters that we can read, in their order. Adding one is adding a row.
public enum OBDTable {
    public static let rows: [OBDRow] = groups.flatMap { $0 }

    /// The rows of a parameter; empty when it is not in the table.
    public static func rows(_ pid: UInt8) -> ArraySlice<OBDRow> { rows[places[Int(pid)]] }

    /// Where each parameter's rows stand.
    private static let places: [Range<Int>] = (0...255).map { pid in
        let first = rows.firstIndex { Int($0.pid) >= pid } ?? rows.count
        return first..<(rows.firstIndex { Int($0.pid) > pid } ?? rows.count)
    }

    private static let groups: [[OBDRow]] = [
        [
            supported(0x00),
            OBDRow(0x01, "readiness", "lamp, count of codes, monitors", bytes: 4, .readiness),
            OBDRow(0x02, "freeze_code", "code that stored the freeze frame", bytes: 2, .troubleCode),
            OBDRow(
                0x03, "fuel_system_status", "fuel system 1", "bits", bytes: 2, .choice(at: 0, OBDChoices.fuelSystem)),
            OBDRow(
                0x03, "fuel_system_2_status", "fuel system 2", "bits", bytes: 2, .choice(at: 1, OBDChoices.fuelSystem)),
            percent(0x04, "load_pct", "calculated engine load"),
            celsius(0x05, "coolant_c", "coolant temperature"),
            trim(0x06, "short_fuel_trim_pct", "short term fuel trim, bank 1"),
            trim(0x07, "long_fuel_trim_pct", "long term fuel trim, bank 1"),
            trim(0x08, "short_fuel_trim_2_pct", "short term fuel trim, bank 2"),
            trim(0x09, "long_fuel_trim_2_pct", "long term fuel trim, bank 2"),
            OBDRow(0x0A, "fuel_pressure_kpa", "fuel pressure", "kPa", 1, "3A", .a(3)),
            OBDRow(0x0B, "map_kpa", "intake manifold pressure", "kPa", 1, "A", .a()),
            OBDRow(0x0C, "rpm", "engine speed", "1/min", 2, "(256A+B)/4", .ab(over: 4, 2)),
            OBDRow(0x0D, "speed_kmh", "vehicle speed", "km/h", 1, "A", .a()),
            OBDRow(
                0x0E, "timing_advance_deg", "timing advance before cylinder 1's top", "°", 1, "(A-128)/2",
                .a(-128, 2, 1)),
            celsius(0x0F, "intake_air_c", "intake air temperature"),
            OBDRow(0x10, "maf_gps", "mass air flow", "g/s", 2, "(256A+B)/100", .ab(over: 100, 2)),
            percent(0x11, "throttle_pct", "throttle position"),
            OBDRow(0x12, "secondary_air", "secondary air", bytes: 1, .choice(at: 0, OBDChoices.secondaryAir)),
            OBDRow(
                0x13, "oxygen_sensors", "oxygen sensors in two banks", bytes: 1,
                .flags(at: 0, OBDChoices.sensorsOfTwoBanks)),
        ],
        (0..<8).flatMap { n in
            [
                OBDRow(
                    0x14 + n, "o2_\(n + 1)_v", "oxygen sensor \(n + 1), voltage", "V", 2, "A/200", .a(over: 200, 3)),
                OBDRow(
                    0x14 + n, "o2_\(n + 1)_trim_pct", "oxygen sensor \(n + 1), short term trim (FF: not used)", "%", 2,
                    "(B-128)*100/128", .byte(1, 100, -12_800, 128, 5)),
            ]
        },
        [
            OBDRow(
                0x1C, "obd_standard", "standard that the car was built to", bytes: 1,
                .choice(at: 0, OBDChoices.standard)),
            OBDRow(
                0x1D, "oxygen_sensors_4", "oxygen sensors in four banks", bytes: 1,
                .flags(at: 0, OBDChoices.sensorsOfFourBanks)),
            OBDRow(0x1E, "power_take_off", "power take-off", bytes: 1, .flags(at: 0, OBDChoices.auxiliary)),
            OBDRow(0x1F, "engine_run_s", "run time since engine start", "s", 2, "256A+B", .ab()),
            supported(0x20),
            OBDRow(0x21, "distance_lamp_on_km", "distance with the lamp on", "km", 2, "256A+B", .ab()),
            OBDRow(
                0x22, "fuel_rail_relative_kpa", "fuel rail pressure above manifold", "kPa", 2, "(256A+B)*79/1000",
                .ab(79, over: 1_000, 3)),
            OBDRow(0x23, "fuel_rail_kpa", "fuel rail pressure, direct injection", "kPa", 2, "(256A+B)*10", .ab(10)),
        ],
        (0..<8).flatMap { n in
            [
                OBDRow(
                    0x24 + n, "o2_\(n + 1)_lambda_ratio", "wide range oxygen sensor \(n + 1), λ", "1", 4,
                    "(256A+B)*2/65536", .ab(2, over: 65_536, 6)),
                OBDRow(
                    0x24 + n, "o2_\(n + 1)_wide_v", "wide range oxygen sensor \(n + 1), voltage", "V", 4,
                    "(256C+D)*8/65536", .word(2, 8, 0, 65_536, 6)),
            ]
        },
        [
            percent(0x2C, "egr_pct", "commanded exhaust gas recirculation"),
            trim(0x2D, "egr_error_pct", "error of exhaust gas recirculation"),
            percent(0x2E, "purge_pct", "commanded evaporative purge"),
            percent(0x2F, "fuel_level_pct", "fuel level"),
            OBDRow(0x30, "warm_ups", "warm-ups since codes were cleared", "", 1, "A", .a()),
            OBDRow(0x31, "distance_since_clear_km", "distance since codes were cleared", "km", 2, "256A+B", .ab()),
            OBDRow(0x32, "evap_pressure_pa", "evaporative system pressure", "Pa", 2, "signed(256A+B)/4", .signed(4, 2)),
            OBDRow(0x33, "barometric_kpa", "barometric pressure", "kPa", 1, "A", .a()),
        ],
        (0..<8).flatMap { n in
            [
                OBDRow(
                    0x34 + n, "o2_\(n + 1)_current_lambda_ratio", "wide range oxygen sensor \(n + 1), λ", "1", 4,
                    "(256A+B)*2/65536", .ab(2, over: 65_536, 6)),
                OBDRow(
                    0x34 + n, "o2_\(n + 1)_current_ma", "wide range oxygen sensor \(n + 1), current", "mA", 4,
                    "(256C+D)/256-128", .word(2, 1, -32_768, 256, 8)),
            ]
        },
        zip(0..<4, ["bank 1, sensor 1", "bank 2, sensor 1", "bank 1, sensor 2", "bank 2, sensor 2"]).map { n, place in
            OBDRow(
                0x3C + UInt8(n), "catalyst_\(n + 1)_c", "catalyst temperature, \(place)", "°C", 2, "(256A+B)/10-40",
                .word(0, 1, -400, 10, 1))
        },
        [
            supported(0x40),
            OBDRow(0x41, "readiness_cycle", "monitors of this drive cycle", bytes: 4, .readiness),
            OBDRow(0x42, "voltage_v", "control module voltage", "V", 2, "(256A+B)/1000", .ab(over: 1_000, 3)),
            OBDRow(0x43, "absolute_load_pct", "absolute load", "%", 2, "(256A+B)*100/255", .ab(100, over: 255, 3)),
            OBDRow(0x44, "lambda_ratio", "commanded λ", "1", 2, "(256A+B)*2/65536", .ab(2, over: 65_536, 6)),
            percent(0x45, "relative_throttle_pct", "relative throttle position"),
            celsius(0x46, "ambient_c", "ambient air temperature"),
            percent(0x47, "throttle_b_pct", "throttle position B"),
            percent(0x48, "throttle_c_pct", "throttle position C"),
            percent(0x49, "pedal_d_pct", "accelerator pedal position D"),
            percent(0x4A, "pedal_e_pct", "accelerator pedal position E"),
            percent(0x4B, "pedal_f_pct", "accelerator pedal position F"),
            percent(0x4C, "throttle_commanded_pct", "commanded throttle"),
            OBDRow(0x4D, "minutes_lamp_on_min", "time with the lamp on", "min", 2, "256A+B", .ab()),
            OBDRow(0x4E, "minutes_since_clear_min", "time since codes were cleared", "min", 2, "256A+B", .ab()),
            OBDRow(0x4F, "most_lambda_ratio", "greatest λ of the sensors", "1", 4, "A", .a()),
            OBDRow(0x4F, "most_o2_v", "greatest voltage of the oxygen sensors", "V", 4, "B", .byte(1, 1, 0, 1, 0)),
            OBDRow(0x4F, "most_o2_ma", "greatest current of the oxygen sensors", "mA", 4, "C", .byte(2, 1, 0, 1, 0)),
            OBDRow(
                0x4F, "most_map_kpa", "greatest manifold pressure of the sensor", "kPa", 4, "10D", .byte(3, 10, 0, 1, 0)
            ),
            OBDRow(0x50, "most_maf_gps", "greatest air flow of the sensor", "g/s", 4, "10A", .a(10)),
            OBDRow(0x51, "fuel_type", "fuel", bytes: 1, .choice(at: 0, OBDChoices.fuel)),
            percent(0x52, "ethanol_pct", "share of ethanol"),
            OBDRow(
                0x53, "evap_absolute_kpa", "absolute evaporative system pressure", "kPa", 2, "(256A+B)/200",
                .ab(over: 200, 3)),
            OBDRow(
                0x54, "evap_wide_pa", "evaporative system pressure, wide range", "Pa", 2, "signed(256A+B)",
                .signed(1, 0)),
        ],
        zip(
            0..<4,
            [
                "short term, banks 1 and 3", "long term, banks 1 and 3", "short term, banks 2 and 4",
                "long term, banks 2 and 4",
            ]
        )
        .flatMap { n, place in
            let (pid, key) = (0x55 + UInt8(n), ["o2_short", "o2_long"][n % 2])
            return [
                OBDRow(
                    pid, "\(key)_bank_\(n / 2 + 1)_pct", "secondary oxygen trim, \(place): the first", "%", 2,
                    "(A-128)*100/128", .byte(0, 100, -12_800, 128, 5)),
                OBDRow(
                    pid, "\(key)_bank_\(n / 2 + 3)_pct", "secondary oxygen trim, \(place): the second", "%", 2,
                    "(B-128)*100/128", .byte(1, 100, -12_800, 128, 5)),
            ]
        },
        [
            OBDRow(0x59, "fuel_rail_absolute_kpa", "absolute fuel rail pressure", "kPa", 2, "(256A+B)*10", .ab(10)),
            percent(0x5A, "relative_pedal_pct", "relative accelerator pedal position"),
            percent(0x5B, "hybrid_battery_pct", "remaining life of the hybrid battery"),
            celsius(0x5C, "oil_c", "oil temperature"),
            OBDRow(
                0x5D, "injection_timing_deg", "fuel injection timing", "°", 2, "(256A+B)/128-210",
                .word(0, 1, -26_880, 128, 7)),
            OBDRow(0x5E, "fuel_rate_lph", "engine fuel rate", "L/h", 2, "(256A+B)/20", .ab(over: 20, 2)),
            supported(0x60),
            OBDRow(0x61, "torque_demand_pct", "driver's demand of torque", "%", 1, "A-125", .a(-125, 1, 0), .j1979DA),
            OBDRow(0x62, "torque_pct", "actual torque", "%", 1, "A-125", .a(-125, 1, 0), .j1979DA),
            OBDRow(0x63, "torque_reference_nm", "reference torque", "N·m", 2, "256A+B", .ab(), .j1979DA),
            supported(0x80),
            OBDRow(0x8E, "friction_torque_pct", "friction torque", "%", 1, "A-125", .a(-125, 1, 0), .j1979DA),
            supported(0xA0),
            OBDRow(
                0xA6, "odometer_km", "odometer", "km", 4, "(16777216A+65536B+256C+D)/10",
                OBDScale(at: 0, width: 4, times: 1, plus: 0, over: 10, decimals: 1), .j1979DA),
            supported(0xC0),
        ],
    ]

    private static func supported(_ pid: UInt8) -> OBDRow {
        let first = Hex.text([pid &+ 1]).uppercased()
        return OBDRow(
            pid, "supported_\(first.lowercased())", "parameters from \(first) on that the car has", bytes: 4, .supported
        )
    }
    private static func percent(_ pid: UInt8, _ key: String, _ name: String) -> OBDRow {
        OBDRow(pid, key, name, "%", 1, "A*100/255", .byte(0, 100, 0, 255, 3))
    }
    private static func trim(_ pid: UInt8, _ key: String, _ name: String) -> OBDRow {
        OBDRow(pid, key, name, "%", 1, "(A-128)*100/128", .byte(0, 100, -12_800, 128, 5))
    }
    private static func celsius(_ pid: UInt8, _ key: String, _ name: String) -> OBDRow {
        OBDRow(pid, key, name, "°C", 1, "A-40", .a(-40, 1, 0))
    }
}

extension OBDRow {
    fileprivate init(_ pid: UInt8, _ key: String, _ name: String, _ unit: String = "", bytes: Int, _ kind: Kind) {
        self.init(pid: pid, key: key, name: name, unit: unit, bytes: bytes, formula: "", source: .j1979, kind: kind)
    }
    fileprivate init(
        _ pid: UInt8, _ key: String, _ name: String, _ unit: String, _ bytes: Int, _ formula: String,
        _ scale: OBDScale, _ source: Source = .j1979
    ) {
        self.init(
            pid: pid, key: key, name: name, unit: unit, bytes: bytes, formula: formula, source: source,
            kind: .number(scale))
    }
}

extension OBDScale {
    fileprivate static func byte(_ at: Int, _ times: Int64, _ plus: Int64, _ over: Int64, _ decimals: Int) -> OBDScale {
        OBDScale(at: at, width: 1, times: times, plus: plus, over: over, decimals: decimals)
    }
    fileprivate static func word(_ at: Int, _ times: Int64, _ plus: Int64, _ over: Int64, _ decimals: Int) -> OBDScale {
        OBDScale(at: at, width: 2, times: times, plus: plus, over: over, decimals: decimals)
    }
    fileprivate static func a(_ times: Int64 = 1) -> OBDScale { byte(0, times, 0, 1, 0) }
    fileprivate static func a(over: Int64, _ decimals: Int) -> OBDScale { byte(0, 1, 0, over, decimals) }
    fileprivate static func a(_ plus: Int64, _ over: Int64, _ decimals: Int) -> OBDScale {
        byte(0, 1, plus, over, decimals)
    }
    fileprivate static func ab(_ times: Int64 = 1, over: Int64 = 1, _ decimals: Int = 0) -> OBDScale {
        word(0, times, 0, over, decimals)
    }
    fileprivate static func signed(_ over: Int64, _ decimals: Int) -> OBDScale {
        OBDScale(at: 0, width: 2, isSigned: true, times: 1, plus: 0, over: over, decimals: decimals)
    }
}
