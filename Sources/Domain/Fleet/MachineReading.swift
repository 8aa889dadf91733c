import Basics

/// One reading of a machine's terminal (MTG). Fields that the box did not give are absent.
public struct MachineReading: Equatable, Sendable {
    public var vehicle: VehicleID
    /// The reading's own time, epoch milliseconds UTC.
    public var ts: Int64
    /// The submission id: of two different readings of one time the larger id counts.
    public var id: String
    /// The model exactly as in `tractors.xml`, e.g. `S690 Combine`.
    public var model: String
    public var serial: String?
    public var firmware: String?
    /// What the box calls the machine; the registration decides which vehicle it is.
    public var machineID: String?
    public var values: [MachineParameter: Int64] = [:]
    public var connectedDevices: [String]?
    public var latitude: Int32?
    public var longitude: Int32?
    /// It is expected to go on reporting: it is polled and its engine ran. Only then is its silence judged.
    public var isReporting = false
    /// Absent fields mean nothing: this is one of several readings that each tell a part of the state (ISO 15143-3).
    public var isPartial = false

    public init(vehicle: VehicleID, ts: Int64, id: String, model: String) {
        self.vehicle = vehicle
        self.ts = ts
        self.id = id
        self.model = model
    }
}

/// Parameters of a machine that can be judged or shown as one number. Times are epoch milliseconds, flags 0 or 1,
/// counts plain, everything else thousandths of its unit. The raw value is stored: rows are only ever added at the end.
public enum MachineParameter: UInt8, CaseIterable, Sendable, Hashable {
    case engineHours, engineTurnOnCount, keyTurnOnCount, fuelLevel, coolantTemperature, hydraulicOilTemperature
    case tirePressure, gpsAvailable, gpsFixTime, rdaLicense, wdtLicense, machineSync, connectedDevices
    case lastCellCallIn, lastReprogrammingStatus, lastReprogrammingTime
    /// Said by a gateway, not by the machine: whether the box that it polls answers.
    case contact
    // Cars only: judged by an account's limits (`DriverAlertFold`), never part of a machine's reading.
    case carSpeed, wheelHours, carCoolant, voltageLow, voltageHigh, troubleCode

    public enum Kind: Sendable { case number, flag, time, count }

    /// The parameters that a box itself reports.
    public static var ofBox: [MachineParameter] { ofMachines.filter { $0 != .contact } }
    /// The parameters of machines' readings.
    public static let ofMachines: [MachineParameter] = allCases.filter { !$0.isOfCars }
    public var isOfCars: Bool { rawValue >= MachineParameter.carSpeed.rawValue }

    public var row: MachineParameterRow { MachineParameterRow.table[Int(rawValue)] }

    /// What a flag says to people: a reprogramming has failed, it is not `no`.
    public func word(_ flag: Bool) -> String {
        self == .lastReprogrammingStatus ? (flag ? "done" : "failed") : flag ? "yes" : "no"
    }
}

/// One row a parameter: key on the wire, name as shown to people, unit, kind and range (in the unit).
public struct MachineParameterRow: Sendable {
    public let parameter: MachineParameter
    public let key: String
    public let name: String
    public let unit: String
    public let kind: MachineParameter.Kind
    public let least: Int64
    public let most: Int64

    static let table: [MachineParameterRow] = [
        .init(.engineHours, "engine_hours_h", "Engine Hours", "h", .number, 0, 1_000_000),
        .init(.engineTurnOnCount, "engine_turn_on_count", "Engine Turn On Count", "", .count, 0, 100_000_000),
        .init(.keyTurnOnCount, "key_turn_on_count", "Key Turn On Count", "", .count, 0, 100_000_000),
        .init(.fuelLevel, "fuel_level_gal", "Fuel Level", "US gal", .number, 0, 2_000),
        .init(.coolantTemperature, "coolant_c", "Coolant Temperature", "°C", .number, -60, 250),
        .init(.hydraulicOilTemperature, "hydraulic_oil_c", "Hydraulic Oil Temperature", "°C", .number, -60, 250),
        .init(.tirePressure, "tire_pressure_kpa", "Tire Pressure", "kPa", .number, 0, 2_000),
        .init(.gpsAvailable, "gps_available", "GPS Available", "", .flag, 0, 1),
        .init(.gpsFixTime, "gps_fix_ts", "GPS Fix Time", "", .time, 0, 0),
        .init(.rdaLicense, "rda_license", "RDA License Available", "", .flag, 0, 1),
        .init(.wdtLicense, "wdt_license", "WDT License Available", "", .flag, 0, 1),
        .init(.machineSync, "machine_sync", "Machine Sync Available", "", .flag, 0, 1),
        .init(.connectedDevices, "connected_devices", "Connected Devices", "", .count, 0, 1_000),
        .init(.lastCellCallIn, "last_cell_call_in_ts", "Last Cell Call In", "", .time, 0, 0),
        .init(.lastReprogrammingStatus, "last_reprogramming_ok", "Last Reprogramming Status", "", .flag, 0, 1),
        .init(.lastReprogrammingTime, "last_reprogramming_ts", "Last Reprogramming Time", "", .time, 0, 0),
        .init(.contact, "contact", "Contact", "", .flag, 0, 1),
        .init(.carSpeed, "speed_kmh", "Speed", "km/h", .number, 0, 400),
        .init(.wheelHours, "wheel_hours_h", "Hours at the Wheel", "h", .number, 0, 1_000_000),
        .init(.carCoolant, "coolant_c", "Engine Coolant Temperature", "°C", .number, -40, 215),
        .init(.voltageLow, "voltage_v", "Low Voltage", "V", .number, 0, 66),
        .init(.voltageHigh, "voltage_v", "High Voltage", "V", .number, 0, 66),
        .init(.troubleCode, "trouble_code", "Trouble Code", "", .flag, 0, 1),
    ]

    init(
        _ parameter: MachineParameter, _ key: String, _ name: String, _ unit: String, _ kind: MachineParameter.Kind,
        _ least: Int64, _ most: Int64
    ) {
        self.parameter = parameter
        self.key = key
        self.name = name
        self.unit = unit
        self.kind = kind
        self.least = least
        self.most = most
    }
}

extension MachineParameterRow {
    /// Whether a stored value (thousandths, a count, a flag or epoch milliseconds) can be true of this parameter.
    public func isPossible(_ value: Int64) -> Bool {
        switch kind {
        case .time: UTC.plausible.contains(value)
        case .number: value >= least * 1_000 && value <= most * 1_000
        case .flag, .count: value >= least && value <= most
        }
    }
}
