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
package struct ThresholdRoutes: Sendable {
    static let editors: Set<Role> = [.farmer, .fleetManager, .developer, .administrator]
    /// Rules of a model apply to everybody's machines. The others change those of their own machines (drover.edits_rules).
    static let modelEditors: Set<Role> = [.developer, .administrator]
    /// Machines of a keeper's that a rule can be given to at once.
    static let machinesMax: Int64 = 500

    let access: AccessControl
    let assets: AssetFiles
    let queries: ReportQueries
    let thresholdFiles: ThresholdFiles
    let log: Log
    let turns = RuleTrialTurns()

    package init(
        access: AccessControl, assets: AssetFiles, queries: ReportQueries, thresholdFiles: ThresholdFiles, log: Log
    ) {
        self.access = access
        self.assets = assets
        self.queries = queries
        self.thresholdFiles = thresholdFiles
        self.log = log
    }

    package func add(to router: inout Router) {
        router.add("GET", "/thresholds") { request in
            access.page(request, for: ThresholdRoutes.editors) { caller, connection in
                try withFolder(caller) { folder in try list(request, caller, folder, connection) }
            }
        }
        router.add("GET", "/thresholds/tests") { request in
            access.page(request, for: ThresholdRoutes.editors) { caller, _ in
                try withFolder(caller) { folder in try tests(caller, folder) }
            }
        }
        router.add("GET", "/thresholds/new") { request in
            access.page(request, for: ThresholdRoutes.editors) { caller, connection in
                try withFolder(caller) { folder in try new(request, caller, folder, connection) }
            }
        }
        router.add("GET", "/thresholds/{kind}/{of}") { request in
            access.page(request, for: ThresholdRoutes.editors) { caller, connection in
                try withFolder(caller) { folder in try parameters(request, caller, folder, connection) }
            }
        }
        router.add("GET", "/thresholds/{kind}/{of}/{parameter}") { request in
            access.page(request, for: ThresholdRoutes.editors) { caller, connection in
                try withFolder(caller) { folder in try parameter(request, caller, folder, connection) }
            }
        }
        router.add("GET", "/thresholds/{kind}/{of}/{parameter}/tried") { request in
            access.call(request, for: ThresholdRoutes.editors) { caller, connection in
                try withFolder(caller) { folder in try tried(request, caller, folder, connection) }
            }
        }
        router.add("POST", "/thresholds/{kind}/{of}/{parameter}") { request in
            access.form(request, for: ThresholdRoutes.editors) { caller, fields, connection in
                try withFolder(caller) { _ in try change(request, caller, fields, connection) }
            }
        }
    }

    private func tests(_ caller: PageCaller, _ folder: RuleFolder) throws -> Response {
        let run = RuleTestRun(try thresholdFiles.tests(), by: try thresholdFiles.load(folder))
        return shown(t("Rule tests"), caller, ThresholdView.tests(run))
    }

    private func parameters(
        _ request: Request, _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection
    ) throws -> Response {
        guard let of = try of(request, folder, connection) else { return ThresholdRoutes.unknown }
        let mayEdit = try of.isEdited(on: connection)
        let own = try mayEdit ? [] : of.model.map { try machines($0, but: "", connection) } ?? []
        let rules = try thresholdFiles.load(folder)
        let whose = try whose(of, connection)
        return shown(
            of.vehicle == nil ? of.title : whose, caller,
            try ThresholdView.parameters(
                of, rules, model: try model(of, connection), whose: whose, caller, mayEdit: mayEdit, own: own,
                said: ThresholdView.said(request.query, of: of)))
    }

    private func parameter(
        _ request: Request, _ caller: PageCaller, _ folder: RuleFolder, _ connection: Connection
    ) throws -> Response {
        guard let of = try of(request, folder, connection), let field = ThresholdRoutes.field(request)
        else { return ThresholdRoutes.unknown }
        guard try of.isEdited(on: connection) else { return ThresholdRoutes.notYours }
        var form = try form(of, field, folder, caller, connection)
        guard form.fill(from: request) else { return ThresholdRoutes.notYours }
        guard request.query["limit"] != nil || request.query["from"] != nil else { return shown(form) }
        // A link that tries another limit says at once what it would have raised, also without a script.
        switch edited(form, folder, isRemoval: false) {
        case .success(let edited):
            let found = try turns.taking(for: caller.account) { try self.trial(form, edited.rules, .live, connection) }
            return shown(form, tried: (found ?? nil)?.html ?? "")
        case .failure(let refused):
            form.errors = refused.errors
            return shown(form)
        }
    }

    private func change(
        _ request: Request, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        let deed = ThresholdForm.Operation(named: fields["do"])
        if deed != .attempt {
            // One change of the files at a time, also by another server: read anew when it is ours. Who waits for a
            // publication that hangs holds a thread.
            try connection.execute("SET LOCAL lock_timeout = '5s'")
            try NamedLocks.acquire(.thresholds, on: connection)
        }
        let folder = try thresholdFiles.read()
        guard let field = ThresholdRoutes.field(request) else { return ThresholdRoutes.unknown }
        guard let of = try of(request, folder, connection) else {
            // Whether there is a machine that is not one's own is not said.
            let isKnown =
                request.parameters["kind"] != "machines"
                || !caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors)
            return isKnown ? ThresholdRoutes.unknown : ThresholdRoutes.notYours
        }
        guard try of.isEdited(on: connection) else { return ThresholdRoutes.notYours }
        var form = try form(of, field, folder, caller, connection)
        guard form.fill(from: fields) else { return ThresholdRoutes.notYours }
        return try apply(deed, form, folder, caller, request, connection)
    }

    static let unknown = Response.problem(
        404, type: "not-found", detail: "There are no such thresholds that are yours to change.")
    static let notYours = Response.problem(
        403, type: "not-your-rule",
        detail:
            "This rule is not yours to change, and nothing was changed. Rules of models are for developers and administrators, since they "
            + "hold for machines of everybody. Farmers and fleet managers change those of machines of their fleets: open the machine, then "
            + "Thresholds.")

    static func field(_ request: Request) -> ThresholdField? {
        ThresholdField(name: request.parameters["parameter"]!)
    }

    /// Nil: there is no such model, or the machine is not one's to see.
    func of(_ request: Request, _ folder: RuleFolder, _ connection: Connection) throws -> ThresholdFiles
        .Subject?
    {
        let name = request.parameters["of"]!
        switch request.parameters["kind"] {
        case "models": return ThresholdFiles.models(folder).contains(name) ? .model(name) : nil
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
    func machines(_ model: String, but vehicle: String, _ connection: Connection) throws -> [VehicleID] {
        try connection.query(
            queries["rule_machines"], [.text(model), .text(vehicle), .int8(ThresholdRoutes.machinesMax)]
        ).compactMap { try VehicleID($0.text("vehicle")!) }
    }

    /// The model whose rules apply where a machine has none of its own.
    func model(_ of: ThresholdFiles.Subject, _ connection: Connection) throws -> String? {
        guard let vehicle = of.vehicle else { return of.model }
        return try connection.query(queries["machine"], [.text(vehicle.text)]).first?.text("model")
    }

    func form(
        _ of: ThresholdFiles.Subject, _ field: ThresholdField, _ folder: RuleFolder, _ caller: PageCaller,
        _ connection: Connection
    ) throws -> ThresholdForm {
        let rules = try thresholdFiles.load(folder)
        let own = of.vehicle.map { rules.machines[$0] ?? [] } ?? rules.models[of.model!] ?? []
        let model = try model(of, connection)
        var form = ThresholdForm(
            of: of, field: field, model: model, standing: own.first { $0.field == field },
            ofModel: model.flatMap { rules.models[$0] }?.first { $0.field == field },
            version: try ThresholdForm.version(field, folder.files[of.file], of.file), caller: caller)
        form.whose = try whose(of, connection)
        form.hasModelFile = model.map { ThresholdFiles.models(folder).contains($0) } ?? false
        // Who may change the model's rule also changes many machines by it.
        if let vehicle = of.vehicle, let model, caller.roles.isDisjoint(with: ThresholdRoutes.modelEditors) {
            form.others = try machines(model, but: vehicle.text, connection).map { machine in
                let of = ThresholdFiles.Subject.machine(machine)
                return ThresholdForm.Other(
                    vehicle: machine, standing: rules.machines[machine]?.first { $0.field == field },
                    version: try ThresholdForm.version(field, folder.files[of.file], of.file))
            }
        }
        return form
    }

    // MARK: Around it

    static var crumb: PageHeading.Crumb { (t("Rules"), "/thresholds") }

    /// As sentences name it: `any S690 Combine`, or a machine's name.
    func whose(_ of: ThresholdFiles.Subject, _ connection: Connection) throws -> String {
        switch of {
        case .model(let name): return ThresholdRoutes.whose(model: name)
        case .machine(let vehicle):
            return (try RuleEditStore.names(of: [vehicle], on: connection)[vehicle] ?? nil) ?? vehicle.text
        }
    }

    /// One machine is enough for an alert, however many there are.
    static func whose(model: String) -> String { t("any \(model)") }

    func counts(_ rules: RuleSet, _ caller: PageCaller, _ connection: Connection) throws -> RuleCounts {
        let sinceMs = ThresholdRoutes.days(Int(RuleListView.days), Clock.nowMs(), caller.zone)[0]
        return try RuleCounts(sinceMs: sinceMs, rules: rules, queries, on: connection)
    }

    /// Files that do not load are said; what the database says is the door's to tell.
    private func withFolder(_ caller: PageCaller, _ body: (RuleFolder) throws -> Response) throws -> Response {
        do {
            return try body(try thresholdFiles.read())
        } catch let error where !(error is PostgresError) {
            var response = shown(
                t("Rules"), crumb: nil, caller,
                "<p role=\"alert\" class=\"strip critical\">\(HTML.icon(.warn))<span>The rule files cannot be used as they stand. The last good set stays in force.</span></p>\n<pre class=\"scroll\" tabindex=\"0\">\(String(describing: error))</pre>"
            )
            response.status = 503
            return response
        }
    }

    func shown(
        _ form: ThresholdForm, _ notice: HTML = "", tried: HTML = "", asksAnyway: Bool = false, status: Int = 200
    ) -> Response {
        let words = form.words
        let isNew = form.standing == nil && form.ofModel == nil
        let pill =
            isNew
            ? HTML.pill("quiet", t("New"))
            : words.isOn ? HTML.pill("ok", t("On")) : HTML.pill("quiet", t("Shown only"))
        let whose = form.of.vehicle == nil ? form.of.title : form.whose
        return shown(
            t("\(form.field.shownName) of \(whose)"), crumb: (whose, form.of.address), status: pill, form.caller,
            form.html(notice, tried: tried, asksAnyway: asksAnyway), scripts: ["alerts/rules.js"], status: status)
    }

    func shown(
        _ title: String, crumb: PageHeading.Crumb? = crumb, status pill: HTML = "", actions: HTML = "",
        _ caller: PageCaller, _ body: HTML,
        scripts: [String] = [], status: Int = 200
    ) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            title, at: "/thresholds", heading: PageHeading(title, crumb: crumb, status: pill, actions: actions),
            scripts: scripts, main: body)
        response.status = status
        return response
    }
}
