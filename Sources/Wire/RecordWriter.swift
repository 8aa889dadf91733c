public import Fleet

/// Topic records as bytes. Keys name their unit; what is unknown is absent.
public enum RecordWriter {
    public static func tick(_ ts: Int64) -> [UInt8] { Array("{\"schema\":1,\"kind\":\"tick\",\"ts\":\(ts)}".utf8) }

    /// A rule set, for every partition: in force for readings from `fromMs` on. See Alerts/RuleText.swift.
    public static func rules(fromMs: Int64, version: String, text: String) -> [UInt8] {
        let fields: [(String, JSONValue)] = [
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
}
