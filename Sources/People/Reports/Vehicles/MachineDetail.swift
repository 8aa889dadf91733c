package import Alerts
internal import Basics
internal import Codecs
package import Fleet
package import Formats
package import Postgres
internal import Storage

/// One machine as somebody of a role sees it.
package struct MachineDetail {
    /// More are not shown at once.
    private static let alertsMax: Int64 = 100

    let vehicle: String
    let name, model: String?
    /// What its box calls it; nil also where that is not for the role.
    package let machineID: String?
    private let tags: [String]
    /// A dealer's, which nobody else is shown.
    private let ownClass: String?
    private let ownTags: [String]
    let isDisabled: Bool
    package let lastMs: Int64?
    /// Nil: something judges it.
    package let notMonitored: UnmonitoredReason?
    let role: Audience
    private let shown: [ReadingColumn]
    /// The limits that judge it.
    let thresholds: [Threshold]

    /// Nil when there is no such machine.
    package init?(
        _ id: VehicleID, role: Audience, _ queries: ReportQueries, on connection: Connection
    ) throws {
        guard let row = try connection.query(queries["machine"], [.text(id.text)]).first else { return nil }
        vehicle = id.text
        self.role = role
        let model = try row.text("model")
        name = try row.text("name")
        self.model = model
        tags = try row.textArray("tags")!.compactMap { $0 }
        ownClass = try row.text("own_class")
        ownTags = try row.textArray("own_tags")!.compactMap { $0 }
        isDisabled = try row.bool("is_disabled")!
        lastMs = try row.timestampMs("last_reading_at")
        notMonitored = try UnmonitoredReason(row)
        let rules = try row.text("rules").map(RuleSet.init(text:))
        let thresholds = rules?.thresholds(of: model ?? "", id) ?? []
        self.thresholds = thresholds
        let shown = ReadingColumn.table.filter { role.seen.contains($0.audience(by: thresholds)) }
        self.shown = shown
        machineID = shown.contains { $0.name == "machine_id" } ? try row.text("machine_id") : nil
    }

    /// The small document for a field view: what is wrong, the worst first, and the latest reading.
    package func document(_ queries: ReportQueries, on connection: Connection) throws -> String {
        let alerts = try OpenAlert.read(
            ofKind: .machine, vehicle, role: role, limit: MachineDetail.alertsMax, queries, on: connection)
        let latest = try rows(before: UTC.plausible.upperBound, limit: 1, queries, connection).first
        let parameters = try latest.map { row in
            let readAt = UTC.text(try row.timestampMs("read_at")!)
            return try shown.compactMap { column -> JSONValue? in
                let value = try row.value(row.index(of: column.name))
                guard value != .null else { return nil }
                return .object([
                    ("name", .text(column.shownName)), ("key", .text(column.name)),
                    ("value", QueryOutput.json(value)), ("unit", .optional(column.unit)), ("read_at", .text(readAt)),
                ])
            }
        }
        let known: [JSONValue.Field] = [
            ("vehicle", .text(vehicle)), ("name", .optional(name)), ("model", .optional(model)),
            ("tags", .list(tags.map { .text($0) })), ("is_disabled", .bool(isDisabled)),
            ("last_updated", .optional(lastMs.map(UTC.text))), ("alerts", .list(alerts.map(\.json))),
            ("parameters", .list(parameters ?? [])),
        ]
        let own = role == .dealer ? MachineDetail.own(ownClass, ownTags) : []
        return JSONValue.object(known + own + UnmonitoredReason.fields(notMonitored)).rendered(indent: true)
    }

    /// Fields that only answers for dealers have.
    static func own(_ ownClass: String?, _ ownTags: [String]) -> [JSONValue.Field] {
        [("own_class", .optional(ownClass)), ("own_tags", .list(ownTags.map { .text($0) }))]
    }

    /// How many rules watch it.
    package var rulesCount: Int { thresholds.count { $0.judged != nil } }

    /// What is left of the hours between two services.
    package struct ServiceDue: Sendable {
        /// Negative: it is overdue.
        package let leftH: Double
        package let everyH: Double
    }

    /// Nil: no rule has services of it, or it has not said its hours.
    /// - Parameters:
    ///   - hours: of the engine, by its latest reading.
    ///   - servicedAt: engine hours of the last service; nil: none is recorded.
    package func serviceDue(hours: Double?, servicedAt: Double?) -> ServiceDue? {
        guard let hours, let servicedAt, let every = thresholds.first(where: { $0.judged == .engineHours })?.every
        else {
            return nil
        }
        let everyH = Double(every) / 1_000
        return ServiceDue(leftH: everyH - (hours - servicedAt), everyH: everyH)
    }

    /// A value of its latest reading.
    package struct Value: Sendable {
        package let name: String
        package let value: FieldValue
        package let unit: String?
        /// Nil: it is a text, or a place.
        package let parameter: MachineParameter?
        package let readMs: Int64
    }

    package func latest(_ queries: ReportQueries, on connection: Connection) throws -> [Value] {
        guard let row = try rows(before: UTC.plausible.upperBound, limit: 1, queries, connection).first else {
            return []
        }
        let readMs = try row.timestampMs("read_at")!
        return try shown.compactMap { column in
            let value = try row.value(row.index(of: column.name))
            return value == .null
                ? nil
                : Value(
                    name: column.shownName, value: value, unit: column.unit, parameter: column.parameter, readMs: readMs
                )
        }
    }

    /// The hour meter that services count by; nil: it has reported none that the asker may see.
    package static func engineHours(
        _ vehicle: VehicleID, _ queries: ReportQueries, on connection: Connection
    ) throws -> ServiceHours? {
        guard let row = try connection.query(queries["engine_hours"], [.text(vehicle.text)]).first,
            let hours = try row.double("engine_hours_h").flatMap({ Decimal.scaled($0, decimals: 3) })
        else { return nil }
        return ServiceHours(hours: hours, readMs: try row.timestampMs("read_at")!)
    }

    /// A parameter over time, with what it is judged by; values are in the stored unit.
    package struct Series: Sendable {
        package let key, name, unit: String
        /// Its limits are judged from below.
        let isLeast: Bool
        package let points: [LineChart.Point]
        package let limits: [LineChart.Limit]
    }

    static let charted: [MachineParameter] = [
        .coolantTemperature, .hydraulicOilTemperature, .tirePressure, .fuelLevel,
    ]

    /// - Parameter pieceS: readings so close together are one point.
    package func series(
        _ span: Range<Int64>, pieceS: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> [Series] {
        try series(try pieces(span, pieceS: pieceS, queries, connection))
    }

    func pieces(
        _ span: Range<Int64>, pieceS: Int64, _ queries: ReportQueries, _ connection: Connection
    ) throws -> Rows {
        try connection.query(
            queries["machine_history"],
            [.text(vehicle), .timestampMs(span.lowerBound), .timestampMs(span.upperBound), .int8(pieceS)])
    }

    /// Where it was; empty where that is not for the reader.
    func places(_ rows: Rows) throws -> [(ms: Int64, latitudeDeg: Double, longitudeDeg: Double)] {
        guard shown.contains(where: { $0.name == "latitude_deg" }) else { return [] }
        return try rows.compactMap { row in
            guard let latitude = try row.double("latitude_deg"), let longitude = try row.double("longitude_deg") else {
                return nil
            }
            return (try row.timestampMs("piece_at")!, latitude, longitude)
        }
    }

    func series(_ rows: Rows) throws -> [Series] {
        try MachineDetail.charted.compactMap { parameter in
            let key = parameter.row.key
            guard shown.contains(where: { $0.name == key }) else { return nil }
            let points = try rows.compactMap { row -> LineChart.Point? in
                guard let least = try row.double(key + "_least"), let most = try row.double(key + "_most") else {
                    return nil
                }
                return LineChart.Point(
                    ms: try row.timestampMs("piece_at")!, least: least, most: most, mean: try row.double(key + "_mean"))
            }
            return Series(
                key: key, name: parameter.row.name, unit: parameter.row.unit,
                isLeast: isJudgedFromBelow(parameter), points: points,
                limits: limits(parameter))
        }
    }

    func isJudgedFromBelow(_ parameter: MachineParameter) -> Bool {
        thresholds.first { $0.judged == parameter }?.test == .below
    }

    func limits(_ parameter: MachineParameter) -> [LineChart.Limit] {
        guard let rule = thresholds.first(where: { $0.judged == parameter }), rule.every == nil else { return [] }
        let found: [(Int64?, LineChart.Limit.Kind)] = [
            (rule.threshold, .warning), (rule.critical, .critical), (rule.recommended, .recommended),
        ]
        return found.compactMap { value, kind in value.map { LineChart.Limit(Double($0) / 1_000, kind) } }
    }

    /// Its readings, newest first.
    package func history(
        before beforeMs: Int64, limit: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> (readings: JSONValue, next: String?) {
        let rows = try rows(before: beforeMs, limit: limit, queries, connection)
        // Not the reading's id: a polled box's holds its serial number, which not everybody sees.
        let names = ["read_at", "model"] + shown.map(\.name)
        let readings = try rows.map { row in
            JSONValue.object(try names.map { ($0, QueryOutput.json(try row.value(row.index(of: $0)))) })
        }
        let isMore = Int64(rows.count) == limit
        return (.list(readings), isMore ? UTC.text(try rows[rows.count - 1].timestampMs("read_at")!) : nil)
    }

    /// A page of what it said, newest first: a row a reading, with the columns that the role sees.
    package struct History: Sendable {
        package let columns: [(name: String, unit: String?, parameter: MachineParameter?)]
        package let readings: [(readMs: Int64, model: String, values: [FieldValue])]
        /// The next page is of readings before this time; nil: this is the last one.
        package let nextMs: Int64?
    }

    package func table(
        before beforeMs: Int64, limit: Int64, _ queries: ReportQueries, on connection: Connection
    ) throws -> History {
        // One more than is shown tells whether there are more.
        let rows = try rows(before: beforeMs, limit: limit + 1, queries, connection)
        let readings = try rows.prefix(Int(limit)).map { row in
            (
                readMs: try row.timestampMs("read_at")!, model: try row.text("model") ?? "",
                values: try shown.map { try row.value(row.index(of: $0.name)) }
            )
        }
        return History(
            columns: shown.map { ($0.shownName, $0.unit, $0.parameter) }, readings: readings,
            nextMs: rows.count > limit ? readings.last?.readMs : nil)
    }

    private func rows(
        before beforeMs: Int64, limit: Int64, _ queries: ReportQueries, _ connection: Connection
    ) throws -> Rows {
        try connection.query(queries["readings"], [.text(vehicle), .timestampMs(beforeMs), .int8(limit)])
    }
}

/// A column of a stored reading, and what it is about.
struct ReadingColumn {
    let name: String
    let shownName: String
    let unit: String?
    /// The rule that decides who sees it.
    private let field: ThresholdField

    private init(_ name: String, _ shownName: String, _ unit: String?, _ field: ThresholdField) {
        self.name = name
        self.shownName = shownName
        self.unit = unit
        self.field = field
    }

    /// Times that are for whoever sees what they are the times of.
    private static let judgedWith: [MachineParameter: MachineParameter] = [
        .gpsFixTime: .gpsAvailable, .lastReprogrammingTime: .lastReprogrammingStatus,
    ]

    static let table: [ReadingColumn] =
        // Parameters that the machine itself reports.
        MachineStore.parameters.filter { $0.parameter != .contact }.map { parameter, column in
            let row = parameter.row
            let field = ThresholdField.parameter(judgedWith[parameter] ?? parameter)
            return ReadingColumn(column, row.name, row.unit.isEmpty ? nil : row.unit, field)
        } + [
            ReadingColumn("latitude_deg", "Latitude", "°", .parameter(.gpsAvailable)),
            ReadingColumn("longitude_deg", "Longitude", "°", .parameter(.gpsAvailable)),
            ReadingColumn("connected_device_names", "Connected Device Names", nil, .parameter(.connectedDevices)),
            ReadingColumn("serial", "Terminal Serial Number", nil, .serialNumber),
            ReadingColumn("firmware", "MTG Firmware Version", nil, .firmware),
            ReadingColumn("machine_id", "Machine ID", nil, .machineID),
        ]

    /// Shown to dealers but not to farmers unless the model's rule says otherwise.
    private static let dealers: [ThresholdField] = [
        .serialNumber, .firmware, .parameter(.lastCellCallIn), .parameter(.lastReprogrammingStatus),
    ]

    /// Nil: it is a text, or a place.
    var parameter: MachineParameter? { MachineStore.parameters.first { $0.column == name }?.parameter }

    func audience(by thresholds: [Threshold]) -> Audience {
        thresholds.first { $0.field == field }?.audience
            ?? (ReadingColumn.dealers.contains(field) ? .dealer : .farmer)
    }
}
