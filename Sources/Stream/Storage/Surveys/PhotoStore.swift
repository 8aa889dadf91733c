package import Postgres

/// People's photos by the digest of their content.
package enum PhotoStore {
    package struct Photo: Sendable {
        package let mediaType: String
        package let content: [UInt8]
    }

    /// Keeps a photo; the last three of a person stay.
    package static func keep(
        _ content: [UInt8], type: String, photo: String, of person: RideQueries.Key, on connection: Connection
    ) throws {
        try connection.query(
            "SELECT drover.keep_photo($1, $2, $3, $4, $5)",
            [.text(person.campus), .text(person.id), .text(photo), .text(type), .bytes(content)])
    }

    /// Nil: there is none, or the person may not see it. One may see one's own, that of the driver who has one's ride,
    /// and those of riders on one's itinerary; a dispatcher all of his campus.
    package static func photo(
        _ photo: String, for person: RideQueries.Key, isDispatcher: Bool, on connection: Connection
    ) throws -> Photo? {
        try connection.query(
            """
            SELECT p.media_type, p.content FROM drover.person_photo p
            WHERE p.campus = $1 AND p.photo = $2 AND ($4 OR p.person = $3 OR EXISTS (
                SELECT FROM drover.ride r JOIN drover.ride_vehicle v ON v.campus = r.campus AND v.vehicle = r.vehicle
                WHERE r.campus = $1 AND r.ended_at IS NULL
                    AND (r.rider = $3 AND v.driver = p.person OR v.driver = $3 AND r.rider = p.person)))
            LIMIT 1
            """, [.text(person.campus), .text(photo), .text(person.id), .bool(isDispatcher)]
        ).first.map { Photo(mediaType: try $0.text(0)!, content: try $0.bytes(1)!) }
    }
}
