package import Codecs
package import Postgres

/// Answers of weather services, by cell and hour.
package enum WeatherHourStore {
    package struct Hour: Sendable {
        package let startMs: Int64
        /// `WeatherAnswer` as JSON.
        package let answer: String
        package let keptUntilMs: Int64

        package init(startMs: Int64, answer: String, keptUntilMs: Int64) {
            self.startMs = startMs
            self.answer = answer
            self.keptUntilMs = keptUntilMs
        }
    }

    /// The hours from the first to the last that are known and still believed, in their order.
    /// - Parameter connection: of a role that may call `drover.weather_known`.
    package static func known(
        from source: String, _ cell: WeatherCell, _ first: Int64, through last: Int64, nowMs: Int64,
        on connection: Connection
    ) throws -> [WeatherAnswer] {
        try connection.query(
            "SELECT * FROM drover.weather_known($1, $2, $3, $4, $5, $6, $7)",
            [.text(source)] + place(cell) + [.timestampMs(first), .timestampMs(last), .timestampMs(nowMs)]
        ).compactMap { WeatherAnswer(json: Array(try $0.text("answer")!.utf8)) }
    }

    /// Keeps answers. One that came after its hour had ended is not replaced by one from before.
    package static func keep(
        _ hours: [Hour], from source: String, _ cell: WeatherCell, nowMs: Int64, on connection: Connection
    ) throws {
        try connection.transaction {
            for hour in hours.sorted(by: { $0.startMs < $1.startMs }) {
                try connection.query(
                    """
                    INSERT INTO drover.weather_hour AS old (source, cell_millideg, latitude_index, longitude_index,
                        hour_at, answer, kept_until) VALUES ($1, $2, $3, $4, $5, $6, $7)
                    ON CONFLICT (source, cell_millideg, latitude_index, longitude_index, hour_at)
                    DO UPDATE SET answer = excluded.answer, kept_until = excluded.kept_until
                    WHERE old.kept_until < excluded.kept_until
                    """,
                    [.text(source)] + place(cell) + [
                        .timestampMs(hour.startMs), .text(hour.answer), .timestampMs(hour.keptUntilMs),
                    ])
            }
            try CacheExpiry.delete(from: .weather, nowMs: nowMs, on: connection)
        }
    }

    private static func place(_ cell: WeatherCell) -> [Parameter] {
        [.int4(cell.sizeMilliDeg), .int4(cell.latitudeIndex), .int4(cell.longitudeIndex)]
    }
}
