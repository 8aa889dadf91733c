internal import Alerts
internal import Crypto
internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Reports
internal import Storage

/// The pages of accounts, as HTML.
enum AccountView {
    static func logIn(
        mail: String = "", next: String = "", provider: String? = nil, hasSample: Bool = false,
        notice: FormView.Notice? = nil
    ) -> HTML {
        FormView.page(
            "Log in", notice,
            FormView.form(
                "/login",
                [
                    .hidden(name: "next", value: next),
                    .input(name: "mail", label: "Email", type: "email", value: mail, autocomplete: "username"),
                    .input(
                        name: "password", label: "Password", type: "password", value: "",
                        autocomplete: "current-password"),
                    .check(name: "keep", label: "Stay logged in"),
                ], "Log in")
                + (provider.map { there -> HTML in
                    let way = next.isEmpty ? "/oidc/start" : "/oidc/start?next=" + URLText.escaped(next)
                    return
                        "<p class=\"or\"><span>or</span></p>\n<p><a class=\"btn wide\" href=\"\(way)\">\(HTML.icon(.key))Log in with \(there)</a></p>\n"
                } ?? "")
                    + """
                    \(hasSample ? "<p><a class=\"btn wide\" href=\"/sample\">Try the sample, one click</a></p>\n" : "")\
                    <p class="row between wrap"><a href="/forgot">Forgot password?</a> <span class="soft">New here? \
                    <a href="/register">Create an account</a></span></p>
                    """, isEntrance: true)
    }

    static func register(
        mail: String = "", firstName: String = "", lastName: String = "", notice: FormView.Notice? = nil
    ) -> HTML {
        FormView.page(
            "Create an account", notice,
            FormView.form(
                "/register",
                [
                    .input(name: "mail", label: "Email", type: "email", value: mail, autocomplete: "username"),
                    .optional(name: "first_name", label: "First name", value: firstName, autocomplete: "given-name"),
                    .optional(name: "last_name", label: "Last name", value: lastName, autocomplete: "family-name"),
                    password("Password"), .newPassword(name: "again", label: "Repeat password"),
                ], "Create account") + "<p class=\"soft\">Have an account? <a href=\"/login\">Log in</a></p>",
            isEntrance: true)
    }

    static func forgot(mail: String = "", notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            "Forgot your password?", notice,
            FormView.form(
                "/forgot",
                [
                    .input(name: "mail", label: "Email", type: "email", value: mail, autocomplete: "username")
                        .help("We mail you a link to choose a new one. It works once, for an hour.")
                ], "Send link") + "<p><a href=\"/login\">Back to log-in</a></p>", isEntrance: true)
    }

    static func confirm(link: String, notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            "Confirm your email", notice,
            FormView.form(
                "/confirm",
                [
                    .hidden(name: "link", value: link),
                    .input(
                        name: "password", label: "The password you chose", type: "password", value: "",
                        autocomplete: "current-password"),
                ], "Confirm and log in"))
    }

    static func newPassword(link: String, asksMail: Bool, mail: String = "", notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            "Choose a password", notice,
            FormView.form(
                "/password",
                [.hidden(name: "link", value: link)]
                    + (asksMail
                        ? [
                            .input(name: "mail", label: "Email", type: "email", value: mail, autocomplete: "username")
                                .help("You log in with it.")
                        ] : [])
                    + [
                        password("New password"), .newPassword(name: "again", label: "Repeat password"),
                    ], "Save password"), isEntrance: true)
    }

    private static func password(_ label: String) -> FormView.Field {
        .newPassword(name: "password", label: label).help("At least \(Password.length.lowerBound) characters")
    }

    /// A page that only says something.
    static func said(_ title: String, _ text: String, link: (path: String, text: String) = ("/login", "Log in"))
        -> HTML
    {
        FormView.page(
            title, nil,
            "<p>\(text)</p>\n<p><a class=\"btn\" href=\"\(link.path)\">\(link.text)</a></p>")
    }

    /// - Parameter roles: as text, whom the page is for.
    static func notForYou(_ roles: String) -> HTML {
        said(
            "You can’t open this page", "It is for: \(roles). An administrator can give you the role.",
            link: ("/account", "Your account"))
    }

    /// A short name for people; the full header is its title.
    static func agent(_ text: String, or none: String) -> HTML {
        let name = UserAgent.name(text)
        return "<span title=\"\(text)\">\(name.isEmpty ? none : name)</span>"
    }

    /// - Parameter more: cards below.
    static func account(
        _ holder: AccountHolder, sessions: [PageSessionStore.SessionRow], _ caller: PageCaller, nowMs: Int64,
        notice: FormView.Notice? = nil, more: HTML
    ) -> HTML {
        let roles = Role.allCases.filter(caller.roles.contains).map { "<span class=\"tag\">\($0.name)</span>" as HTML }
        let rows = sessions.map { session -> [HTML?] in
            let button: HTML =
                session.isThis
                ? HTML.pill("ok", "This device")
                : "<form method=\"post\" action=\"/account/sessions/end\">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("number", String(session.number)))<button class=\"btn small\">Log out</button></form>"
            return [
                agent(session.agent, or: "Unknown program"), HTML.relativeTime(session.madeMs, nowMs, caller.clock),
                HTML.relativeTime(session.lastUsedMs, nowMs, caller.clock), button,
            ]
        }
        return FormView.said(
            notice,
            """
            <p class="row wrap tools"><b>\(holder.mail ?? holder.account)</b> <span class="soft">known as \(holder.account)</span> \
            \(roles.isEmpty ? "<span class=\"soft\">No roles yet. An administrator gives them.</span>" : roles.joined(separator: " "))</p>
            <div class="grid">
            <section class="card w6"><header><h2>About you</h2></header><div class="body">\(profile(holder, caller.mark))</div></section>
            <section class="card w6"><header><h2>Password</h2></header><div class="body">\(newPassword(caller.mark))</div></section>
            <div class="w12">\(HTML.table(
                caption: "Where you are logged in", headers: [.word("Browser"), .word("Since"), .word("Last used"), .word("")],
                rows: rows, empty: "Nowhere.", narrow: .cards))</div>
            \(more)
            </div>
            """)
    }

    private static func profile(_ holder: AccountHolder, _ mark: String) -> HTML {
        FormView.form(
            "/account",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                .optional(
                    name: "first_name", label: "First name", value: holder.firstName, autocomplete: "given-name"
                ),
                .optional(
                    name: "last_name", label: "Last name", value: holder.lastName, autocomplete: "family-name"),
                .choice(
                    name: "units", label: "Units",
                    of: [("metric", "Metric: km, L, °C"), ("us", "US: mi, gal, °F")],
                    chosen: holder.units.rawValue),
                .input(name: "zone", label: "Time zone", type: "text", value: holder.zone, autocomplete: "off")
                    .help("Like Europe/Berlin"),
            ], "Save")
    }

    private static func newPassword(_ mark: String) -> HTML {
        FormView.form(
            "/account/password",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                .input(
                    name: "old", label: "Current password", type: "password", value: "",
                    autocomplete: "current-password"),
                password("New password"), .newPassword(name: "again", label: "Repeat new password"),
            ], "Change password",
            note: "<p class=\"help\">You stay logged in here and are logged out everywhere else.</p>")
    }
}
