package import Postgres

/// Functions of the database that surveyors' apps may call; they read no table.
package enum SurveyReceiptStore {
    /// A receipt of a survey.
    package struct Receipt: Sendable {
        package let number: Int64
        package let receivedMs: Int64
        /// The broker has acknowledged it.
        package let isLogged: Bool
    }

    /// The state of a survey that was received.
    package struct State: Sendable {
        package let receipt: Receipt
        package let digest: [UInt8]
        /// The worker took another one of its id before.
        package let isSetAside: Bool
        /// Nil: it is not in the tables yet.
        package let version: Int?
        package let weatherMissing: Int?
    }

    /// Promises a survey, or finds the promise that is there. Nil: another one of this id was handed in before.
    package static func promise(
        site: String, survey: String, digest: [UInt8], account: String, token: String, on connection: Connection
    ) throws -> Receipt? {
        let rows = try connection.query(
            "SELECT * FROM drover.take_survey($1, $2, $3, $4, $5)",
            [.text(site), .text(survey), .bytes(digest), .text(account), .text(token)])
        guard let row = rows.first, try row.bool("is_same")! else { return nil }
        return try receipt(row)
    }

    /// Where a promised survey stands on the log.
    package struct Place: Sendable {
        package let number: Int64
        package let partition: Int32
        package let offset: Int64
        package init(_ number: Int64, partition: Int32, offset: Int64) {
            self.number = number
            self.partition = partition
            self.offset = offset
        }
    }

    package static func logged(_ places: [Place], on connection: Connection) throws {
        try connection.query(
            "SELECT drover.surveys_logged($1, $2, $3)",
            [
                .int8Array(places.map(\.number)), .int4Array(places.map(\.partition)),
                .int8Array(places.map(\.offset)),
            ])
    }

    /// Nil: the account has none.
    package static func state(
        site: String, survey: String, account: String, on connection: Connection
    ) throws -> State? {
        try connection.query(
            "SELECT * FROM drover.survey_receipt_of($1, $2, $3)", [.text(account), .text(site), .text(survey)]
        ).first.map { row in
            State(
                receipt: try receipt(row), digest: try row.bytes("digest")!, isSetAside: try row.bool("is_set_aside")!,
                version: try row.int("version"), weatherMissing: try row.int("weather_missing"))
        }
    }

    private static func receipt(_ row: Row) throws -> Receipt {
        Receipt(
            number: Int64(try row.int("number")!), receivedMs: try row.timestampMs("received_at")!,
            isLogged: try row.bool("is_logged")!)
    }

    /// False: the account has handed in too many today.
    package static func keepPhoto(
        _ content: [UInt8], type: String, photo: String, account: String, dayMax: Int32, on connection: Connection
    ) throws -> Bool {
        try connection.query(
            "SELECT drover.keep_survey_photo($1, $2, $3, $4, $5)",
            [.text(account), .text(photo), .text(type), .bytes(content), .int4(dayMax)])[0].bool(0)!
    }

    package static func openSession(token: [UInt8], session: [UInt8], on connection: Connection) throws {
        try connection.query("SELECT drover.open_survey_session($1, $2)", [.bytes(token), .bytes(session)])
    }

    /// The digest of the token that a session stands for; nil: there is no such session.
    package static func token(ofSession session: [UInt8], on connection: Connection) throws -> [UInt8]? {
        try connection.query("SELECT drover.survey_session_token($1)", [.bytes(session)])[0].bytes(0)
    }

    /// Species that are seen near there in that month, by name.
    package static func species(
        latitude: Double, longitude: Double, month: Int, on connection: Connection
    ) throws -> [String] {
        try connection.query(
            "SELECT * FROM drover.species_list($1, $2, $3)",
            [.float8(latitude), .float8(longitude), .int4(Int32(month))]
        ).map { try $0.text(0)! }
    }
}
