package import Codecs
package import Fleet
package import Postgres
internal import Storage

/// The cache of weather answers that are still valid. Calls no service; for any thread.
package struct WeatherCache: Sendable {
    package let provider: WeatherProvider
    let cellMilliDeg: Int32

    package init(_ provider: WeatherProvider, cellMilliDeg: Int32) {
        self.provider = provider
        self.cellMilliDeg = cellMilliDeg
    }

    func cell(_ position: Position) -> WeatherCell { WeatherCell(position, sizeMilliDeg: cellMilliDeg) }

    /// The hours from the first to the last that are known, in their order.
    ///
    /// - Parameters:
    ///   - first: start of an hour, epoch milliseconds; `last` as well.
    ///   - connection: of a role that may call `drover.weather_known`.
    package func known(
        at position: Position, from first: Int64, through last: Int64, nowMs: Int64, on connection: Connection
    ) throws -> [WeatherAnswer] {
        try WeatherHourStore.known(
            from: provider.rawValue, cell(position), first, through: last, nowMs: nowMs, on: connection)
    }
}
