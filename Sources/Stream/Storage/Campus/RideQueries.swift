internal import Codecs
package import Fleet
internal import Pipeline
package import Postgres

/// A ride as its rider is told it, with the vehicle and driver who take it.
package struct RideNow: Equatable, Sendable {
    package struct Carrier: Equatable, Sendable {
        package let vehicle, driver, driverName: String
        package let driverPhoto: String?
        package let place: Position
        package let seenMs: Int64
        /// The vehicle was seen too long ago to say where it is.
        package let isSilent: Bool
        /// Silent with passengers on board: somebody must look after them.
        package let isAlarmed: Bool
    }

    package let pickup: RideRecord.Pickup
    package let state: RideState
    package let reason: String?
    package let placeInLine: Int?
    package let requestedMs, signMs: Int64
    package let pickupMs, dropoffMs, endedMs: Int64?
    /// Nil: no vehicle has it.
    package let carrier: Carrier?

    package var isOutstanding: Bool { endedMs == nil }
}

/// A ride vehicle as people are told it.
package struct VehicleNow: Equatable, Sendable {
    package let vehicle, driver, driverName: String
    package let driverPhoto: String?
    package let state: RideVehicleState
    package let capacity, onBoard: Int
    package let place: Position
    package let seenMs, signMs: Int64
    package let isAlarmed: Bool
    /// It was seen too long ago to say where it is.
    package let isSilent: Bool
    /// `request p` or `request d`, in order.
    package let stops: [String]
}

