internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
internal import Telemetry

/// Sets a car's driver where no phone tells it: on the car's page, for its keeper.
extension VehicleRoutes {
    static let assigners: Set<Role> = [.farmer, .driver, .fleetManager, .operator, .administrator]
    private static let nobody = ""

    /// Nil: the caller may not assign it.
    static func assignable(_ vehicle: VehicleID, _ caller: PageCaller, _ connection: Connection) throws -> Assignable? {
        caller.roles.isDisjoint(with: assigners) ? nil : try Assignable.read(vehicle, on: connection)
    }

    static func assignment(_ vehicle: VehicleID, _ known: Assignable?, _ caller: PageCaller) -> HTML {
        guard let known else { return "" }
        let drivers = [(value: nobody, text: t("nobody"))] + known.accounts.map { (value: $0, text: $0) }
        return
            "<h2>Who drives it</h2>\n<p>From now on its drives are judged by the driver's limits, and are theirs to see; drives that somebody's phone uploads are who drove them.</p>\n"
            + FormView.form(
                "/vehicles/\(URLText.escaped(vehicle.text))/assign",
                [
                    .hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "id", value: AlertAction.newID()),
                    .choice(name: "driver", label: t("Driver"), of: drivers, chosen: known.assigned ?? nobody),
                ], t("Assign it"), id: "assign")
    }

    func assign(
        _ text: String, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Step {
        guard let vehicle = VehicleID(text), let known = try Assignable.read(vehicle, on: connection) else {
            return .answer(VehicleRoutes.notYours)
        }
        guard let id = fields["id"].flatMap(VehicleRoutes.valid), let driver = fields["driver"] else {
            return .answer(DriveRoutes.noForm)
        }
        guard driver == VehicleRoutes.nobody || known.accounts.contains(driver) else {
            return .answer(
                .problem(
                    422, type: "form",
                    detail:
                        "Nothing was changed: a car is assigned to you or to a driver of its fleets. Choose one of the list."
                ))
        }
        let action = Action(
            id: id, vehicle: vehicle, ts: Clock.nowMs(), by: caller.account, note: nil,
            kind: .assignment(driver: driver == VehicleRoutes.nobody ? nil : driver))
        return .push(action, isCar: true, said: "assigned")
    }
}
