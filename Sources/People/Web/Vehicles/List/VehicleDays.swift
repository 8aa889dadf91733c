internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// What vehicles did over two weeks, a day each, in UTC: kilometres of cars, engine hours of machines. For small pictures beside their names.
struct VehicleDays {
    static let count = 14
    /// Of more no pictures are drawn: who looks at so long a list does not look at each.
    static let vehiclesMax = 100

    /// By kind and id; those of which nothing is known are not in it.
    private let values: [String: [Double]]

    init(
        _ vehicles: [(kind: VehicleKind, vehicle: String)], nowMs: Int64, _ queries: ReportQueries,
        on connection: Connection
    ) throws {
        let asked = vehicles.prefix(VehicleDays.vehiclesMax)
        guard !asked.isEmpty else {
            values = [:]
            return
        }
        let today = CivilDate(ofMs: nowMs, zone: "UTC")
        let starts = (0..<Int64(VehicleDays.count)).map { today.moved(by: $0 + 1 - Int64(VehicleDays.count)).startMs }
        let rows = try connection.query(
            queries["vehicle_days"],
            [
                .textArray(asked.map(\.kind.rawValue)), .textArray(asked.map(\.vehicle)),
                .timestampArray(starts + [nowMs]),
            ])
        var told: [String: [Int64: Double]] = [:]
        for row in rows {
            guard let value = try row.double("value") else { continue }
            let key = VehicleDays.key(try row.word("kind")!, try row.text("vehicle")!)
            told[key, default: [:]][try row.timestampMs("at")!] = value
        }
        values = Dictionary(
            uniqueKeysWithValues: asked.compactMap { kind, vehicle in
                let key = VehicleDays.key(kind, vehicle)
                guard let told = told[key] else { return nil }
                return (key, kind == .car ? starts.map { told[$0] ?? 0 } : VehicleDays.run(told, starts + [nowMs]))
            })
    }

    private static func key(_ kind: VehicleKind, _ vehicle: String) -> String { "\(kind.rawValue) \(vehicle)" }

    /// What the hour meter went on by on each day. A machine counts from what it says first; a meter that is set back has not run.
    private static func run(_ told: [Int64: Double], _ edges: [Int64]) -> [Double] {
        zip(edges, edges.dropFirst()).map { from, until in
            guard let start = told[from], let end = told[until] else { return 0 }
            return max(0, end - start)
        }
    }

    /// Nil: nothing is known, or it stood still all the time.
    func of(_ kind: VehicleKind, _ vehicle: String) -> [Double]? {
        values[VehicleDays.key(kind, vehicle)].flatMap { days in days.contains { $0 > 0.05 } ? days : nil }
    }

    /// `312 km`, `41.5 h`
    static func total(_ days: [Double], _ kind: VehicleKind, _ units: DriverSettings.Units) -> ShownValue {
        ShownValue(days.reduce(0, +), unit: kind == .car ? "km" : "h", in: units)
    }
}
