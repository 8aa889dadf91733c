internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

/// Dealers ask for machines by their ids; owners confirm, and end it.
package struct DealerRoutes: Sendable {
    static let roles: Set<Role> = [.dealer, .farmer, .fleetManager, .administrator]
    private let access: AccessControl
    private let assets: AssetFiles
    private let accountMail: AccountRoutes.AccountMail?

    /// - Parameter accountMail: nil: no mail can be sent; owners find the question on this page.
    package init(access: AccessControl, assets: AssetFiles, accountMail: AccountRoutes.AccountMail?) {
        self.access = access
        self.assets = assets
        self.accountMail = accountMail
    }

    package func add(to router: inout Router) {
        router.add("GET", "/dealers") { request in
            access.page(request, for: DealerRoutes.roles) { caller, connection in
                try page(caller, nil, connection) { request.query[$0] }
            }
        }
        router.add("POST", "/dealers/ask") { request in access.form(request, for: [.dealer], ask) }
        router.add("POST", "/dealers/confirm") { request in
            access.form(request, for: DealerRoutes.roles) { caller, fields, connection in
                try settle(
                    caller, fields, connection, t("Confirmed. The dealer sees the machine and gets its alerts.")
                ) {
                    try DealerStore.confirm($0, sharesPast: fields["past"] == "1", on: connection)
                }
            }
        }
        router.add("POST", "/dealers/end") { request in
            access.form(request, for: DealerRoutes.roles) { caller, fields, connection in
                try settle(caller, fields, connection, t("Ended. The dealer no longer sees the machine.")) {
                    try DealerStore.end($0, on: connection)
                }
            }
        }
    }

    private func ask(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let vehicle = (fields["vehicle"] ?? "").filter { $0 != " " }
        guard VehicleID.isValid(vehicle.utf8) else {
            return try page(
                caller, .fault(t("A machine’s id has 1 to 64 letters, digits, -, _ or .")), connection, status: 422)
        }
        let text = """
            The dealer \(caller.account) asks to look after your machine \(vehicle): to see it and to be told of its alerts.
            If you want that, confirm it here; if not, end it:

            \(accountMail?.address ?? "")/dealers

            Until you confirm it the dealer sees nothing of it. You can end it at any time.

            """
        let sealedMail = accountMail.map { $0.sealed("A dealer asks for \(vehicle)", text) }
        guard try DealerStore.ask(vehicle, sealedMail, on: connection) else {
            return try page(
                caller, .fault(t("50 of your requests wait for an answer. Wait for some first.")), connection,
                status: 429)
        }
        return try page(
            caller, .done(t("If there is such a machine, we asked its owner. You see it here once they confirm.")),
            connection)
    }

    private func settle(
        _ caller: PageCaller, _ fields: FormFields, _ connection: Connection, _ done: String,
        _ body: (Int64) throws -> Bool
    ) throws -> Response {
        guard let id = fields["dealership"].flatMap({ Int64($0) }), try body(id) else {
            return try page(
                caller, .fault(t("Somebody decided this already, or it is not yours to decide.")), connection,
                status: 409)
        }
        return try page(caller, .done(done), connection)
    }

    /// - Parameter asked: what stands in the address, by its name.
    private func page(
        _ caller: PageCaller, _ notice: FormView.Notice?, _ connection: Connection, status: Int = 200,
        asked: (String) -> String? = { _ in nil }
    ) throws -> Response {
        let isDealer = caller.roles.contains(.dealer)
        let list = DealerListView(
            try DealerStore.list(on: connection),
            owners: isDealer ? try DealerStore.owners(on: connection) : [:], asked: asked, caller: caller)
        let form: HTML? =
            isDealer
            ? "<section class=\"card narrow-form\"><header><h2>Ask for a machine</h2></header><div class=\"body\">\(question(caller))</div></section>"
            : nil
        var response = PageShell(caller: caller, assets: assets).page(
            t("dealers"), at: "/dealers", heading: PageHeading(t("Dealers")),
            main: FormView.said(notice, "\(form)\(list.html)"))
        response.status = status
        return response
    }

    private func question(_ caller: PageCaller) -> HTML {
        FormView.form(
            "/dealers/ask",
            [
                .hidden(name: CSRFGuard.field, value: caller.mark),
                .input(name: "vehicle", label: t("Machine’s id"), type: "text", value: "", autocomplete: "off")
                    .help(t("As its owner sees it under Vehicles")),
            ],
            t("Ask its owner"))
    }
}
