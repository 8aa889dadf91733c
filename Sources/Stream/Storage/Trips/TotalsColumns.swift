package import Postgres
package import Trips

/// The columns that minutes, trips and days share, in the order of the tables and of `DriveTotals.visit`.
package enum TotalsColumns {
    private static let columns: [(name: String, sum: String)] = [
        ("readings", "sum"), ("disputed_readings", "sum"), ("speed_readings", "sum"), ("integrated_ms", "sum"),
        ("distance_mm", "sum"), ("idle_ms", "sum"), ("holes", "sum"), ("sharp_accelerations", "sum"),
        ("sharp_brakings", "sum"), ("max_speed_m_per_h", "max"), ("rpm_ms", "sum"), ("milli_turns", "sum"),
        ("max_rpm_milli", "max"), ("air_mg", "sum"), ("air_calculated_mg", "sum"), ("max_coolant_milli_c", "max"),
        ("min_voltage_mv", "min"), ("max_voltage_mv", "max"), ("max_acceleration_mm_per_s2", "max"),
        ("max_braking_mm_per_s2", "max"), ("acceleration_mm2_per_s3", "sum"), ("braking_mm2_per_s3", "sum"),
        ("fuel_rate_ul", "sum"), ("fuel_rate_ms", "sum"), ("burnt_air_mg", "sum"), ("air_ms", "sum"),
        ("burnt_air_calculated_mg", "sum"), ("air_calculated_ms", "sum"), ("burnt_air_per_litre_mg", "sum"),
        ("air_per_litre_ms", "sum"), ("fuel_cut_ms", "sum"),
    ]

    package static let names = columns.map(\.name)
    /// `sum(x)::bigint AS x, max(y)::bigint AS y, …`
    package static let sums = columns.map { "\($0.sum)(\($0.name))::bigint AS \($0.name)" }.joined(separator: ", ")

    package static func totals(_ row: Row) throws -> DriveTotals {
        var column = try row.index(of: names[0])
        return try DriveTotals { () throws -> Int64? in
            defer { column += 1 }
            return try row.int(column).map { Int64($0) }
        }
    }
}