/// Queries of the endpoints of apps. Each statement sees one moment.
package enum RideQueries {
    /// How far the partitions of the dispatch topic are decided: PARTITION OFFSET.
    package static let channel = "drover_dispatch_progress"

    package struct Key: Hashable, Sendable {
        package let campus, id: String
        package init(_ campus: String, _ id: String) { (self.campus, self.id) = (campus, id) }
    }

    /// By partition, the offset up to which all records are decided and in the tables.
    package static func progress(on connection: Connection) throws -> [Int32: Int64] {
        let rows = try connection.query(
            "SELECT partition, replay_offset FROM drover.partition_progress WHERE topic = $1", [.text(Topic.dispatch)])
        return Dictionary(uniqueKeysWithValues: try rows.map { (Int32(try $0.int(0)!), Int64(try $0.int(1)!)) })
    }

    /// The offset of each campus's last record that changed something of it.
    package static func offsets(_ campuses: Set<String>, on connection: Connection) throws -> [String: Int64] {
        let rows = try connection.query(
            "SELECT campus, record_offset FROM drover.campus WHERE campus = ANY($1)", [.textArray(campuses.sorted())])
        return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text(0)!, Int64(try $0.int(1)!)) })
    }

    /// The record that said last where the campus lies; nil: there is no such campus.
    package static func settings(_ campus: String, on connection: Connection) throws -> CampusSettings? {
        let rows = try connection.query("SELECT settings FROM drover.campus WHERE campus = $1", [.text(campus)])
        return try rows.first.flatMap { try settings(campus, text: $0.text(0)!) }
    }

    private static func settings(_ campus: String, text: String) throws -> CampusSettings? {
        let decoded = try unsafe TickOrRecord(Array(text.utf8), key: Array(campus.utf8), RideRecords.decode)
        guard case .record(let said) = decoded, case .campus(let settings) = said.kind else { return nil }
        return settings
    }

    /// The newest profile of a person on the log.
    package static func profile(_ key: Key, on connection: Connection) throws -> RideRecord.Person? {
        try connection.query(
            "SELECT name, photo FROM drover.rider WHERE campus = $1 AND rider = $2", [.text(key.campus), .text(key.id)]
        ).first.map { RideRecord.Person(name: try $0.text(0)!, photo: try $0.text(1)) }
    }

    /// The facts, of one moment, that speak for or against a new ride.
    package struct Grounds: Sendable {
        package let settings: CampusSettings
        /// Seats of the largest vehicle in service; nil: none is.
        package let seatsMax: Int?
        /// Another ride of the rider is outstanding.
        package let hasRide: Bool
        /// The rider has said a profile.
        package let hasProfile: Bool
    }

    /// Nil: there is no such campus.
    package static func grounds(_ rider: Key, on connection: Connection) throws -> Grounds? {
        let rows = try connection.query(
            """
            SELECT c.settings,
                (SELECT max(v.capacity) FROM drover.ride_vehicle v WHERE v.campus = c.campus AND v.state = 'in_service'),
                EXISTS (SELECT FROM drover.ride r
                    WHERE r.campus = c.campus AND r.rider = $2 AND r.ended_at IS NULL),
                EXISTS (SELECT FROM drover.rider p WHERE p.campus = c.campus AND p.rider = $2)
            FROM drover.campus c WHERE c.campus = $1
            """, [.text(rider.campus), .text(rider.id)])
        guard let row = rows.first, let settings = try settings(rider.campus, text: row.text(0)!) else { return nil }
        return Grounds(
            settings: settings, seatsMax: try row.int(1), hasRide: try row.bool(2)!, hasProfile: try row.bool(3)!)
    }

    // MARK: Rides

    package static func ride(_ key: Key, on connection: Connection) throws -> RideNow? {
        try rides([key], on: connection)[key]
    }

    package static func rides(_ keys: [Key], on connection: Connection) throws -> [Key: RideNow] {
        let rows = try connection.query(
            select + """

                JOIN unnest($1::text[], $2::text[]) AS asked(campus, request)
                    ON asked.campus = r.campus AND asked.request = r.request
                """, [.textArray(keys.map(\.campus)), .textArray(keys.map(\.id))])
        return try byKey(rows, "request", ride)
    }

    /// Outstanding rides, the oldest first.
    /// - Parameter rider: nil: of all riders.
    package static func outstanding(
        _ campus: String, rider: String? = nil, rowsMax: Int64 = 1_000, on connection: Connection
    ) throws -> [RideNow] {
        try connection.query(
            select + """

                WHERE r.campus = $1 AND r.ended_at IS NULL AND ($2::text IS NULL OR r.rider = $2)
                ORDER BY r.requested_at, r.request LIMIT $3
                """, [.text(campus), .text(rider), .int8(rowsMax)]
        ).map(ride)
    }

    /// The rider's last one, outstanding or over.
    package static func last(of rider: Key, on connection: Connection) throws -> RideNow? {
        try connection.query(
            select + " WHERE r.campus = $1 AND r.rider = $2 ORDER BY r.requested_at DESC, r.request LIMIT 1",
            [.text(rider.campus), .text(rider.id)]
        ).first.map(ride)
    }

    /// The rider's rides that came to their destination, the newest first.
    package static func done(of rider: Key, rowsMax: Int64, on connection: Connection) throws -> [RideNow] {
        try connection.query(
            select + """
                 WHERE r.campus = $1 AND r.rider = $2 AND r.state = 'done' ORDER BY r.requested_at DESC, r.request LIMIT $3
                """, [.text(rider.campus), .text(rider.id), .int8(rowsMax)]
        ).map(ride)
    }

    private static let select = """
        SELECT r.*, v.driver, v.driver_name, v.driver_photo, v.latitude_deg, v.longitude_deg, v.seen_at,
            v.is_silent, v.is_alarmed
        FROM drover.ride r LEFT JOIN drover.ride_vehicle v ON v.campus = r.campus AND v.vehicle = r.vehicle
        """

    private static func ride(_ row: Row) throws -> RideNow {
        var pickup = RideRecord.Pickup(
            request: try row.text("request")!, rider: try row.text("rider")!,
            passengers: try row.int("passengers")!, from: try RideStore.place(row, "from_"),
            to: try RideStore.place(row, "to_"))
        pickup.fromAddress = try row.text("from_address")
        pickup.toAddress = try row.text("to_address")
        pickup.description = try row.text("description")
        var carrier: RideNow.Carrier?
        if let vehicle = try row.text("vehicle"), let driver = try row.text("driver") {
            carrier = RideNow.Carrier(
                vehicle: vehicle, driver: driver, driverName: try row.text("driver_name")!,
                driverPhoto: try row.text("driver_photo"), place: try RideStore.place(row, ""),
                seenMs: try row.timestampMs("seen_at")!, isSilent: try row.bool("is_silent")!,
                isAlarmed: try row.bool("is_alarmed")!)
        }
        return RideNow(
            pickup: pickup, state: try row.word("state")!, reason: try row.text("reason"),
            placeInLine: try row.int("place_in_line"), requestedMs: try row.timestampMs("requested_at")!,
            signMs: try row.timestampMs("sign_at")!, pickupMs: try row.timestampMs("pickup_at"),
            dropoffMs: try row.timestampMs("dropoff_at"), endedMs: try row.timestampMs("ended_at"), carrier: carrier)
    }

    // MARK: Vehicles

    /// Those that are not out, by name.
    package static func vehicles(_ campus: String, on connection: Connection) throws -> [VehicleNow] {
        try connection.query(
            selectVehicle + " WHERE v.campus = $1 AND v.state <> 'out' ORDER BY v.vehicle", [.text(campus)]
        ).map(vehicle)
    }

    package static func vehicle(_ key: Key, on connection: Connection) throws -> VehicleNow? {
        try vehicles([key], on: connection)[key]
    }

    package static func vehicles(_ keys: [Key], on connection: Connection) throws -> [Key: VehicleNow] {
        let rows = try connection.query(
            selectVehicle + """

                JOIN unnest($1::text[], $2::text[]) AS asked(campus, vehicle)
                    ON asked.campus = v.campus AND asked.vehicle = v.vehicle
                """, [.textArray(keys.map(\.campus)), .textArray(keys.map(\.id))])
        return try byKey(rows, "vehicle", vehicle)
    }

    private static func byKey<Item>(_ rows: Rows, _ id: String, _ read: (Row) throws -> Item) throws -> [Key: Item] {
        Dictionary(
            try rows.map { row in (Key(try row.text("campus")!, try row.text(id)!), try read(row)) }
        ) { first, _ in first }
    }

    /// The vehicle that this driver has brought into service and not out of it.
    package static func vehicle(ofDriver driver: Key, on connection: Connection) throws -> VehicleNow? {
        try connection.query(
            selectVehicle + """
                 WHERE v.campus = $1 AND v.driver = $2 AND v.state <> 'out' ORDER BY v.sign_at DESC, v.vehicle LIMIT 1
                """, [.text(driver.campus), .text(driver.id)]
        ).first.map(vehicle)
    }

    private static let selectVehicle = """
        SELECT v.*, array_to_string(v.stops, ',') AS stops_text, (
            SELECT coalesce(sum(r.passengers), 0) FROM drover.ride r
            WHERE r.campus = v.campus AND r.vehicle = v.vehicle AND r.state = 'on_board') AS on_board
        FROM drover.ride_vehicle v
        """

    private static func vehicle(_ row: Row) throws -> VehicleNow {
        VehicleNow(
            vehicle: try row.text("vehicle")!, driver: try row.text("driver")!,
            driverName: try row.text("driver_name")!, driverPhoto: try row.text("driver_photo"),
            state: try row.word("state")!, capacity: try row.int("capacity")!, onBoard: try row.int("on_board")!,
            place: try RideStore.place(row, ""), seenMs: try row.timestampMs("seen_at")!,
            signMs: try row.timestampMs("sign_at")!, isAlarmed: try row.bool("is_alarmed")!,
            isSilent: try row.bool("is_silent")!,
            stops: try row.text("stops_text")!.split(separator: ",").map(String.init))
    }

    /// The riders of the vehicles' outstanding rides by request, as their profiles say.
    package static func riders(_ requests: [Key], on connection: Connection) throws -> [Key: RideRecord.Person] {
        let rows = try connection.query(
            """
            SELECT r.campus, r.request, p.name, p.photo
            FROM unnest($1::text[], $2::text[]) AS asked(campus, request)
            JOIN drover.ride r ON r.campus = asked.campus AND r.request = asked.request
            JOIN drover.rider p ON p.campus = r.campus AND p.rider = r.rider
            """, [.textArray(requests.map(\.campus)), .textArray(requests.map(\.id))])
        return Dictionary(
            try rows.map { row in
                (
                    Key(try row.text(0)!, try row.text(1)!),
                    RideRecord.Person(name: try row.text(2)!, photo: try row.text(3))
                )
            }
        ) { first, _ in first }
    }
}
