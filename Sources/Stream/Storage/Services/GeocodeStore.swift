package import Codecs
internal import Fleet
package import Postgres

/// Answers of geocoding services, by the digest of the question.
package enum GeocodeStore {
    package struct Question: Sendable {
        /// The service.
        let source: String
        /// From a place to its address.
        let isReverse: Bool
        let digest: [UInt8]

        package init(source: String, isReverse: Bool, digest: [UInt8]) {
            self.source = source
            self.isReverse = isReverse
            self.digest = digest
        }

        fileprivate var key: [Parameter] { [.text(source), .bool(isReverse), .bytes(digest)] }
    }

    /// Nil: not known; nil within: there is no such place.
    package static func known(
        _ question: Question, nowMs: Int64, on connection: Connection
    ) throws -> Nominatim.Place?? {
        let row = try connection.query(
            """
            SELECT latitude, longitude, label FROM drover.geocode
            WHERE source = $1 AND is_reverse = $2 AND question = $3 AND kept_until > $4
            """, question.key + [.timestampMs(nowMs)]
        ).first
        guard let row else { return nil }
        guard let latitude = try row.int("latitude"), let longitude = try row.int("longitude"),
            let label = try row.text("label")
        else { return .some(nil) }
        return Nominatim.Place(
            position: Position(latitude: Int32(latitude), longitude: Int32(longitude)), label: label)
    }

    /// - Parameter place: nil: there is none.
    package static func keep(
        _ place: Nominatim.Place?, of question: Question, untilMs: Int64, nowMs: Int64, on connection: Connection
    ) throws {
        try connection.transaction {
            try connection.query(
                """
                INSERT INTO drover.geocode (source, is_reverse, question, latitude, longitude, label, kept_until)
                VALUES ($1, $2, $3, $4, $5, $6, $7)
                ON CONFLICT (source, is_reverse, question) DO UPDATE SET latitude = excluded.latitude,
                    longitude = excluded.longitude, label = excluded.label, kept_until = excluded.kept_until
                """,
                question.key + [
                    place.map { .int4($0.position.latitude) } ?? .null,
                    place.map { .int4($0.position.longitude) } ?? .null, .text(place?.label), .timestampMs(untilMs),
                ])
            try CacheExpiry.delete(from: .places, nowMs: nowMs, on: connection)
        }
    }
}
