package import Postgres
package import Trips

/// The columns that minutes, trips and days share, in the order of the tables. One list makes the COPY rows, the
/// upserts, the sums and the reading back, so they cannot drift apart.
package enum TotalsColumns {
    enum Width { case int4, int8 }
    enum Sum: String { case sum, max, min }

    struct Column {
        let name: String
        let width: Width
        let sum: Sum
        let get: @Sendable (DriveTotals) -> Int64?
        let set: @Sendable (inout DriveTotals, Int64?) -> Void
    }

    static let all: [Column] = [
        required("readings", .int4, \.readings),
        required("disputed_readings", .int4, \.disputedReadings),
        required("speed_readings", .int4, \.speedReadings),
        required("integrated_ms", .int8, \.integratedMs),
        required("distance_mm", .int8, \.distanceMm),
        required("idle_ms", .int8, \.idleMs),
        required("holes", .int4, \.holes),
        required("sharp_accelerations", .int4, \.sharpAccelerations),
        required("sharp_brakings", .int4, \.sharpBrakings),
        peak("max_speed_m_per_h", .max, \.maxSpeedMetresPerHour),
        required("rpm_ms", .int8, \.rpmMs),
        required("milli_turns", .int8, \.milliTurns),
        peak("max_rpm_milli", .max, \.maxRpmMilli),
        optional("air_mg", \.airMg),
        optional("air_calculated_mg", \.airCalculatedMg),
        peak("max_coolant_milli_c", .max, \.maxCoolantMilliC),
        peak("min_voltage_mv", .min, \.minVoltageMv),
        peak("max_voltage_mv", .max, \.maxVoltageMv),
    ]

    package static let names = all.map(\.name)
    /// `sum(x)::bigint AS x, max(y)::bigint AS y, …`
    package static let sums = all.map { "\($0.sum.rawValue)(\($0.name))::bigint AS \($0.name)" }.joined(separator: ", ")

    package static func totals(_ row: Row) throws -> DriveTotals {
        var totals = DriveTotals()
        for column in all { column.set(&totals, try row.int(column.name).map { Int64($0) }) }
        return totals
    }

    private static func required(
        _ name: String, _ width: Width, _ path: any WritableKeyPath<DriveTotals, Int64> & Sendable
    ) -> Column {
        Column(name: name, width: width, sum: .sum, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 ?? 0 })
    }
    private static func optional(_ name: String, _ path: any WritableKeyPath<DriveTotals, Int64?> & Sendable) -> Column
    {
        Column(name: name, width: .int8, sum: .sum, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }
    private static func peak(
        _ name: String, _ sum: Sum, _ path: any WritableKeyPath<DriveTotals, Int32?> & Sendable
    ) -> Column {
        Column(
            name: name, width: .int4, sum: sum, get: { $0[keyPath: path].map { Int64($0) } },
            set: { $0[keyPath: path] = $1.map { Int32(truncatingIfNeeded: $0) } })
    }
}
