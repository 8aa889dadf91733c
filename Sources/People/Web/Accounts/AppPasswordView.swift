internal import Basics
internal import Codecs
internal import Crypto
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

/// App passwords: what apps show instead of the account's own password. They are tokens.
extension AccountRoutes {
    func addAppPassword(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        let scopes = fields.all("scope").compactMap { Scope(rawValue: $0) }
        guard let name = fields.name("name"), !name.isEmpty, !scopes.isEmpty else {
            return try account(
                session, holder, .fault(t("Name the app, in at most 200 bytes, and choose what it may do.")),
                connection,
                status: 422)
        }
        let token = Token.random()
        let isAdded = try AppPasswordStore.add(
            id: Hex.text(Secrets.random(6)), digest: token.digest, name: name, scopes: scopes, session: session.digest,
            on: connection)
        guard isAdded else {
            return try account(
                session, holder,
                .fault(t("You have 20 app passwords, or your roles do not allow this. Revoke one first.")),
                connection, status: 409)
        }
        return shown(
            t("App password"), crumb: (t("Account"), "/account"),
            PageCaller(holder, session: session, secondFactor: secondFactor), AppPasswordView.made(token, name))
    }

    func endAppPassword(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        try AppPasswordStore.revoke(id: fields["id"] ?? "", session: session.digest, on: connection)
        return Response.seeOther("/account").with("Cache-Control", "no-store")
    }
}

/// The sections of the account's page about app passwords.
enum AppPasswordView {
    static func secondFactor(_ holder: AccountHolder, hasFactors: Bool) -> HTML {
        let isOn = holder.hasSecondFactor
        let way: HTML =
            hasFactors
            ? "<a class=\"btn\" href=\"/account/second-factor\">\(isOn ? t("Change") : t("Set up"))</a>"
            : "<span class=\"soft\">This server has no key for it. Ask an administrator.</span>"
        return """
            <section class="card"><header><h2>Two-step log-in</h2>\(isOn ? HTML.pill("ok", t("On")) : HTML.pill("quiet", t("Off")))</header>
            <div class="body"><p class="soft">\(isOn ? t("Each log-in asks for a code from your phone.") : t("Your password alone opens this account."))</p>
            <p>\(way)</p></div></section>
            """
    }

    /// Whose roles allow no apps sees nothing of them.
    static func sections(
        tokens: [AppPasswordStore.Entry], scopes: [Scope], _ caller: PageCaller, nowMs: Int64
    ) -> HTML {
        let apps: HTML = """
            <div class="w8">\(list(tokens, caller, nowMs: nowMs))</div>
            <section class="card w4"><header><h2>New app password</h2></header>
            <div class="body"><p class="soft">For apps and programs. Your own password does not work there.</p>
            \(adding(scopes, caller.mark))</div></section>
            """
        return """
            \(tokens.isEmpty && scopes.isEmpty ? "" : apps)
            <section class="card w12"><header><h2>Your data</h2></header>
            <div class="body"><p class="soft">Everything this server holds about you, as a ZIP of JSON, pictures and reports.</p>
            \(FormView.form("/account/data", [.hidden(name: CSRFGuard.field, value: caller.mark)], t("Export my data"), id: "data"))</div></section>
            """
    }

    private static func list(_ tokens: [AppPasswordStore.Entry], _ caller: PageCaller, nowMs: Int64) -> HTML {
        HTML.table(
            caption: t("App passwords"),
            headers: [.prose(t("App")), .prose(t("May")), .word(t("Since")), .word(t("Last used")), .word("")],
            rows: tokens.map { row($0, caller, nowMs) }, empty: t("None yet."), narrow: .cards)
    }

    private static func row(_ token: AppPasswordStore.Entry, _ caller: PageCaller, _ nowMs: Int64) -> [HTML?] {
        let may = token.scopes.joined(separator: ", ")
        let hidden: HTML = "\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("id", token.id))"
        return [
            .text(token.name.isEmpty ? token.id : token.name),
            token.isOwn ? HTML(may) : .t("\(may) (made by an operator)"),
            HTML.relativeTime(token.madeMs, nowMs, caller.clock),
            token.lastUsedMs.map { HTML.relativeTime($0, nowMs, caller.clock) } ?? .t("Never"),
            "<form method=\"post\" action=\"/account/app-passwords/end\">\(hidden)<button class=\"btn small danger\">Revoke</button></form>",
        ]
    }

    private static func adding(_ scopes: [Scope], _ mark: String) -> HTML {
        guard !scopes.isEmpty else { return "<p>Your roles allow no apps yet.</p>\n" }
        return FormView.form(
            "/account/app-passwords",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                .input(name: "name", label: t("App"), type: "text", value: "", autocomplete: "off")
                    .help(t("And its device, so that you know it later")),
                .boxes(name: "scope", label: t("What it may"), of: scopes.map { ($0.rawValue, about($0)) }, chosen: []),
            ], t("Create app password"), id: "app")
    }

    private static func about(_ scope: Scope) -> String {
        switch scope {
        case .upload: t("Send readings, scans and notes on trips")
        case .read: t("Read the machines you see")
        case .account: t("Read and set your settings, alerts of your drives")
        case .survey: t("Send surveys and their photos")
        case .export: t("Export sightings, sensitive species blurred")
        case .query: t("Run queries of your own")
        case .audit: t("Read the audit log")
        case .exportPeople, .exportPlaces: scope.rawValue
        }
    }

    static func made(_ token: Token, _ name: String) -> HTML {
        FormView.said(
            .done(t("Copy it now. It is not shown again.")),
            "<p>Password or token for \(name):</p>\n<p><code>\(token.text)</code></p>\n<p><a class=\"btn\" href=\"/account\">Done</a></p>"
        )
    }
}
