package import Alerts
internal import Basics
internal import Fleet
package import Postgres
internal import Storage
package import Trips

extension Trip {
    /// For a part of a drive that lasts a day or longer: the side on which it continues. Nil: a whole drive.
    package var part: String? {
        switch (isFromBefore, goesOn) {
        case (false, false): nil
        case (true, false): "from before"
        case (false, true): "goes on"
        case (true, true): "from before, goes on"
        }
    }
}

/// A trip as people see it: a row of drover.trip_now.
package struct TripRead: Sendable {
    package let vehicle: String
    package let trip: Trip
    package let isOpen: Bool
    /// When data that came late last corrected it; nil: never.
    package let revisedMs: Int64?
    package let tag: String?
    /// Its driver does not want it counted.
    package let isDiscarded: Bool
    package let driver: String?
    package let tankMl: Int32?
    /// The settings of its driver, else of the owner, at its end; nil: nobody has any.
    package let settings: DriverSettings?
    package let figures: TripFigures
    let weather: TripWeatherRead?
    /// For readers: the weather at its start; nil: no service has told of it.
    package var weatherText: String? { weather?.text }

    /// - Parameter price: where the account has none of its own.
    package init(_ row: Row, price: FuelPrice?) throws {
        vehicle = try row.text("vehicle")!
        isOpen = try row.bool("is_open")!
        var trip = Trip(
            startMs: try row.timestampMs("start_at")!, endMs: try row.timestampMs("end_at")!,
            totals: try TotalsColumns.totals(row))
        trip.isFromBefore = try row.bool("from_before")!
        trip.goesOn = try row.bool("goes_on")!
        self.trip = trip
        revisedMs = try row.timestampMs("revised_at")
        tag = try row.text("tag")
        driver = try row.text("driver")
        isDiscarded = try row.timestampMs("discarded_at") != nil
        let own = try row.text("settings").flatMap { try? DriverSettings(text: $0) }
        settings = own
        let car = try TripRead.car(row)
        tankMl = car.tankMl
        weather = try TripWeatherRead(row)
        figures = TripFigures(trip, car: car, price: own.map(TripRead.price) ?? price)
    }

    private static func price(_ settings: DriverSettings) -> FuelPrice {
        FuelPrice(perUSGallon: Double(settings.number(.fuelPrice)) / 1_000, currency: settings.fuelCurrency)
    }

    static func car(_ row: Row) throws -> Action.Car {
        var car = Action.Car()
        func thousandths(_ column: String) throws -> Int32? {
            try row.double(column).flatMap { Decimal.scaled($0, decimals: 3) }.map { Int32(clamping: $0) }
        }
        car.fuel = try row.text("fuel").flatMap(Action.Car.Fuel.init(rawValue:))
        car.displacementCc = try row.int("displacement_cc").map { Int32(clamping: $0) }
        car.tankMl = try thousandths("tank_l")
        car.volumetricEfficiencyMilliPct = try thousandths("volumetric_efficiency_pct")
        return car
    }
}

extension TripRead {
    /// It may go on, and its car was heard of so lately that it does: one that fell silent has ended, whatever comes late.
    package func isUnderWay(nowMs: Int64, tripGapMs: Int64) -> Bool { isOpen && nowMs - trip.endMs <= tripGapMs }

    /// A page shows no more at once; the fleets that we know of have some thousands a week.
    package static let dayMax: Int64 = 20_000

    /// The trips that began in a span and are to be counted.
    /// - Parameter vehicle: empty: of all.
    package static func day(
        _ span: Range<Int64>, vehicle: String = "", _ queries: ReportQueries, price: FuelPrice?,
        on connection: Connection
    ) throws -> [TripRead] {
        try connection.query(
            queries["day_trips"],
            [.timestampMs(span.lowerBound), .timestampMs(span.upperBound), .text(vehicle), .text(""), .int8(dayMax)]
        ).map { try TripRead($0, price: price) }.filter { !$0.isDiscarded }
    }
}

/// The SQL files of Queries/reports, read once. `load` is given the folder's content by the caller.
package struct ReportQueries: Sendable {
    private let texts: [String: String]

    /// `texts` by file name without `.sql`.
    package init(_ texts: [String: String]) { self.texts = texts }

    package subscript(_ name: String) -> String {
        guard let text = texts[name] else { preconditionFailure("Queries/reports/\(name).sql is missing") }
        return text
    }
}
