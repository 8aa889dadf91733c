internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports
internal import Storage

/// Administrators' pages: roles of accounts, and fleets.
package struct AdministrationRoutes: Sendable {
    private let access: AccessControl
    private let assets: AssetFiles

    package init(access: AccessControl, assets: AssetFiles) { (self.access, self.assets) = (access, assets) }

    package func add(to router: inout Router) {
        router.add("GET", "/administration") { request in
            access.page(request, for: [.administrator]) { caller, connection in
                try overview(caller, nil, connection)
            }
        }
        router.add("POST", "/administration/account") { request in
            access.form(request, for: [.administrator], changeAccount)
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
                "\(account): saved, from the next request on: \(AdministrationRoutes.said(roles, fields["enabled"] == "1"))."
            )
            : .fault("Nothing was changed: there is no such account, or nobody would be left who is administrator.")
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
                caller, .fault("To erase \(account), write its id. Nothing was changed."), connection, status: 422)
        }
        let isDone = try AdministrationStore.erase(account, on: connection)
        let notice: FormView.Notice =
            isDone
            ? .done("\(account): erased. What it did keeps its id.")
            : .fault("Nothing was changed: there is no such account, or nobody would be left who is administrator.")
        return try overview(caller, notice, connection, status: isDone ? 200 : 422)
    }

    private func putFleet(_ caller: PageCaller, _ fields: FormFields, _ connection: Connection) throws -> Response {
        let fleet = fields["fleet"] ?? ""
        func again(_ text: String) throws -> Response {
            try overview(caller, .fault(text + " Nothing was changed."), connection, status: 422)
        }
        guard VehicleID.isValid(fleet.utf8) else {
            return try again("A fleet's id is 1 to 64 letters, digits, -, _ or .")
        }
        let name = (fields["name"] ?? "").isEmpty ? fleet : fields["name"]!
        guard name.utf8.count <= 200 else { return try again("A fleet's name has at most 200 bytes.") }
        var vehicles: [String] = []
        for kind in VehicleKind.allCases {
            for vehicle in AdministrationRoutes.words(fields[kind.rawValue + "s"]) {
                guard VehicleID.isValid(vehicle.utf8) else { return try again("`\(vehicle)` is no vehicle's id.") }
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
            return try again("An account or fleet of that id is not there, or fleets would be nested twice.")
        }
        let ended = logins.subtracting(try AdministrationStore.logins(on: connection)).sorted()
        let more =
            ended.isEmpty
            ? ""
            : " psql has ended for \(ended.joined(separator: ", ")): with more than one fleet its logins told what they may not see. They ask on the page Ask."
        let response = try overview(caller, .done("Fleet \(fleet): saved." + more), connection)
        try AuditLog.record(
            .fleetChanged, by: caller.account,
            [("fleet", fleet), ("part_of", partOf ?? ""), ("vehicles", vehicles.joined(separator: ", "))],
            on: connection)
        return response
    }

    private func overview(
        _ caller: PageCaller, _ notice: FormView.Notice?, _ connection: Connection, status: Int = 200
    ) throws -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            "administration", at: "/administration",
            main: AdministrationView.html(
                try AdministrationStore.accounts(on: connection), try AdministrationStore.fleets(on: connection),
                mark: caller.mark, notice: notice))
        response.status = status
        return response
    }

    /// Ids with blanks, commas or line ends between.
    private static func words(_ text: String?) -> [String] {
        (text ?? "").split { $0.isWhitespace || $0 == "," }.map(String.init)
    }
}

private enum AdministrationView {
    static func html(
        _ accounts: [AdministrationStore.AccountRow], _ fleets: [AdministrationStore.FleetRow], mark: String,
        notice: FormView.Notice?
    ) -> HTML {
        FormView.main(
            "Administration", notice,
            "<p><a href=\"/audit\">The audit log</a>: who did what</p>\n<h2>Accounts</h2>\n"
                + accounts.map { account($0, mark) }.joined(separator: "\n")
                + "<h2>Fleets</h2>\n" + fleets.map { fleet($0, mark) }.joined(separator: "\n")
                + fold("A new fleet", fields(nil, mark)))
    }

    private static func account(_ row: AdministrationStore.AccountRow, _ mark: String) -> HTML {
        let roles = Role.allCases.filter(row.roles.contains).map(\.name).joined(separator: ", ")
        // Erasing takes the roles, too; who was added without a mail address says it with the first password.
        let isErased = row.mail == nil && row.roles.isEmpty && row.state == .disabled
        return fold(
            "\(row.account): \(row.mail ?? (isErased ? "erased" : "no mail address yet"))\(row.name.isEmpty ? "" : ", \(row.name)"). "
                + "\(roles.isEmpty ? "No roles" : roles) (\(row.state.rawValue))",
            FormView.form(
                "/administration/account",
                [
                    .hidden(name: CSRFGuard.field, value: mark), .hidden(name: "account", value: row.account),
                    .boxes(
                        name: "role", label: "Roles", of: Role.allCases.map { ($0.rawValue, $0.name) },
                        chosen: Set(row.roles.map(\.rawValue))),
                    .boxes(
                        name: "enabled", label: "Log-in", of: [("1", "may log in")],
                        chosen: row.state == .disabled ? [] : ["1"]),
                ]
                    + (isErased
                        ? []
                        : [
                            .optional(
                                name: "erase", label: "Erase for good: write the account's id", value: "",
                                autocomplete: "off")
                        ]),
                "Save \(row.account)", id: row.account))
    }

    private static func fleet(_ row: AdministrationStore.FleetRow, _ mark: String) -> HTML {
        let place = row.partOf.map { ", part of \($0)" } ?? ""
        return fold(
            "\(row.name) (\(row.fleet)\(place)): \(row.vehicles.count) \(row.vehicles.count == 1 ? "vehicle" : "vehicles"), "
                + "\(row.members.count) \(row.members.count == 1 ? "person" : "people")",
            fields(row, mark))
    }

    private static func fields(_ row: AdministrationStore.FleetRow?, _ mark: String) -> HTML {
        func vehicles(_ kind: VehicleKind) -> String {
            let head = kind.rawValue + " "
            return (row?.vehicles ?? []).filter { $0.hasPrefix(head) }.map { String($0.dropFirst(head.count)) }
                .joined(separator: "\n")
        }
        return FormView.form(
            "/administration/fleet",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                row.map { .hidden(name: "fleet", value: $0.fleet) }
                    ?? .input(name: "fleet", label: "Id", type: "text", value: "", autocomplete: "off"),
                .optional(name: "name", label: "Name", value: row?.name ?? "", autocomplete: "off"),
                .optional(
                    name: "part_of", label: "Part of the fleet (its id; may be empty)", value: row?.partOf ?? "",
                    autocomplete: "off"),
                .lines(name: "machines", label: "Machines, by their ids", value: vehicles(.machine)),
                .lines(name: "cars", label: "Cars, by their ids", value: vehicles(.car)),
                .lines(
                    name: "members", label: "People, by their accounts",
                    value: (row?.members ?? []).joined(separator: "\n")),
            ], row.map { "Save \($0.fleet)" } ?? "Make the fleet", id: "fleet-" + (row?.fleet ?? ""))
    }

    private static func fold(_ summary: String, _ body: HTML) -> HTML {
        "<details><summary>\(summary)</summary>\n\(body)</details>\n"
    }
}
