internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
internal import Telemetry

/// The page of one person: roles, fleets, log-in.
extension AdministrationRoutes {
    private static var unchanged: String {
        t("Nothing was changed: no such account, or nobody would be left as administrator.")
    }

    func person(
        _ account: String, _ caller: PageCaller, _ notice: FormView.Notice?, _ connection: Connection, status: Int = 200
    ) throws -> Response {
        let accounts = try AdministrationStore.accounts(on: connection)
        guard let row = accounts.first(where: { $0.account == account }) else {
            guard let notice else {
                return .problem(404, type: "not-found", detail: "Nobody has this account. People lists everybody.")
            }
            return try overview(caller, notice, connection, status: status)
        }
        var about = AuditPageQueries.Question()
        about.account = account
        var logIns = about
        logIns.action = AuditAction.logIn.rawValue
        let view = PersonView(
            row: row, fleets: try AdministrationStore.fleets(on: connection),
            names: Dictionary(accounts.map { ($0.account, $0.called) }) { first, _ in first },
            activity: try AuditPageQueries.lines(about, limit: PersonView.activityMax, on: connection),
            lastLogInMs: try AuditPageQueries.lines(logIns, limit: 1, on: connection).first?.atMs,
            caller: caller, nowMs: Clock.nowMs())
        return shown(
            row.called,
            heading: PageHeading(
                row.called, crumb: (t("People"), "/administration"), status: AdministrationView.state(row)),
            caller, FormView.said(notice, view.html), status: status)
    }

    func changeAccount(
        _ request: Request, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        let account = fields["account"] ?? ""
        if let said = fields["erase"], !said.isEmpty { return try erase(account, said, caller, connection) }
        guard let row = try AdministrationStore.accounts(on: connection).first(where: { $0.account == account }) else {
            return try overview(caller, .fault(AdministrationRoutes.unchanged), connection, status: 422)
        }
        let isEnabled = fields["enabled"].map { $0 == "1" } ?? (row.state != .disabled)
        let roles = AdministrationRoutes.roles(fields, now: row.roles)
        let isDone = try AdministrationStore.change(account, roles: roles, isEnabled: isEnabled, on: connection)
        let (name, titles) = (row.called, Role.titles(roles))
        return try person(
            account, caller,
            isDone
                ? .done(
                    isEnabled
                        ? t("\(name) saved: \(titles). May log in.") : t("\(name) saved: \(titles). May not log in."))
                : .fault(AdministrationRoutes.unchanged), connection, status: isDone ? 200 : 422)
    }

    /// What a form changed of the roles that it showed, done to those of now: an old form takes nothing back.
    private static func roles(_ fields: FormFields, now: Set<Role>) -> Set<Role> {
        let chosen = Set(fields.all("role").compactMap(Role.init))
        guard let shown = fields["shown"] else { return chosen.isEmpty ? now : chosen }
        let before = Set(shown.split(separator: " ").compactMap { Role(rawValue: String($0)) })
        return now.union(chosen.subtracting(before)).subtracting(before.subtracting(chosen))
    }

    /// There is no way back: the account's id is to be written once more.
    private func erase(
        _ account: String, _ said: String, _ caller: PageCaller, _ connection: Connection
    ) throws -> Response {
        guard said == account else {
            return try person(
                account, caller, .fault(t("To erase \(account), type its id. Nothing was changed.")), connection,
                status: 422)
        }
        let isDone = try AdministrationStore.erase(account, on: connection)
        return try overview(
            caller,
            isDone
                ? .done(t("\(account) erased. What they did stays, under this id."))
                : .fault(AdministrationRoutes.unchanged), connection, status: isDone ? 200 : 422)
    }

    /// One fleet more, or one less.
    func changeFleets(
        _ request: Request, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        let account = request.parameters["account"]!
        var change = AdministrationStore.FleetChange()
        let isJoined = fields["leave"] == nil
        if isJoined { change.joined = [account] } else { change.left = [account] }
        let fleet = fields[isJoined ? "join" : "leave"] ?? ""
        let name = try AdministrationStore.fleets(on: connection).first { $0.fleet == fleet }?.name ?? fleet
        let (isDone, ended) = try changed(fleet, change, connection)
        guard isDone else {
            return try person(
                account, caller, .fault(t("Nothing was changed: this fleet or account no longer exists.")), connection,
                status: 422)
        }
        let words = isJoined ? t("Added to \(name).") : t("Removed from \(name).")
        return try person(account, caller, .done([words, ended].compactMap { $0 }.joined(separator: " ")), connection)
    }
}
