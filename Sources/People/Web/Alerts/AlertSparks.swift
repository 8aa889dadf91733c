internal import Alerts
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// The value that each alert is about, from the hour before it opened to the hour after, with its limit: small pictures of a list.
struct AlertSparks {
    /// Beyond so many alerts of a page none is drawn: they come the worst first.
    private static let alertsMax = 50
    /// Pieces of two minutes, as machines and minutes come; one that is missing does not break the line, half an hour does.
    private static let (pieceMs, gapPieces): (Int64, Int) = (120_000, 15)

    private let values: [String: [Double?]]

    init(_ alerts: [TriagedAlert], _ queries: ReportQueries, on connection: Connection) throws {
        let asked = alerts.prefix(AlertSparks.alertsMax).compactMap { one in
            AlertSparks.column(one).map { (one: one, column: $0) }
        }
        guard !asked.isEmpty else {
            values = [:]
            return
        }
        let rows = try connection.query(
            queries["alert_sparks"],
            [
                .textArray(asked.map(\.one.id)), .textArray(asked.map(\.one.alert.kind.rawValue)),
                .textArray(asked.map(\.one.alert.vehicle)), .textArray(asked.map(\.column)),
                .timestampArray(asked.map(\.one.alert.openedMs)),
            ])
        var read: [String: [Int64: Double]] = [:]
        for row in rows {
            guard let value = try row.double("value") else { continue }
            let piece = try row.timestampMs("at")! / AlertSparks.pieceMs
            read[try row.text("alert")!, default: [:]][piece] = value
        }
        values = read.compactMapValues(AlertSparks.line)
    }

    /// Which value is read; nil: there is none that a line could show.
    private static func column(_ one: TriagedAlert) -> String? {
        guard one.alert.test != .absent, !one.isService, one.alert.threshold != nil,
            case .parameter(let parameter)? = ThresholdField(anyName: one.alert.parameter)
        else { return nil }
        switch parameter {
        case .coolantTemperature, .hydraulicOilTemperature, .tirePressure, .fuelLevel: return parameter.row.key
        case .carSpeed: return "speed"
        case .carCoolant: return "coolant"
        case .voltageLow: return "voltage_low"
        case .voltageHigh: return "voltage_high"
        case .gpsAvailable, .contact, .lastCellCallIn, .lastReprogrammingStatus, .lastReprogrammingTime, .rdaLicense,
            .wdtLicense, .machineSync, .connectedDevices, .engineHours, .engineTurnOnCount, .keyTurnOnCount,
            .gpsFixTime, .wheelHours, .troubleCode:
            return nil
        }
    }

    /// One value is no line. Between two that are near each other it is straight.
    private static func line(_ read: [Int64: Double]) -> [Double?]? {
        let pieces = read.keys.sorted()
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else { return nil }
        var line = [Double?](repeating: nil, count: Int(last - first) + 1)
        for piece in pieces { line[Int(piece - first)] = read[piece] }
        for (from, until) in zip(pieces, pieces.dropFirst()) where until - from <= gapPieces {
            guard let start = read[from], let end = read[until] else { continue }
            for piece in from + 1..<max(from + 1, until) {
                line[Int(piece - first)] = start + (end - start) * Double(piece - from) / Double(until - from)
            }
        }
        return line
    }

    /// Nothing where nothing is known.
    func html(_ one: TriagedAlert) -> HTML {
        guard let values = values[one.id], let limit = one.alert.threshold.flatMap({ Double($0) }) else { return "" }
        return HTML.sparkline(
            values: values, limit: HTML.SparkLimit(limit, isLeast: one.alert.test == .below), width: 84, height: 28)
    }
}
