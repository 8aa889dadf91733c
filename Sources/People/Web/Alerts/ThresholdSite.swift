internal import Alerts
internal import Backtesting
internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
internal import Storage
package import Telemetry

/// Pages in which thresholds are looked at, tried, tested and changed. The files of the folder stay the source.
package struct ThresholdSite: Sendable {
    static let editors: Set<Role> = [.farmer, .fleetManager, .developer, .administrator]
    /// Rules of a model apply to everybody's machines. The others change those of their own machines (drover.edits_rules).
    static let modelEditors: Set<Role> = [.developer, .administrator]
    /// Machines of a keeper's that a rule can be given to at once.
    static let machinesMax: Int64 = 500

    let door: Door
    let assets: AssetFiles
    let queries: ReportQueries
    let desk: RuleDesk
    let log: Log

    package init(door: Door, assets: AssetFiles, queries: ReportQueries, desk: RuleDesk, log: Log) {
        self.door = door
        self.assets = assets
        self.queries = queries
        self.desk = desk
        self.log = log
    }

    package func add(to router: inout Router) {
        router.add("GET", "/thresholds") { request in
            door.page(request, for: ThresholdSite.editors) { caller, connection in
                try withFolder(caller) { folder in try list(caller, folder, connection) }
            }
        }
        router.add("GET", "/thresholds/tests") { request in
            door.page(request, for: ThresholdSite.editors) { caller, _ in
                try withFolder(caller) { folder in try tests(caller, folder) }
            }
        }
        router.add("GET", "/thresholds/{kind}/{of}") { request in
            door.page(request, for: ThresholdSite.editors) { caller, connection in
                try withFolder(caller) { folder in try parameters(request, caller, folder, connection) }
            }
        }
        router.add("GET", "/thresholds/{kind}/{of}/{parameter}") { request in
            door.page(request, for: ThresholdSite.editors) { caller, connection in
                try withFolder(caller) { folder in try parameter(request, caller, folder, connection) }
            }
        }
        router.add("POST", "/thresholds/{kind}/{of}/{parameter}") { request in
            door.form(request, for: ThresholdSite.editors) { caller, fields, connection in
                try withFolder(caller) { _ in try change(request, caller, fields, connection) }
            }
        }
    }

    private func tests(_ caller: PageCaller, _ folder: RuleFolder) throws -> Response {
        let run = RuleTestRun(try desk.tests(), by: try desk.load(folder))
        return shown(
            "Rule tests", caller, "<p><a href=\"/thresholds\">All thresholds</a></p>\n" + ThresholdPages.tests(run))
    }

    private func parameters(
        _ request: Request, _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection
    ) throws -> Response {
        guard let of = try of(request, folder, connection) else { return ThresholdSite.unknown }
        let mayEdit = try of.isEdited(on: connection)
        let own = try mayEdit ? [] : of.model.map { try machines($0, but: "", connection) } ?? []
        return shown(
            "Thresholds of \(of.title)", caller,
            try ThresholdPages.parameters(
                of, try desk.load(folder), model: try model(of, connection), mayEdit: mayEdit, own: own,
                said: ThresholdPages.said(request.query, of: of)))
    }

    private func parameter(
        _ request: Request, _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection
    ) throws -> Response {
        guard let of = try of(request, folder, connection), let field = ThresholdSite.field(request)
        else { return ThresholdSite.unknown }
        guard try of.isEdited(on: connection) else { return ThresholdSite.notYours }
        let form = try form(of, field, folder, caller, connection)
        return shown("\(field.shownName) of \(of.title)", caller, form.html())
    }

    private func change(
        _ request: Request, _ caller: PageCaller, _ fields: Fields, _ connection: Connection
    ) throws -> Response {
        // One change of the files at a time, also by another server: read anew when it is ours. Who waits for a
        // publication that hangs holds a thread.
        try connection.execute("SET LOCAL lock_timeout = '5s'")
        try Turns.take(.thresholds, on: connection)
        let folder = try desk.read()
        guard let field = ThresholdSite.field(request) else { return ThresholdSite.unknown }
        guard let of = try of(request, folder, connection) else {
            // Whether there is a machine that is not one's own is not said.
            let isKnown =
                request.parameters["kind"] != "machines"
                || !caller.roles.isDisjoint(with: ThresholdSite.modelEditors)
            return isKnown ? ThresholdSite.unknown : ThresholdSite.notYours
        }
        guard try of.isEdited(on: connection) else { return ThresholdSite.notYours }
        var form = try form(of, field, folder, caller, connection)
        guard form.fill(from: fields) else { return ThresholdSite.notYours }
        return try apply(ThresholdForm.Deed(named: fields["do"]), form, folder, caller, request, connection)
    }

    static let unknown = Response.problem(
        404, type: "not-found", detail: "There are no such thresholds that are yours to change.")
    static let notYours = Response.problem(
        403, type: "not-your-rule",
        detail:
            "This rule is not yours to change, and nothing was changed. Rules of models are for developers and administrators, since they "
            + "hold for machines of everybody. Farmers and fleet managers change those of machines of their fleets: open the machine, then "
            + "Thresholds.")

    private static func field(_ request: Request) -> ThresholdField? {
        ThresholdField(name: request.parameters["parameter"]!)
    }

    /// Nil: there is no such model, or the machine is not one's to see.
    private func of(_ request: Request, _ folder: RuleFolder, _ connection: Connection) throws -> RuleDesk.Of? {
        let name = request.parameters["of"]!
        switch request.parameters["kind"] {
        case "models": return RuleDesk.models(folder).contains(name) ? .model(name) : nil
        case "machines":
            guard let vehicle = VehicleID(name),
                try connection.query(queries["vehicle_kinds"], [.text(name)]).contains(where: {
                    try $0.word("kind") == VehicleKind.machine
                })
            else { return nil }
            return .machine(vehicle)
        default: return nil
        }
    }

    /// The reader's machines of a model.
    private func machines(_ model: String, but vehicle: String, _ connection: Connection) throws -> [VehicleID] {
        try connection.query(
            queries["rule_machines"], [.text(model), .text(vehicle), .int8(ThresholdSite.machinesMax)]
        ).compactMap { try VehicleID($0.text("vehicle")!) }
    }

    /// The model whose rules apply where a machine has none of its own.
    func model(_ of: RuleDesk.Of, _ connection: Connection) throws -> String? {
        guard let vehicle = of.vehicle else { return of.model }
        return try connection.query(queries["machine"], [.text(vehicle.text)]).first?.text("model")
    }

    private func form(
        _ of: RuleDesk.Of, _ field: ThresholdField, _ folder: RuleFolder, _ caller: PageCaller, _ connection: Connection
    ) throws -> ThresholdForm {
        let rules = try desk.load(folder)
        let own = of.vehicle.map { rules.machines[$0] ?? [] } ?? rules.models[of.model!] ?? []
        let model = try model(of, connection)
        var form = ThresholdForm(
            of: of, field: field, model: model, standing: own.first { $0.field == field },
            ofModel: model.flatMap { rules.models[$0] }?.first { $0.field == field },
            version: try ThresholdForm.version(field, folder.files[of.file], of.file), caller: caller)
        form.hasModelFile = model.map { RuleDesk.models(folder).contains($0) } ?? false
        // Who may change the model's rule also changes many machines by it.
        if let vehicle = of.vehicle, let model, caller.roles.isDisjoint(with: ThresholdSite.modelEditors) {
            form.others = try machines(model, but: vehicle.text, connection).map { machine in
                let of = RuleDesk.Of.machine(machine)
                return ThresholdForm.Other(
                    vehicle: machine, standing: rules.machines[machine]?.first { $0.field == field },
                    version: try ThresholdForm.version(field, folder.files[of.file], of.file))
            }
        }
        return form
    }

    // MARK: Around it

    /// Files that do not load are said; what the database says is the door's to tell.
    private func withFolder(_ caller: PageCaller, _ body: (RuleFolder) throws -> Response) throws -> Response {
        do {
            return try body(try desk.read())
        } catch let error where !(error is PostgresError) {
            var response = shown(
                "Thresholds", caller,
                "<p role=\"alert\" class=\"critical\">The files of thresholds cannot be used as they stand. The last good set stays in force.</p>\n<pre class=\"scroll\" tabindex=\"0\">\(String(describing: error))</pre>"
            )
            response.status = 503
            return response
        }
    }

    func shown(_ title: String, _ caller: PageCaller, _ body: HTML, status: Int = 200) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            title.lowercased(), at: "/thresholds", main: FormPage.main(title, nil, body))
        response.status = status
        return response
    }
}
