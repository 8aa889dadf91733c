internal import Postgres

/// Takes what is kept no longer out of the caches, some rows with each write: no cache grows for ever.
enum Expired {
    enum Cache { case weather, legs, lines, places }

    private static let rowsMax: Int64 = 500

    static func delete(from cache: Cache, nowMs: Int64, on connection: Connection) throws {
        try connection.query(statement(cache), [.timestampMs(nowMs), .int8(rowsMax)])
    }

    /// Rows that another process deletes just now are left to it.
    private static func statement(_ cache: Cache) -> String {
        switch cache {
        case .weather:
            """
            DELETE FROM drover.weather_hour WHERE ctid = ANY (ARRAY (
                SELECT ctid FROM drover.weather_hour WHERE kept_until < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
            """
        case .legs:
            """
            DELETE FROM drover.travel_leg WHERE ctid = ANY (ARRAY (
                SELECT ctid FROM drover.travel_leg WHERE kept_until < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
            """
        case .lines:
            """
            DELETE FROM drover.travel_line WHERE ctid = ANY (ARRAY (
                SELECT ctid FROM drover.travel_line WHERE kept_until < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
            """
        case .places:
            """
            DELETE FROM drover.geocode WHERE ctid = ANY (ARRAY (
                SELECT ctid FROM drover.geocode WHERE kept_until < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
            """
        }
    }
}
