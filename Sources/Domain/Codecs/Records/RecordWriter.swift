internal import Basics
public import Fleet
internal import Formats

/// Topic records as bytes. Keys name their unit; what is unknown is absent.
public enum RecordWriter {
    /// Precondition: `by` is a name as `Tick.sender` makes them.
    public static func tick(_ ts: Int64, by: String) -> [UInt8] {
        precondition(VehicleID.isValid(by.utf8))
        return Array("{\"schema\":1,\"kind\":\"tick\",\"ts\":\(ts),\"by\":\"\(by)\"}".utf8)
    }

    /// A person sets the clock of one partition back to `ts`, who says why.
    public static func clockSet(_ ts: Int64, by: String, reason: String, id: String) -> [UInt8] {
        let fields: [JSONValue.Field] = [
            ("schema", .integer(1)), ("kind", .text(Tick.setBackKind)), ("id", .text(id)), ("ts", .integer(ts)),
            ("by", .text(by)), ("note", .text(reason)),
        ]
        return Array(JSONValue.object(fields).rendered().utf8)
    }

    /// A rule set, for every partition: in force for readings from `fromMs` on. Its form: Sources/Domain/Alerts/Rules/RuleText.swift.
    public static func rules(fromMs: Int64, version: String, text: String) -> [UInt8] {
        let fields: [JSONValue.Field] = [
            ("schema", .integer(1)), ("kind", .text("rules")), ("ts", .integer(fromMs)), ("version", .text(version)),
            ("rules", .text(text)),
        ]
        return Array(JSONValue.object(fields).rendered().utf8)
    }

    /// Precondition: `id` holds no character that JSON escapes (ids are letters, digits, `-`, `_`, `.`).
    public static func car(_ vehicle: VehicleID, _ reading: CarReading, id: String) -> [UInt8] {
        precondition(VehicleID.isValid(id.utf8))
        var json = "{\"schema\":1,\"kind\":\"reading\",\"id\":\"\(id)\",\"vehicle\":\"\(vehicle)\",\"ts\":\(reading.ts)"
        for signal in Signal.allCases {
            guard let value = reading[signal] else { continue }
            json += ",\"\(signal.row.key)\":\(Decimal.text(Int64(value), decimals: signal.row.decimals))"
        }
        return Array((json + "}").utf8)
    }

    /// Precondition: `id` is one (see `car`). The time may be impossible: the worker rejects such a reading on record.
    public static func machine(_ reading: MachineReading) -> [UInt8] {
        precondition(VehicleID.isValid(reading.id.utf8))
        var fields: [JSONValue.Field] = [
            ("schema", .integer(1)), ("kind", .text("reading")), ("id", .text(reading.id)),
            ("vehicle", .text(reading.vehicle.text)), ("ts", .integer(reading.ts)), ("model", .text(reading.model)),
        ]
        func add(_ key: String, _ value: JSONValue?) { if let value { fields.append((key, value)) } }
        add("serial", reading.serial.map(JSONValue.text))
        add("firmware", reading.firmware.map(JSONValue.text))
        add("machine_id", reading.machineID.map(JSONValue.text))
        for parameter in MachineParameter.ofMachines {
            add(parameter.row.key, reading.values[parameter].map { number($0, parameter.row.kind) })
        }
        for (signal, value) in [(Signal.latitude, reading.latitude), (.longitude, reading.longitude)] {
            add(signal.row.key, value.map { .number(Decimal.text(Int64($0), decimals: signal.row.decimals)) })
        }
        add("connected_device_names", reading.connectedDevices.map { .list($0.map(JSONValue.text)) })
        if reading.isReporting { add("reporting", .bool(true)) }
        if reading.isPartial { add("partial", .bool(true)) }
        return Array(JSONValue.object(fields).rendered().utf8)
    }

    private static func number(_ value: Int64, _ kind: MachineParameter.Kind) -> JSONValue {
        switch kind {
        case .number: .number(Decimal.text(value, decimals: 3))
        case .flag: .bool(value == 1)
        case .time, .count: .integer(value)
        }
    }
}
