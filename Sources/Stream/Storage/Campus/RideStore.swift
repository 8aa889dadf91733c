internal import Basics
internal import Codecs
package import Fleet
internal import Formats
package import Pipeline
package import Postgres
package import Routing

/// Campuses, rides and decisions in PostgreSQL. Decides nothing.
package enum RideStore {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// So many ended rides of a campus are remembered at a take-over.
    private static let endedMax: Int64 = 100_000

    // MARK: Taking over

    /// The campuses of a partition.
    package static func dispatchers(
        partition: Int32, on connection: Connection
    ) throws -> [String: CampusDispatcher] {
        var dispatchers: [String: CampusDispatcher] = [:]
        for row in try connection.query(
            "SELECT * FROM campus WHERE topic_partition = $1", [.int4(partition)])
        {
            let id = try row.text("campus")!
            dispatchers[id] = try dispatcher(id, row, on: connection)
        }
        return dispatchers
    }

    private static func dispatcher(_ id: String, _ row: Row, on connection: Connection) throws -> CampusDispatcher {
        let settings = try settings(id, row)
        let campus: Campus
        do {
            campus = try Campus(packed: row.bytes("state")!)
        } catch {
            throw Fault(description: "campus \(id): its stored state cannot be read: \(error)")
        }
        let dispatcher = CampusDispatcher(
            id: id, settings, campus: campus, offset: Int64(try row.int("record_offset")!),
            rides: try rides(id, on: connection), vehicles: try vehicles(id, on: connection),
            ended: try ended(id, on: connection), learned: try learned(id, row))
        guard let dispatcher else { throw Fault(description: "campus \(id): its stored state does not fit its rides") }
        return dispatcher
    }

    package static func settings(_ id: String, _ row: Row) throws -> CampusSettings {
        let record = Array(try row.text("settings")!.utf8)
        let decoded = try unsafe TickOrRecord(record, key: Array(id.utf8), RideRecords.decode)
        guard case .record(let said) = decoded, case .campus(let settings) = said.kind else {
            throw Fault(description: "campus \(id): its stored settings are none; see the table drover.campus")
        }
        return settings
    }

    private static func learned(_ id: String, _ row: Row) throws -> CampusDispatcher.Learned? {
        guard let packed = try row.bytes("likelihoods") else { return nil }
        do {
            var learned = CampusDispatcher.Learned(likelihoods: try Likelihoods(packed: packed))
            learned.hourMs = try row.timestampMs("hour_at")
            learned.speedKmh = try row.double("hour_speed_kmh").map { Int64(($0 * 1_000).rounded()) }
            return learned
        } catch {
            throw Fault(description: "campus \(id): what it learned cannot be read: \(error)")
        }
    }

    /// The likelihoods that a campus learned of its places, with where its grid lies; nil: there is no such campus.
    package static func likelihoods(
        of campus: String, on connection: Connection
    ) throws -> (likelihoods: Likelihoods, area: CampusArea, nowMs: Int64)? {
        guard let row = try connection.query("SELECT * FROM campus WHERE campus = $1", [.text(campus)]).first else {
            return nil
        }
        let settings = try settings(campus, row)
        guard let area = CampusArea(boundary: settings.boundary) else { return nil }
        let state: Campus
        do { state = try Campus(packed: row.bytes("state")!) } catch {
            throw Fault(description: "campus \(campus): its stored state cannot be read: \(error)")
        }
        let known = try learned(campus, row)?.likelihoods
        return (known ?? Likelihoods(halfLifeMs: settings.halfLifeMs), area, state.nowMs)
    }

    private static func rides(_ campus: String, on connection: Connection) throws -> [RideRow] {
        try connection.query("SELECT * FROM ride WHERE campus = $1 AND ended_at IS NULL", [.text(campus)]).map { row in
            var pickup = RideRecord.Pickup(
                request: try row.text("request")!, rider: try row.text("rider")!,
                passengers: try row.int("passengers")!, from: try place(row, "from_"), to: try place(row, "to_"))
            pickup.fromAddress = try row.text("from_address")
            pickup.toAddress = try row.text("to_address")
            pickup.description = try row.text("description")
            var ride = RideRow(
                pickup: pickup, requestedMs: try row.timestampMs("requested_at")!,
                state: try row.word("state")!, signMs: try row.timestampMs("sign_at")!)
            ride.vehicle = try row.text("vehicle")
            ride.placeInLine = try row.int("place_in_line")
            ride.pickupMs = try row.timestampMs("pickup_at")
            ride.dropoffMs = try row.timestampMs("dropoff_at")
            ride.reason = try row.text("reason")
            return ride
        }
    }

    private static func vehicles(_ campus: String, on connection: Connection) throws -> [RideVehicleRow] {
        try connection.query(
            "SELECT *, array_to_string(stops, ',') AS stops_text FROM ride_vehicle WHERE campus = $1", [.text(campus)]
        ).map { row in
            let person = RideRecord.Person(name: try row.text("driver_name")!, photo: try row.text("driver_photo"))
            let entered = RideRecord.InService(
                vehicle: try row.text("vehicle")!, driver: try row.text("driver")!, person: person,
                capacity: try row.int("capacity")!, place: try place(row, ""))
            var vehicle = RideVehicleRow(entered, atMs: try row.timestampMs("seen_at")!)
            vehicle.state = try row.word("state")!
            vehicle.isAlarmed = try row.bool("is_alarmed")!
            vehicle.signMs = try row.timestampMs("sign_at")!
            vehicle.isSilent = try row.bool("is_silent")!
            vehicle.stops = try row.text("stops_text")!.split(separator: ",").map(String.init)
            return vehicle
        }
    }

    private static func ended(_ campus: String, on connection: Connection) throws -> [String: Int64] {
        let rows = try connection.query(
            """
            SELECT request, ended_at FROM ride WHERE campus = $1 AND ended_at > (
                SELECT max(ended_at) - interval '1 day' FROM ride WHERE campus = $1)
            ORDER BY ended_at DESC LIMIT $2
            """, [.text(campus), .int8(endedMax)])
        return Dictionary(
            uniqueKeysWithValues: try rows.map { (try $0.text("request")!, try $0.timestampMs("ended_at")!) })
    }

    static func place(_ row: Row, _ prefix: String) throws -> Position {
        Position(
            latitude: Int32((try row.double(prefix + "latitude_deg")! * 1e7).rounded()),
            longitude: Int32((try row.double(prefix + "longitude_deg")! * 1e7).rounded()))
    }

    // MARK: Writing

    /// Precondition: within the transaction that moves the offsets.
    package static func write(_ changes: CampusPartition.Changes, partition: Int32, on connection: Connection) throws {
        for (id, dispatcher) in changes.dispatchers.sorted(by: { $0.key < $1.key }) {
            let said = RideRecord(
                id: id, campus: id, ts: max(UTC.plausible.lowerBound, dispatcher.campus.nowMs), by: "",
                kind: .campus(dispatcher.settings))
            try connection.query(
                """
                INSERT INTO campus (campus, topic_partition, name, settings, state, record_offset, likelihoods, hour_at,
                    hour_speed_kmh)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
                ON CONFLICT (campus) DO UPDATE SET topic_partition = EXCLUDED.topic_partition, name = EXCLUDED.name,
                    settings = EXCLUDED.settings, state = EXCLUDED.state, record_offset = EXCLUDED.record_offset,
                    likelihoods = EXCLUDED.likelihoods, hour_at = EXCLUDED.hour_at,
                    hour_speed_kmh = EXCLUDED.hour_speed_kmh
                """,
                [
                    .text(id), .int4(partition), .text(dispatcher.settings.name),
                    .text(String(decoding: RideRecords.encode(said), as: UTF8.self)),
                    .bytes(dispatcher.campus.packed()),
                    .int8(dispatcher.offset), .bytes(dispatcher.learned.likelihoods.packed()),
                    time(dispatcher.learned.hourMs),
                    dispatcher.learned.speedKmh.map { .float8(Double($0) / 1_000) } ?? .null,
                ])
        }
        for (key, person) in changes.profiles.sorted(by: { $0.key < $1.key }) {
            try connection.query(
                """
                INSERT INTO rider (campus, rider, name, photo) VALUES ($1, $2, $3, $4)
                ON CONFLICT (campus, rider) DO UPDATE SET name = EXCLUDED.name, photo = EXCLUDED.photo
                """, [.text(key.campus), .text(key.id), .text(person.name), .text(person.photo)])
        }
        try writeRides(changes.rides.sorted { $0.key < $1.key }, on: connection)
        for (key, row) in changes.vehicles.sorted(by: { $0.key < $1.key }) {
            try write(key.campus, row, on: connection)
        }
        for row in changes.decisions {
            try connection.query(
                """
                INSERT INTO dispatch_decision (campus, record_offset, made_at, decision, why)
                VALUES ($1, $2, $3, $4, $5::jsonb)
                ON CONFLICT (campus, record_offset) DO NOTHING
                """, [.text(row.campus), .int8(row.offset), .timestampMs(row.atMs), .text(row.text), .text(row.why)])
        }
    }

    private static func writeRides(_ rides: [(CampusPartition.RideKey, RideRow)], on connection: Connection) throws {
        for (key, ride) in rides {
            let (pickup, from, to) = (ride.pickup, ride.pickup.from, ride.pickup.to)
            let said: [Parameter] = [
                .text(key.campus), .text(key.id), .text(pickup.rider), .text(ride.state.rawValue), .text(ride.reason),
                .int4(Int32(pickup.passengers)), .text(pickup.description), degrees(from.latitude),
                degrees(from.longitude), .text(pickup.fromAddress), degrees(to.latitude), degrees(to.longitude),
                .text(pickup.toAddress), .timestampMs(ride.requestedMs),
            ]
            let decided: [Parameter] = [
                .text(ride.vehicle), ride.placeInLine.map { .int4(Int32($0)) } ?? .null, time(ride.pickupMs),
                time(ride.dropoffMs), time(ride.endedMs), .timestampMs(ride.signMs),
            ]
            try connection.query(
                """
                INSERT INTO ride (campus, request, rider, state, reason, passengers, description,
                    from_latitude_deg, from_longitude_deg, from_address, to_latitude_deg, to_longitude_deg, to_address,
                    requested_at, vehicle, place_in_line, pickup_at, dropoff_at, ended_at, sign_at)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
                ON CONFLICT (campus, request) DO UPDATE SET state = EXCLUDED.state, reason = EXCLUDED.reason,
                    from_latitude_deg = EXCLUDED.from_latitude_deg, from_longitude_deg = EXCLUDED.from_longitude_deg,
                    from_address = EXCLUDED.from_address,
                    vehicle = EXCLUDED.vehicle, place_in_line = EXCLUDED.place_in_line, pickup_at = EXCLUDED.pickup_at,
                    dropoff_at = EXCLUDED.dropoff_at, ended_at = EXCLUDED.ended_at, sign_at = EXCLUDED.sign_at
                """,
                said + decided)
        }
    }

    private static func write(_ campus: String, _ row: RideVehicleRow, on connection: Connection) throws {
        let driver: [Parameter] = [
            .text(campus), .text(row.vehicle), .text(row.driver), .text(row.person.name), .text(row.person.photo),
        ]
        let now: [Parameter] = [
            .int4(Int32(row.capacity)), degrees(row.place.latitude), degrees(row.place.longitude),
            .timestampMs(row.placeMs), .text(row.state.rawValue), .bool(row.isAlarmed), .timestampMs(row.signMs),
            .textArray(row.stops), .bool(row.isSilent),
        ]
        try connection.query(
            """
            INSERT INTO ride_vehicle (campus, vehicle, driver, driver_name, driver_photo, capacity, latitude_deg,
                longitude_deg, seen_at, state, is_alarmed, sign_at, stops, is_silent)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            ON CONFLICT (campus, vehicle) DO UPDATE SET driver = EXCLUDED.driver, driver_name = EXCLUDED.driver_name,
                driver_photo = EXCLUDED.driver_photo, capacity = EXCLUDED.capacity, latitude_deg = EXCLUDED.latitude_deg,
                longitude_deg = EXCLUDED.longitude_deg, seen_at = EXCLUDED.seen_at, state = EXCLUDED.state,
                is_alarmed = EXCLUDED.is_alarmed, sign_at = EXCLUDED.sign_at, stops = EXCLUDED.stops,
                is_silent = EXCLUDED.is_silent
            """,
            driver + now)
    }

    private static func degrees(_ stored: Int32) -> Parameter { .float8(Double(stored) / 1e7) }
    private static func time(_ ms: Int64?) -> Parameter { ms.map { .timestampMs($0) } ?? .null }

    // MARK: Out

    /// Messages to those who have to be told, and the decisions for the log.
    package static func outbox(_ changes: CampusPartition.Changes) -> [OutboxRecord] {
        let told = changes.told.map { key, ride, offset in
            OutboxRecord(
                .assignments, key: key.campus, recordID: "\(key.campus)-\(offset)-\(key.id)",
                kind: "assignment",
                fields: [
                    ("campus", .text(key.campus)), ("request", .text(key.id)), ("rider", .text(ride.pickup.rider)),
                    ("state", .text(ride.state.rawValue)), ("reason", .optional(ride.reason)),
                    ("vehicle", .optional(ride.vehicle)),
                    ("place_in_line", ride.placeInLine.map { .integer(Int64($0)) } ?? .null),
                    ("pickup_ts", ride.pickupMs.map { .integer($0) } ?? .null),
                    ("dropoff_ts", ride.dropoffMs.map { .integer($0) } ?? .null), ("offset", .integer(offset)),
                ])
        }
        let decided = changes.decisions.filter(\.isNew).map { row in
            OutboxRecord(
                .decisions, key: row.campus, recordID: "\(row.campus)-\(row.offset)", kind: "decision",
                fields: [
                    ("campus", .text(row.campus)), ("ts", .integer(row.atMs)), ("offset", .integer(row.offset)),
                    ("decision", .text(row.text)), ("why", .text(row.why)),
                ])
        }
        return told + decided
    }
}
