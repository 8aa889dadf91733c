internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
internal import Telemetry

/// Changing what is registered, and switching a vehicle off and on.
extension VehicleRoutes {
    func edit(
        _ text: String, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Step {
        let isCar = VehicleKind(named: fields["kind"]) == .car
        guard let vehicle = VehicleID(text),
            let known = try VehicleRegistrationStore.registered(vehicle, isCar: isCar, on: connection)
        else { return .answer(VehicleRoutes.notYours) }
        func again(_ why: String, status: Int) throws -> Step {
            .answer(
                try editing(
                    caller, vehicle, isCar: isCar, known, fields, why, connection, status: status))
        }
        let form = try form(
            caller, isCar: isCar, text, basedOn: fields["based_on"] ?? "", known.registration, fields, connection)
        return try push(vehicle, form, fields, said: "changed", caller, connection) {
            try again(VehicleRoutes.why($0), status: 409)
        } wrong: {
            try again($0, status: 422)
        }
    }

    func editing(
        _ caller: PageCaller, _ vehicle: VehicleID, isCar: Bool, _ known: VehicleRegistrationStore.Registered,
        _ fields: FormFields?,
        _ why: String?, _ connection: Connection, status: Int = 200
    ) throws -> Response {
        let form = try form(
            caller, isCar: isCar, vehicle.text, basedOn: fields?["based_on"] ?? known.recordID, known.registration,
            fields,
            connection)
        let (id, address) = (
            fields?["id"].flatMap(VehicleRoutes.valid) ?? AlertAction.newID(),
            "/vehicles/\(URLText.escaped(vehicle.text))"
        )
        let crumb = (
            name: known.registration.name ?? vehicle.text, path: "\(address)?kind=\(isCar ? "car" : "machine")"
        )
        return shown(
            t("Edit"), crumb: crumb, caller, why,
            form.html(id: id, action: address + "/edit")
                + "<h2>\(known.registration.isDisabled ? t("Enable") : t("Disable"))</h2>\n"
                + VehicleRoutes.turning(known, vehicle, isCar: isCar, caller), status: status)
    }

    // MARK: On and off

    private static func turning(
        _ known: VehicleRegistrationStore.Registered, _ vehicle: VehicleID, isCar: Bool, _ caller: PageCaller
    ) -> HTML {
        let isOff = known.registration.isDisabled
        let text =
            isOff
            ? t("It is neither polled nor listed first. Everything that it said is kept.")
            : t(
                "A disabled vehicle is neither polled nor listed first. Everything that it said is kept, and it can be enabled again."
            )
        return "<p>\(text)</p>\n"
            + FormView.form(
                "/vehicles/\(URLText.escaped(vehicle.text))/switch",
                [
                    .hidden(name: CSRFGuard.field, value: caller.mark), .hidden(name: "id", value: AlertAction.newID()),
                    .hidden(name: "based_on", value: known.recordID),
                    .hidden(name: "kind", value: isCar ? "car" : "machine"),
                    .hidden(name: "to", value: isOff ? "on" : "off"),
                ], isOff ? t("Enable it") : t("Disable it"))
    }

    func turn(
        _ text: String, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Step {
        let isCar = VehicleKind(named: fields["kind"]) == .car
        guard let vehicle = VehicleID(text), let id = fields["id"].flatMap(VehicleRoutes.valid),
            let known = try VehicleRegistrationStore.registered(vehicle, isCar: isCar, on: connection)
        else { return .answer(VehicleRoutes.notYours) }
        var registration = known.registration
        registration.isDisabled = fields["to"] == "off"
        let said = registration.isDisabled ? "disabled" : "enabled"
        let outcome = try VehicleRegistrationStore.change(
            vehicle, isCar: isCar, basedOn: fields["based_on"] ?? "", record: id, fleets: nil,
            owner: registration.car?.account, on: connection)
        switch outcome {
        case .taken:
            let action = Action(
                id: id, vehicle: vehicle, ts: Clock.nowMs(), by: caller.account, note: nil,
                kind: .registration(registration))
            return .push(action, isCar: isCar, said: said)
        case .done: return .answer(VehicleRoutes.seen(vehicle, isCar: isCar, said: said))
        case .known, .changed, .waiting, .fleet, .owner, .notYours, .tooMany:
            return .answer(
                try editing(
                    caller, vehicle, isCar: isCar, known, nil, VehicleRoutes.why(outcome), connection, status: 409))
        }
    }
}
