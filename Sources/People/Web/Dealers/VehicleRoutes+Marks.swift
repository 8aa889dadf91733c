internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// A dealer's own class and tags: nobody else sees, searches or counts them, so they stand in no record on the log.
extension VehicleRoutes {
    static let markers: Set<Role> = [.dealer]

    static var saidOfList: [String: String] {
        [
            "marked": t("Saved. Only you see it."),
            "asked": t("Download asked for. Its page shows what comes of it."),
        ]
    }

    func addMarks(to router: inout Router) {
        router.add("GET", "/vehicles/marks") { request in
            access.page(request, for: VehicleRoutes.markers) { caller, connection in
                let named = request.queryItems.filter { $0.name == "vehicle" }.map(\.value)
                guard let vehicles = VehicleRoutes.selected(named) else { return VehicleRoutes.noneSelected }
                return try marking(
                    caller, vehicles, AccountRoutes.next(request.query["next"]), nil, nil, connection, status: 200)
            }
        }
        router.add("POST", "/vehicles/marks") { request in access.form(request, for: VehicleRoutes.markers, mark) }
    }

    private static let noneSelected = Response.problem(
        422, type: "form",
        detail: "No machine is selected, or more than \(DealerMarkStore.machinesMax). Select them in the list first.")

    /// Nil: none, too many, or one that cannot be.
    static func selected(_ named: [String]) -> [String]? {
        let vehicles = Set(named)
        guard (1...DealerMarkStore.machinesMax).contains(vehicles.count),
            vehicles.allSatisfy({ VehicleID.isValid($0.utf8) })
        else { return nil }
        return vehicles.sorted()
    }

    private func mark(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        guard let vehicles = VehicleRoutes.selected(fields.all("vehicle")) else { return VehicleRoutes.noneSelected }
        let next = AccountRoutes.next(fields["next"])
        let change: DealerMarkStore.Change
        do throws(VehicleForm.Fault) { change = try DealerMarkForm.change(fields) } catch {
            return try marking(caller, vehicles, next, fields, error.text, connection, status: 422)
        }
        let outcome = try DealerMarkStore.change(vehicles, change, on: connection)
        switch outcome {
        case .done:
            let page = next.isEmpty ? "/vehicles" : next
            return .seeOther("\(page)\(page.contains("?") ? "&" : "?")said=marked")
        case .notYours: return VehicleRoutes.notYours
        case .tags, .tooMany:
            return try marking(caller, vehicles, next, fields, DealerMarkForm.why(outcome), connection, status: 422)
        }
    }

    /// Of one machine what it has; of several what is to change.
    private func marking(
        _ caller: PageCaller, _ vehicles: [String], _ next: String, _ fields: FormFields?, _ why: String?,
        _ connection: Connection, status: Int
    ) throws -> Response {
        let rows = try connection.query(
            queries["sticker_machines"],
            [.textArray(vehicles), .text(""), .text(""), .text(""), .text(""), .int8(Int64(vehicles.count))])
        let names = try rows.map { try $0.text("name") ?? $0.text("vehicle")! }
        guard names.count == vehicles.count else { return VehicleRoutes.notYours }
        var form = DealerMarkForm(
            caller: caller, words: try DealerWords(queries, on: connection), vehicles: vehicles, next: next)
        if let fields {
            form.typed = ["class": fields["class"], "tags": fields["tags"], "less": fields["less"]].compactMapValues {
                $0
            }
        } else if let vehicle = vehicles.first, vehicles.count == 1 {
            form.typed = try DealerMarkForm.known(vehicle, queries, connection)
        }
        let shown = names.prefix(VehicleRoutes.namesMax).joined(separator: ", ")
        let more = names.count - VehicleRoutes.namesMax
        let about: HTML = """
            <p><b>\(caller.words.count(names.count, .machine))</b>: \(more > 0 ? t("\(shown) and \(more) more") : shown).</p>
            <p class="soft small">Only you see them: neither the owner nor another dealer.</p>
            """
        return self.shown(t("Class and tags"), caller, why, about + form.html, status: status)
    }

    private static let namesMax = 10
}

extension DealerMarkForm {
    /// What the machine has.
    static func known(
        _ vehicle: String, _ queries: ReportQueries, _ connection: Connection
    ) throws -> [String: String] {
        let found = try connection.query(queries["vehicle_kinds"], [.text(vehicle)]).map(VehicleView.About.init)
        return found.first { $0.kind == .machine }.map(known) ?? [:]
    }

    static func known(_ about: VehicleView.About) -> [String: String] {
        ["class": about.ownClass ?? "", "tags": about.ownTags.joined(separator: ", ")]
    }
}
