package import Fleet
package import Postgres

/// A box or an adapter as it is registered, its host not yet looked up.
package struct RegisteredDevice: Sendable {
    package let kind: VehicleKind
    package let vehicle: VehicleID
    package let model: String?
    package let host: String
    package let port: UInt16
    package let certificateSHA256: String?
    package let supported: [String]?
    package let codes: Int?

    /// Nil: without a place.
    fileprivate init?(_ row: Row) throws {
        guard let vehicle = try row.text("vehicle").flatMap({ VehicleID($0) }), let host = try row.text("host"),
            let port = try row.int("port")
        else { return nil }
        kind = try row.word("kind")!
        self.vehicle = vehicle
        self.host = host
        self.port = UInt16(port)
        model = try row.text("model")
        certificateSHA256 = try row.text("certificate_sha256")
        supported = try row.textArray("pids")?.compactMap { $0 }
        codes = try row.int("codes")
    }
}

/// Somebody waits for what this box has, or for this car's health.
package struct DeviceRequest: Hashable, Sendable {
    package let kind: VehicleKind
    package let vehicle: VehicleID
    package let id: String

    package init(kind: VehicleKind, vehicle: VehicleID, id: String) {
        self.kind = kind
        self.vehicle = vehicle
        self.id = id
    }
}

/// Whom gateways are to poll, and for whom somebody waits.
package enum DeviceStore {
    package static func devices(on connection: Connection) throws -> [RegisteredDevice] {
        try connection.query(
            """
            SELECT r.kind, r.vehicle, r.model, r.host, r.port, r.certificate_sha256, s.pids,
                CASE WHEN r.kind = 'car' THEN (
                    SELECT cardinality(h.stored) FROM drover.health_scan h WHERE h.vehicle = r.vehicle AND h.is_done
                    ORDER BY h.scanned_at DESC LIMIT 1) END AS codes
            FROM drover.registration r
            LEFT JOIN drover.car_support s ON r.kind = 'car' AND s.vehicle = r.vehicle
            WHERE r.host IS NOT NULL AND NOT r.is_disabled ORDER BY r.vehicle
            """
        ).compactMap { try RegisteredDevice($0) }
    }

    package static func openRequests(on connection: Connection) throws -> Set<DeviceRequest> {
        let rows = try connection.query(
            """
            (SELECT 'machine', vehicle, request_id FROM drover.poll_request
             WHERE answered_at IS NULL AND expires_at > now() AND wants IS NULL LIMIT 1000)
            UNION ALL
            (SELECT 'car', vehicle, scan_id FROM drover.health_scan
             WHERE scanned_at IS NULL AND expires_at > now() LIMIT 1000)
            """)
        return Set(
            try rows.compactMap { row in
                let kind: VehicleKind = try row.word(0)!
                return try row.text(1).flatMap { VehicleID($0) }.map {
                    DeviceRequest(kind: kind, vehicle: $0, id: try row.text(2)!)
                }
            })
    }

    /// Debug logs that somebody waits for, whom it is over for first.
    package static func openLogRequests(on connection: Connection) throws -> [DeviceRequest] {
        try connection.query(
            """
            SELECT vehicle, request_id FROM drover.poll_request
            WHERE answered_at IS NULL AND expires_at > now() AND wants = 'debug_log' ORDER BY expires_at LIMIT 100
            """
        ).compactMap { row in
            try row.text(0).flatMap { VehicleID($0) }.map {
                DeviceRequest(kind: .machine, vehicle: $0, id: try row.text(1)!)
            }
        }
    }

    // MARK: Answers

    package struct PollAnswer: Sendable {
        package let isDone: Bool
        package let text: String
    }

    /// A gateway's answer to a request; nil: none yet.
    package static func answer(
        to request: String, of machine: VehicleID, on connection: Connection
    ) throws -> PollAnswer? {
        try connection.query(
            """
            SELECT is_done, answer FROM drover.poll_request
            WHERE vehicle = $1 AND request_id = $2 AND answered_at IS NOT NULL
            """, [.text(machine.text), .text(request)]
        ).first.map { PollAnswer(isDone: try $0.bool("is_done")!, text: try $0.text("answer")!) }
    }

    package struct ScanAnswer: Sendable {
        package let isDone: Bool
        package let text: String
        package let isLampOn: Bool?
        /// Monitors that have not finished.
        package let notReady: [String]
        package let vin, make: String?
        package let stored, pending, permanent: [String]
    }

    /// The findings of a car's scan; nil: none yet.
    package static func answer(toScan scan: String, of car: VehicleID, on connection: Connection) throws -> ScanAnswer?
    {
        try connection.query(
            """
            SELECT is_done, answer, is_lamp_on, not_ready, s.vin, stored, pending, permanent, make
            FROM drover.health_scan s LEFT JOIN (SELECT vehicle, make FROM drover.registration WHERE kind = 'car') r USING (vehicle)
            WHERE vehicle = $1 AND scan_id = $2 AND scanned_at IS NOT NULL
            """, [.text(car.text), .text(scan)]
        ).first.map { row in
            func texts(_ column: String) throws -> [String] { try row.textArray(column)?.compactMap { $0 } ?? [] }
            return ScanAnswer(
                isDone: try row.bool("is_done")!, text: try row.text("answer")!, isLampOn: try row.bool("is_lamp_on"),
                notReady: try texts("not_ready"), vin: try row.text("vin"), make: try row.text("make"),
                stored: try texts("stored"), pending: try texts("pending"), permanent: try texts("permanent"))
        }
    }

    /// The answer of a listing of vehicles, and how each is reached: the columns speak for themselves.
    /// - Parameter listing: a query of Queries/reports with its values.
    package static func reached(
        _ listing: String, _ values: [Parameter], on connection: Connection
    ) throws -> Rows {
        try connection.query(
            """
            SELECT listed.*, r.host || ':' || r.port AS address, r.certificate_sha256 IS NOT NULL AS is_encrypted
            FROM (\(listing)) AS listed LEFT JOIN drover.registration r USING (kind, vehicle)
            ORDER BY is_disabled, kind, vehicle COLLATE "C"
            """, values)
    }
}
