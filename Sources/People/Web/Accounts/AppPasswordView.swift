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
                session, holder, .fault("Name the app, in at most 200 bytes, and choose what it may."), connection,
                status: 422)
        }
        let token = Token.random()
        let isAdded = try AppPasswordStore.add(
            id: Hex.text(Secrets.random(6)), digest: token.digest, name: name, scopes: scopes, session: session.digest,
            on: connection)
        guard isAdded else {
            return try account(
                session, holder,
                .fault("You have twenty app passwords, or your roles do not allow this. End one first."),
                connection, status: 409)
        }
        return .unkept(AppPasswordView.made(token, name))
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
    static func sections(
        _ holder: AccountHolder, tokens: [AppPasswordStore.Entry], scopes: [Scope], hasFactors: Bool, mark: String
    ) -> HTML {
        let factor =
            holder.hasSecondFactor ? "It is on. " : "It is off: the password alone opens this account. "
        let way: HTML =
            hasFactors
            ? "<a href=\"/account/second-factor\">\(holder.hasSecondFactor ? "Change it" : "Set it up")</a>"
            : "This server has no key to keep second factors under: ask who runs it."
        return """
            <h2>Second factor</h2>
            <p>\(factor)\(way)</p>
            <h2>App passwords</h2>
            <p>Apps, XML-RPC clients and programs log in with one of these. Your own password does not work there.</p>

            """ + list(tokens, mark) + adding(scopes, mark) + """
                <h2>Your data</h2>
                <p>All that this server holds about you, as a ZIP archive of JSON, pictures and reports.</p>

                """
                + FormView.form(
                    "/account/data", [.hidden(name: CSRFGuard.field, value: mark)], "Export my data", id: "data")
    }

    private static func list(_ tokens: [AppPasswordStore.Entry], _ mark: String) -> HTML {
        HTML.table(
            caption: "App passwords that hold",
            headers: [
                .prose("App"), .prose("May"), .word("Since (UTC)"), .word("Last used (UTC, to the hour)"), .word("End"),
            ],
            rows: tokens.map { row($0, mark) }, empty: "None.")
    }

    private static func row(_ token: AppPasswordStore.Entry, _ mark: String) -> [HTML?] {
        let may = token.scopes.joined(separator: ", ")
        let hidden: HTML = "\(FormView.hidden(CSRFGuard.field, mark))\(FormView.hidden("id", token.id))"
        return [
            .text(token.name.isEmpty ? token.id : token.name), "\(may)\(" (made by an operator)", if: !token.isOwn)",
            .text(FormView.time(token.madeMs)), .text(token.lastUsedMs.map(FormView.time) ?? "never"),
            "<form method=\"post\" action=\"/account/app-passwords/end\">\(hidden)<button>End it</button></form>",
        ]
    }

    private static func adding(_ scopes: [Scope], _ mark: String) -> HTML {
        guard !scopes.isEmpty else { return "<p>Your roles allow no app anything yet.</p>\n" }
        return FormView.form(
            "/account/app-passwords",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                .input(name: "name", label: "Which app, on which device", type: "text", value: "", autocomplete: "off"),
                .boxes(name: "scope", label: "What it may", of: scopes.map { ($0.rawValue, about($0)) }, chosen: []),
            ], "Make an app password", id: "app")
    }

    private static func about(_ scope: Scope) -> String {
        switch scope {
        case .upload: "hand in readings, scans and words on trips"
        case .read: "read the machines that you see"
        case .account: "read and set your own settings, alerts of your drives"
        case .survey: "hand in surveys and photos of them"
        case .export: "take sightings away, sensitive species blurred"
        case .query: "ask statements of your own"
        case .audit: "collect the audit log"
        case .exportPeople, .exportPlaces: scope.rawValue
        }
    }

    static func made(_ token: Token, _ name: String) -> HTML {
        FormView.page(
            "App password", .done("It is not shown again."),
            "<p>For \(name), as its password or token:</p>\n<p><code>\(token.text)</code></p>\n<p><a href=\"/account\">Your account</a></p>"
        )
    }
}
