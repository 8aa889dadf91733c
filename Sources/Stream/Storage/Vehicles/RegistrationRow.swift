internal import Fleet
internal import Postgres

extension Action.Registration {
    /// Decodes a registration from the columns of `drover.registration` with `tank_ml` and `efficiency_milli_pct`.
    init(_ row: Row, isCar: Bool) throws {
        self.init()
        name = try row.text("name")
        model = try row.text("model")
        tags = try row.textArray("tags")!.compactMap { $0 }
        isDisabled = try row.bool("is_disabled")!
        if let host = try row.text("host") {
            address = Action.Address(
                host: host, port: Int32(try row.int("port")!), certificateSHA256: try row.text("certificate_sha256"))
        }
        guard isCar else { return }
        func integer(_ column: String) throws -> Int32? { try row.int(column).map { Int32(clamping: $0) } }
        var car = Action.Car()
        car.account = try row.text("account")
        car.vin = try row.text("vin")
        car.make = try row.text("make")
        car.fuel = try row.text("fuel").flatMap(Action.Car.Fuel.init)
        car.year = try integer("year")
        car.tankMl = try integer("tank_ml")
        car.displacementCc = try integer("displacement_cc")
        car.volumetricEfficiencyMilliPct = try integer("efficiency_milli_pct")
        self.car = car
    }
}
