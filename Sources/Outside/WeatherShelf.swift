public import Fleet
public import Postgres
public import Wire

/// What a weather service told before and is still believed. Asks nobody outside; for any thread.
public struct WeatherShelf: Sendable {
    public let provider: WeatherProvider
    let cellMilliDeg: Int32

    public init(_ provider: WeatherProvider, cellMilliDeg: Int32) {
        (self.provider, self.cellMilliDeg) = (provider, cellMilliDeg)
    }

    func cell(_ position: Position) -> WeatherCell { WeatherCell(position, sizeMilliDeg: cellMilliDeg) }

    /// The hours from the first to the last that are known, in their order.
    ///
    /// - Parameters:
    ///   - first: start of an hour, epoch milliseconds; `last` as well.
    ///   - connection: of a role that may call `drover.weather_known`.
    public func known(
        at position: Position, from first: Int64, through last: Int64, nowMs: Int64, on connection: Connection
    ) throws -> [WeatherAnswer] {
        let cell = cell(position)
        return try connection.query(
            "SELECT * FROM drover.weather_known($1, $2, $3, $4, $5, $6, $7)",
            [
                .text(provider.rawValue), .int4(cell.sizeMilliDeg), .int4(cell.latitudeIndex),
                .int4(cell.longitudeIndex), .timestampMs(first), .timestampMs(last), .timestampMs(nowMs),
            ]
        ).compactMap { WeatherAnswer(json: Array(try $0.text("answer")!.utf8)) }
    }
}
