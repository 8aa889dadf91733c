internal import Fleet
package import HTTPServer
package import Ingest
internal import Postgres
internal import Presentation
package import Reports
internal import Storage
internal import Telemetry

/// Pages that add and change vehicles, and actions on one. Everything goes on the log as records, like the words of `drover vehicle`.
package struct VehicleRoutes: Sendable {
    /// Pages of their own, which an id must not hide.
    private static let reserved: Set = ["new", "marks", "stickers"]
    static let adders: Set<Role> = [.farmer, .driver, .fleetManager, .administrator]

    let access: AccessControl
    let assets: AssetFiles
    let queries: ReportQueries
    let uploads: UploadSender
    let models: ModelFileRoutes
    let mayBeAt: @Sendable (_ host: String, _ port: Int32) -> Bool
    /// Of the pages, as it is set; empty: it is not.
    let publicAddress: String
    /// The pages are reached over TLS.
    let isSecure: Bool

    package init(
        access: AccessControl, assets: AssetFiles, queries: ReportQueries, uploads: UploadSender,
        models: ModelFileRoutes, publicAddress: String, isSecure: Bool,
        mayBeAt: @escaping @Sendable (_ host: String, _ port: Int32) -> Bool
    ) {
        self.mayBeAt = mayBeAt
        self.publicAddress = publicAddress
        self.isSecure = isSecure
        self.access = access
        self.assets = assets
        self.queries = queries
        self.uploads = uploads
        self.models = models
    }

    package func add(to router: inout Router) {
        addMarks(to: &router)
        addStickers(to: &router)
        addPhotos(to: &router)
        router.add("GET", "/vehicles") { request in
            access.page(request, for: WebRoutes.fleetReaders) { caller, connection in
                let list = try VehicleListView(request, caller, nowMs: Clock.nowMs(), queries, on: connection)
                guard !list.columns.isLoose else { return .seeOther(list.path) }
                guard request.query["format"] != "csv" else {
                    return Response.text(list.csvText, type: "text/csv; charset=utf-8")
                        .with("Content-Disposition", "attachment; filename=\"vehicles.csv\"")
                }
                return PageShell(caller: caller, assets: assets).page(
                    t("vehicles"), at: "/vehicles", heading: list.heading,
                    scripts: ["live.js", "vehicles/vehicle.js", "vehicles/list.js", "vehicles/connect.js"],
                    main: list.html)
            }
        }
        router.add("GET", "/vehicle-names") { request in
            access.call(request, for: WebRoutes.fleetReaders) { caller, connection in
                try VehicleNames.found(request, caller, queries, on: connection)
            }
        }
        router.add("GET", "/vehicles/new") { request in
            access.page(request, for: VehicleRoutes.adders) { caller, connection in
                try adding(caller, isCar: VehicleKind(named: request.query["kind"]) == .car, nil, nil, connection)
            }
        }
        router.add("POST", "/vehicles/new") { request in
            register(request, for: VehicleRoutes.adders) { caller, fields, connection in
                try add(caller, fields, connection)
            }
        }
        router.add("GET", "/vehicles/{vehicle}/edit") { request in
            access.page(request, for: VehicleRoutes.adders) { caller, connection in
                let isCar = VehicleKind(named: request.query["kind"]) == .car
                guard let vehicle = VehicleID(request.parameters["vehicle"]!),
                    let known = try VehicleRegistrationStore.registered(vehicle, isCar: isCar, on: connection)
                else { return VehicleRoutes.notYours }
                return try editing(caller, vehicle, isCar: isCar, known, nil, nil, connection)
            }
        }
        router.add("POST", "/vehicles/{vehicle}/edit") { request in
            register(request, for: VehicleRoutes.adders) { caller, fields, connection in
                try edit(request.parameters["vehicle"]!, caller, fields, connection)
            }
        }
        router.add("POST", "/vehicles/{vehicle}/assign") { request in
            register(request, for: VehicleRoutes.assigners) { caller, fields, connection in
                try assign(request.parameters["vehicle"]!, caller, fields, connection)
            }
        }
        router.add("POST", "/vehicles/{vehicle}/switch") { request in
            register(request, for: VehicleRoutes.adders) { caller, fields, connection in
                try turn(request.parameters["vehicle"]!, caller, fields, connection)
            }
        }
    }

    /// A record to push after the transaction is committed, or a response to send at once.
    enum Step {
        case push(Action, isCar: Bool, said: String)
        case answer(Response)
    }

    static let notYours = Response.problem(
        404, type: "not-found", detail: "There is no such vehicle that is yours to change.")

    /// The permission is checked in the same transaction: `AccessControl.saying`.
    private func register(
        _ request: Request, for roles: Set<Role>,
        _ body: (PageCaller, FormFields, Connection) throws -> Step
    ) -> Response {
        access.saying(request, for: roles, to: uploads) { caller, fields, connection in
            switch try body(caller, fields, connection) {
            case .answer(let response): return .answer(response)
            case .push(let action, let isCar, let said):
                let upload: Upload
                do { upload = try isCar ? Upload(ofCar: action) : Upload(ofMachine: action) } catch {
                    return .answer(.problem(422, type: "form", detail: "\(error)"))
                }
                return .say(upload, then: VehicleRoutes.seen(action.vehicle!, isCar: isCar, said: said))
            }
        }
    }

    /// What its page is told that a worker has not read yet.
    static let added = "added"

    /// Back to its page.
    static func seen(_ vehicle: VehicleID, isCar: Bool, said: String, _ tab: VehicleView.Tab = .live) -> Response {
        let place = tab == .live ? "" : "&tab=\(tab.rawValue)"
        return .seeOther(
            "/vehicles/\(URLText.escaped(vehicle.text))?kind=\(isCar ? "car" : "machine")\(place)&said=\(said)")
    }

    // MARK: Adding

    private func add(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Step {
        let isCar = VehicleKind(named: fields["kind"]) == .car
        func again(_ why: String, status: Int = 422) throws -> Step {
            .answer(try adding(caller, isCar: isCar, fields, why, connection, status: status))
        }
        let text = VehicleForm.trimmed(fields["vehicle"] ?? "")
        guard let vehicle = VehicleID(text), !VehicleRoutes.reserved.contains(text) else {
            return try again(t("Not added: an id has 1 to 64 letters, digits, -, _ or ."))
        }
        guard isCar || !caller.roles.isDisjoint(with: VehicleForm.keepersOfMachines) else {
            return try again(t("Not added: drivers can add cars only."))
        }
        var known = Action.Registration()
        if isCar { known.car = Action.Car() }
        let form = try form(caller, isCar: isCar, "", basedOn: "", known, fields, connection)
        return try push(vehicle, form, fields, said: VehicleRoutes.added, caller, connection) { outcome in
            switch outcome {
            case .known:
                try again(
                    t(
                        "There is a vehicle \(vehicle.text) already. If it is yours, it is in the list; if you are its dealer, ask its owner under Dealers; else an administrator can put it into your fleet."
                    ), status: 409)
            case .taken, .done, .changed, .waiting, .fleet, .owner, .notYours, .tooMany:
                try again(VehicleRoutes.why(outcome), status: 409)
            }
        } wrong: {
            try again($0)
        }
    }

    func push(
        _ vehicle: VehicleID, _ form: VehicleForm, _ fields: FormFields, said: String, _ caller: PageCaller,
        _ connection: Connection, refused: (VehicleRegistrationStore.Outcome) throws -> Step,
        wrong: (String) throws -> Step
    ) throws -> Step {
        guard let id = fields["id"], VehicleID.isValid(id.utf8) else {
            return try wrong(t("The form has no id. Open the page again and send it from there."))
        }
        let registration: Action.Registration
        do throws(VehicleForm.Fault) { registration = try form.registration() } catch {
            return try wrong(error.text)
        }
        let outcome = try VehicleRegistrationStore.change(
            vehicle, isCar: form.isCar, basedOn: form.basedOn, record: id, fleets: Array(form.chosen.sorted()),
            owner: registration.car?.account, on: connection)
        switch outcome {
        case .taken:
            let action = Action(
                id: id, vehicle: vehicle, ts: Clock.nowMs(), by: caller.account, note: nil,
                kind: .registration(registration))
            return .push(action, isCar: form.isCar, said: said)
        case .done: return .answer(VehicleRoutes.seen(vehicle, isCar: form.isCar, said: said))
        case .known, .changed, .waiting, .fleet, .owner, .notYours, .tooMany: return try refused(outcome)
        }
    }

    static func why(_ outcome: VehicleRegistrationStore.Outcome) -> String {
        switch outcome {
        case .changed:
            t("Not saved: somebody changed this vehicle since you opened the page. Open it again.")
        case .waiting: t("Not saved: another change of this vehicle is under way. Try again in a moment.")
        case .fleet: t("Not saved: choose at least one of your fleets, or nobody would see it.")
        case .owner: t("Not saved: the owner must be you or somebody in your fleets.")
        case .tooMany:
            t("Not saved: 1,000 vehicles that you added have sent nothing yet. Ask an administrator to add this one.")
        case .taken, .done, .known, .notYours: t("Not saved: this vehicle is not yours to change.")
        }
    }

    func form(
        _ caller: PageCaller, isCar: Bool, _ vehicle: String, basedOn: String, _ known: Action.Registration,
        _ fields: FormFields?, _ connection: Connection
    ) throws -> VehicleForm {
        var form = VehicleForm(
            isCar: isCar, vehicle: vehicle, basedOn: basedOn, known: known,
            fleets: try VehicleRegistrationStore.fleets(holding: vehicle, isCar: isCar, on: connection),
            models: models.listed(),
            caller: caller)
        form.mayBeAt = mayBeAt
        if let fields { form.fill(from: fields) }
        return form
    }

    private func adding(
        _ caller: PageCaller, isCar: Bool, _ fields: FormFields?, _ why: String?, _ connection: Connection,
        status: Int = 200
    ) throws -> Response {
        let mayMachines = !caller.roles.isDisjoint(with: VehicleForm.keepersOfMachines)
        let isCar = isCar || !mayMachines
        var known = Action.Registration()
        if isCar { known.car = Action.Car() }
        let form = try form(caller, isCar: isCar, "", basedOn: "", known, fields, connection)
        let other: HTML =
            mayMachines
            ? "<p class=\"seg\"><a href=\"/vehicles/new?kind=machine\"\(" aria-current=\"page\"", if: !isCar)>\(HTML.icon(.tractor))Machine</a><a href=\"/vehicles/new?kind=car\"\(" aria-current=\"page\"", if: isCar)>\(HTML.icon(.car))Car</a></p>"
            : ""
        let title = isCar ? t("Add a car") : t("Add a machine")
        return shown(
            title, caller, why,
            "\(other)\(form.html(id: fields?["id"].flatMap(VehicleRoutes.valid) ?? AlertAction.newID(), action: "/vehicles/new"))",
            status: status)
    }

    static func valid(_ id: String) -> String? { VehicleID.isValid(id.utf8) ? id : nil }

    func shown(
        _ title: String, crumb: PageHeading.Crumb = (t("Vehicles"), "/vehicles"), _ caller: PageCaller, _ why: String?,
        _ body: HTML,
        status: Int
    ) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            title.lowercased(), at: "/vehicles", heading: PageHeading(title, crumb: crumb),
            main:
                "<section class=\"card narrow-form\"><div class=\"body\">\n\(FormView.said(why.map { .fault($0) }, body))\n</div></section>"
        )
        response.status = status
        return response
    }
}
