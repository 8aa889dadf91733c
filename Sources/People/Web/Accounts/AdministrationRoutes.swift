internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage
internal import Telemetry

/// Administrators' pages: roles of accounts, and fleets.
package struct AdministrationRoutes: Sendable {
    private let access: AccessControl
    private let assets: AssetFiles
    let accountMail: AccountRoutes.AccountMail?

    /// - Parameter accountMail: nil: no mail can be sent; administrators hand over the links of those they invite.
    package init(access: AccessControl, assets: AssetFiles, accountMail: AccountRoutes.AccountMail?) {
        (self.access, self.assets, self.accountMail) = (access, assets, accountMail)
    }

    package func add(to router: inout Router) {
        router.add("GET", "/administration") { request in
            access.page(request, for: [.administrator]) { caller, connection in
                try overview(
                    caller, nil, asked: String((request.query["q"] ?? "").prefix(100)),
                    inviting: request.query["invite"].map { _ in Invitation() }, connection)
            }
        }
        router.add("POST", "/administration/account") { request in
            access.form(request, for: [.administrator], changeAccount)
        }
        router.add("POST", "/administration/invite") { request in
            access.form(request, for: [.administrator]) { caller, fields, connection in
                try invite(request, caller, fields, connection)
            }
        }
        router.add("POST", "/administration/fleet") { request in
            access.form(request, for: [.administrator], putFleet)
        }
    }

    private func changeAccount(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response
    {
        let account = fields["account"] ?? ""
        if let said = fields["erase"], !said.isEmpty { return try erase(account, said, caller, connection) }
        let roles = Set(fields.all("role").compactMap(Role.init))
        let isDone = try AdministrationStore.change(
            account, roles: roles, isEnabled: fields["enabled"] == "1", on: connection)
        let notice: FormView.Notice =
            isDone
            ? .done(
                "\(account) saved: \(AdministrationRoutes.said(roles, fields["enabled"] == "1"))."
            )
            : .fault("Nothing was changed: no such account, or nobody would be left as administrator.")
        return try overview(caller, notice, connection, status: isDone ? 200 : 422)
    }

    private static func said(_ roles: Set<Role>, _ isEnabled: Bool) -> String {
        let names = Role.allCases.filter(roles.contains).map(\.name).joined(separator: ", ")
        return "\(names.isEmpty ? "no roles" : names); \(isEnabled ? "may log in" : "may not log in")"
    }

    /// There is no way back: the account's id is to be written once more.
    private func erase(
        _ account: String, _ said: String, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        guard said == account else {
            return try overview(
                caller, .fault("To erase \(account), type its id. Nothing was changed."), connection, status: 422)
        }
        let isDone = try AdministrationStore.erase(account, on: connection)
        let notice: FormView.Notice =
            isDone
            ? .done("\(account) erased. What they did stays, under this id.")
            : .fault("Nothing was changed: no such account, or nobody would be left as administrator.")
        return try overview(caller, notice, connection, status: isDone ? 200 : 422)
    }

    private func putFleet(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let fleet = fields["fleet"] ?? ""
        func again(_ text: String) throws -> Response {
            try overview(caller, .fault(text + " Nothing was changed."), connection, status: 422)
        }
        guard VehicleID.isValid(fleet.utf8) else {
            return try again("A fleet’s id has 1 to 64 letters, digits, -, _ or .")
        }
        let name = (fields["name"] ?? "").isEmpty ? fleet : fields["name"]!
        guard name.utf8.count <= 200 else { return try again("A fleet’s name has at most 200 bytes.") }
        var vehicles: [String] = []
        for kind in VehicleKind.allCases {
            for vehicle in AdministrationRoutes.words(fields[kind.rawValue + "s"]) {
                guard VehicleID.isValid(vehicle.utf8) else { return try again("`\(vehicle)` is not a vehicle’s id.") }
                vehicles.append("\(kind.rawValue) \(vehicle)")
            }
        }
        let members = AdministrationRoutes.words(fields["members"])
        guard vehicles.count <= 100_000, members.count <= 10_000 else { return try again("That is too many.") }
        let partOf = (fields["part_of"] ?? "").isEmpty ? nil : fields["part_of"]
        let row = AdministrationStore.FleetRow(
            fleet: fleet, name: name, partOf: partOf, to: vehicles, members: members)
        let logins = try AdministrationStore.logins(on: connection)
        guard try AdministrationStore.put(row, on: connection) else {
            return try again("One of these accounts or fleets does not exist, or fleets would be nested twice.")
        }
        let ended = logins.subtracting(try AdministrationStore.logins(on: connection)).sorted()
        let more =
            ended.isEmpty
            ? ""
            : " psql log-ins ended for \(ended.joined(separator: ", ")): with more than one fleet they would show too much. Use the page Ask instead."
        let response = try overview(caller, .done("Fleet \(fleet) saved." + more), connection)
        try AuditLog.record(
            .fleetChanged, by: caller.account,
            [("fleet", fleet), ("part_of", partOf ?? ""), ("vehicles", vehicles.joined(separator: ", "))],
            on: connection)
        return response
    }

    /// - Parameters:
    ///   - asked: whom to list.
    ///   - inviting: the form of an invitation, as it was typed.
    ///   - handed: a link to hand over.
    func overview(
        _ caller: PageCaller, _ notice: FormView.Notice?, asked: String = "", inviting: Invitation? = nil,
        handed: String? = nil, _ connection: Connection, status: Int = 200
    ) throws -> Response {
        let fleets = try AdministrationStore.fleets(on: connection)
        let link: HTML = handed.map { "<p><a class=\"link mono\" href=\"\($0)\">\($0)</a></p>" } ?? ""
        let form: HTML =
            inviting.map { InvitationView.html($0, fleets, mark: caller.mark, hasMail: accountMail != nil) } ?? ""
        var response = PageShell(caller: caller, assets: assets).page(
            "people", at: "/administration", heading: AdministrationView.heading,
            main: AdministrationView.html(
                try AdministrationStore.accounts(on: connection), fleets, asked, caller, nowMs: Clock.nowMs(),
                notice: notice, top: link + form))
        response.status = status
        return response
    }

    /// Ids with blanks, commas or line ends between.
    private static func words(_ text: String?) -> [String] {
        (text ?? "").split { $0.isWhitespace || $0 == "," }.map(String.init)
    }
}
