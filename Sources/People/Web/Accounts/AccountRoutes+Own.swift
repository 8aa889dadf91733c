internal import Alerts
internal import Crypto
internal import ExternalServices
internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Postgres
internal import Storage
internal import Telemetry

/// One's own account: names, units, zone, password, where one is logged in.
extension AccountRoutes {
    func account(
        _ session: Token, _ holder: AccountHolder, _ notice: FormView.Notice?, _ connection: Connection,
        status: Int = 200
    ) throws -> Response {
        let caller = PageCaller(holder, session: session, secondFactor: secondFactor)
        let state = try SecondFactorStore.state(ofSession: session.digest, on: connection)
        return shown(
            t("Your account"), caller,
            AccountView.account(
                holder, sessions: try PageSessionStore.sessions(ofSession: session.digest, on: connection),
                hasPassword: state?.hasPassword ?? true, caller, nowMs: Clock.nowMs(), notice: notice,
                secondFactor: AppPasswordView.secondFactor(holder, hasFactors: codeKey != nil),
                apps: AppPasswordView.sections(
                    tokens: try AppPasswordStore.list(ofSession: session.digest, on: connection),
                    scopes: try AppPasswordStore.scopes(ofSession: session.digest, on: connection), caller,
                    nowMs: Clock.nowMs())), status: status)
    }

    /// A page of one's own account, in the shell; no cache keeps it.
    func shown(
        _ title: String, crumb: PageHeading.Crumb? = nil, _ caller: PageCaller, _ main: HTML, scripts: [String] = [],
        status: Int = 200
    ) -> Response {
        var response = PageShell(caller: caller, assets: assets).page(
            title, at: "/account", heading: PageHeading(title, crumb: crumb), scripts: scripts, main: main)
        response.status = status
        return response.with("Cache-Control", "no-store")
    }

    func change(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        guard let first = fields.name("first_name"), let last = fields.name("last_name") else {
            return try account(
                session, holder, .fault(t("A name has at most 200 bytes, on one line.")), connection, status: 422)
        }
        guard let units = DriverSettings.Units(rawValue: fields["units"] ?? "") else {
            return try account(session, holder, .fault(t("Units are metric or us.")), connection, status: 422)
        }
        guard let zone = fields["zone"], TimeZoneName(zone) != nil else {
            return try account(
                session, holder, .fault(t("Unknown time zone. Write it like Europe/Berlin.")), connection,
                status: 422)
        }
        try PageSessionStore.change(
            session: session.digest, firstName: first, lastName: last, units: units, zone: zone, on: connection)
        guard let changed = try PageSessionStore.holder(ofSession: session.digest, on: connection) else {
            return .seeOther("/login")
        }
        return try account(session, changed, .done(t("Saved.")), connection)
    }

    func changePassword(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        let password: String
        switch AccountRoutes.newPassword(fields, mail: holder.mail ?? "") {
        case .success(let chosen): password = chosen
        case .failure(let why): return try account(session, holder, .fault(why.text), connection, status: 422)
        }
        guard !Password.isBusy else { return busy }
        guard
            let recipe = try PageSessionStore.ownRecipe(session: session.digest, remote: request.remote, on: connection)
        else {
            return try account(session, holder, .fault(AccountRoutes.tooMany), connection, status: 429)
                .with("Retry-After", "900")
        }
        guard let kept = AccountRoutes.kept(password),
            let old = Password.digest(fields.password("old") ?? "", salt: recipe.salt, cost: recipe.cost)
        else { return try busy(holder.mail ?? "", request, session.digest, connection) }
        guard try PageSessionStore.changePassword(session: session.digest, old: old, new: kept, on: connection) else {
            try AuditLog.record(
                .logInFailed, about: holder.mail, from: request.remote, [("why", "own password")], on: connection)
            return try account(
                session, holder, .fault(t("Wrong current password. Nothing was changed.")), connection,
                status: 401)
        }
        return try account(
            session, holder, .done(t("Password saved. You are logged out everywhere else.")), connection)
    }

    func endSession(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        if let number = fields["number"].flatMap({ Int64($0) }) {
            try connection.transaction {
                try PageSessionStore.end(session: session.digest, number: number, on: connection)
                try AuditLog.record(.sessionEnded, by: holder.account, from: request.remote, on: connection)
            }
        }
        return Response.seeOther("/account").with("Cache-Control", "no-store")
    }
}
