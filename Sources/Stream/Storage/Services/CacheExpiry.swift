internal import Postgres

/// Takes what is kept no longer out of the caches of services' answers, some rows with each write: no cache grows for ever.
enum CacheExpiry {
    enum Cache: String {
        case weather = "weather_hour"
        case legs = "travel_leg"
        case lines = "travel_line"
        case places = "geocode"
    }

    private static let rowsMax: Int64 = 500

    /// Rows that another process deletes just now are left to it.
    static func delete(from cache: Cache, nowMs: Int64, on connection: Connection) throws {
        let table = cache.rawValue
        try connection.query(
            """
            DELETE FROM drover.\(table) WHERE ctid = ANY (ARRAY (
                SELECT ctid FROM drover.\(table) WHERE kept_until < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
            """, [.timestampMs(nowMs), .int8(rowsMax)])
    }
}
