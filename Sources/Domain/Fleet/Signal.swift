/// The signals of a car's reading. The raw value is the signal's position in a reading and in packed samples: it is stored, so rows are
/// only ever added at the end.
public enum Signal: UInt8, CaseIterable, Sendable {
    case speed, rpm, maf, mafCalculated, fuelRate, coolant, voltage, manifoldPressure
    case intakeAir, engineLoad, throttle, fuelLevel, ambientAir, latitude, longitude
    case fuelSystemStatus, lambda, shortFuelTrim, longFuelTrim, engineRunTime, distanceSinceClear

    /// The slots that a reading reserves; a 32-bit mask tells which are filled.
    public static let slots = 24

    public var row: SignalRow { SignalRow.table[Int(rawValue)] }
}

/// One row a signal: the key on the wire, its unit, the integer scale and what is physically possible.
public struct SignalRow: Sendable {
    public let signal: Signal
    /// The key in topic records and canonical CSV files.
    public let key: String
    public let unit: String
    /// Stored integer = value × 10^decimals.
    public let decimals: Int
    /// Smallest and largest possible value, in the unit. Anything outside drops the field (never clamped).
    public let least: Int32
    public let most: Int32

    /// Ranges are those of SAE J1979 mode 01 where a PID exists, widened to what loggers derive from
    /// them; voltage is the range of a 12 V or 24 V system with margin.
    static let table: [SignalRow] = [
        SignalRow(.speed, "speed_kmh", "km/h", 3, 0, 400),
        SignalRow(.rpm, "rpm", "1/min", 3, 0, 16_384),
        SignalRow(.maf, "maf_gps", "g/s", 3, 0, 656),
        SignalRow(.mafCalculated, "maf_calculated_gps", "g/s", 3, 0, 656),
        SignalRow(.fuelRate, "fuel_rate_lph", "L/h", 3, 0, 3_213),
        SignalRow(.coolant, "coolant_c", "°C", 3, -40, 215),
        SignalRow(.voltage, "voltage_v", "V", 3, 0, 66),
        SignalRow(.manifoldPressure, "map_kpa", "kPa", 3, 0, 655),
        SignalRow(.intakeAir, "intake_air_c", "°C", 3, -40, 215),
        SignalRow(.engineLoad, "load_pct", "%", 3, 0, 100),
        SignalRow(.throttle, "throttle_pct", "%", 3, 0, 100),
        SignalRow(.fuelLevel, "fuel_level_pct", "%", 3, 0, 100),
        SignalRow(.ambientAir, "ambient_c", "°C", 3, -40, 215),
        SignalRow(.latitude, "latitude_deg", "°", 7, -90, 90),
        SignalRow(.longitude, "longitude_deg", "°", 7, -180, 180),
        // The first byte of PID 03, a bit a state: 1 open loop (cold), 2 closed, 4 open (load or fuel cut), 8, 16 faults.
        SignalRow(.fuelSystemStatus, "fuel_system_status", "bits", 3, 0, 255),
        // PID 44 ends below 2.
        SignalRow(.lambda, "lambda_ratio", "1", 3, 0, 2),
        SignalRow(.shortFuelTrim, "short_fuel_trim_pct", "%", 3, -100, 100),
        SignalRow(.longFuelTrim, "long_fuel_trim_pct", "%", 3, -100, 100),
        SignalRow(.engineRunTime, "engine_run_s", "s", 3, 0, 65_535),
        SignalRow(.distanceSinceClear, "distance_since_clear_km", "km", 3, 0, 65_535),
    ]

    init(_ signal: Signal, _ key: String, _ unit: String, _ decimals: Int, _ least: Int32, _ most: Int32) {
        self.signal = signal
        self.key = key
        self.unit = unit
        self.decimals = decimals
        self.least = least
        self.most = most
    }

    /// The integer scale: 1000 for thousandths, 10 000 000 for positions.
    public var scale: Int64 { decimals == 7 ? 10_000_000 : 1_000 }

    /// The possible values as stored integers.
    public var possible: StoredRange { StoredRange(least: least * Int32(scale), most: most * Int32(scale)) }

    /// The stored integer, or nil when the value is impossible for this signal.
    public func stored(_ scaled: Int64) -> Int32? { possible.stored(scaled) }
}

/// A signal's possible values: all that a loop over readings needs of its row.
public struct StoredRange: Sendable {
    public let least: Int32
    public let most: Int32

    /// The stored integer, or nil when the value is impossible.
    @inlinable
    public func stored(_ scaled: Int64) -> Int32? {
        scaled >= Int64(least) && scaled <= Int64(most) ? Int32(truncatingIfNeeded: scaled) : nil
    }
}
