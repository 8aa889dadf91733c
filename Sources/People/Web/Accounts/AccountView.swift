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
        mail: String = "", next: String = "", provider: String? = nil, notice: FormView.Notice? = nil
    ) -> HTML {
        FormView.page(
            "Log in", notice,
            FormView.form(
                "/login",
                [
                    .hidden(name: "next", value: next),
                    .input(name: "mail", label: "Mail address", type: "email", value: mail, autocomplete: "username"),
                    .input(
                        name: "password", label: "Password", type: "password", value: "",
                        autocomplete: "current-password"),
                    .check(name: "keep", label: "Stay logged in on this device"),
                ], "Log in")
                + (provider.map { there -> HTML in
                    let way = next.isEmpty ? "/oidc/start" : "/oidc/start?next=" + URLText.escaped(next)
                    return "<p><a class=\"button\" href=\"\(way)\">Log in with \(there)</a></p>\n"
                } ?? "")
                    + """
                    <p><a href="/forgot">Forgot the password?</a></p>
                    <p><a href="/register">Make an account</a></p>
                    \(PublicShell.footer)
                    """)
    }

    static func register(
        mail: String = "", firstName: String = "", lastName: String = "", notice: FormView.Notice? = nil
    ) -> HTML {
        FormView.page(
            "Make an account", notice,
            FormView.form(
                "/register",
                [
                    .input(name: "mail", label: "Mail address", type: "email", value: mail, autocomplete: "username"),
                    .optional(name: "first_name", label: "First name", value: firstName, autocomplete: "given-name"),
                    .optional(name: "last_name", label: "Last name", value: lastName, autocomplete: "family-name"),
                    .newPassword(
                        name: "password", label: "Password, at least \(Password.length.lowerBound) characters"),
                    .newPassword(name: "again", label: "The password again"),
                ], "Make the account") + "<p><a href=\"/login\">Log in instead</a></p>")
    }

    static func forgot(mail: String = "", notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            "Forgotten password", notice,
            FormView.form(
                "/forgot",
                [.input(name: "mail", label: "Mail address", type: "email", value: mail, autocomplete: "username")],
                "Mail me a link for a new password") + "<p><a href=\"/login\">Log in instead</a></p>")
    }

    static func confirm(link: String, notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            "Confirm your mail address", notice,
            FormView.form(
                "/confirm",
                [
                    .hidden(name: "link", value: link),
                    .input(
                        name: "password", label: "The password that you chose", type: "password", value: "",
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
                            .input(
                                name: "mail", label: "Your mail address, to log in with", type: "email", value: mail,
                                autocomplete: "username")
                        ] : [])
                    + [
                        .newPassword(
                            name: "password", label: "Password, at least \(Password.length.lowerBound) characters"),
                        .newPassword(name: "again", label: "The password again"),
                    ], "Save the password"))
    }

    /// A page that only says something.
    static func said(_ title: String, _ text: String, link: (path: String, text: String) = ("/login", "Log in"))
        -> HTML
    {
        FormView.page(
            title, nil,
            "<p>\(text)</p>\n<p><a href=\"\(link.path)\">\(link.text)</a></p>")
    }

    /// - Parameter roles: as text, whom the page is for.
    static func notForYou(_ roles: String) -> HTML {
        said(
            "Not for you", "This page is for: \(roles). Ask an administrator for the role.",
            link: ("/account", "Your account"))
    }

    /// A short name for people; the full header is its title.
    static func agent(_ text: String, or none: String) -> HTML {
        let name = UserAgent.name(text)
        return "<span title=\"\(text)\">\(name.isEmpty ? none : name)</span>"
    }

    /// - Parameter more: sections below.
    static func account(
        _ holder: AccountHolder, sessions: [PageSessionStore.SessionRow], mark: String, notice: FormView.Notice? = nil,
        more: HTML
    ) -> HTML {
        let roles =
            holder.roles.isEmpty ? "none yet: an administrator gives them" : holder.roles.joined(separator: ", ")
        let rows = sessions.map { session -> [HTML?] in
            let button: HTML =
                session.isThis
                ? "this one"
                : "<form method=\"post\" action=\"/account/sessions/end\">\(FormView.hidden(CSRFGuard.field, mark))\(FormView.hidden("number", String(session.number)))<button>End it</button></form>"
            return [
                agent(session.agent, or: "a program without a name"), .text(FormView.time(session.madeMs)),
                .text(FormView.time(session.lastUsedMs)), button,
            ]
        }
        // The first page after log-in.
        let pages: [HTML] = PageShell.pages(for: Set(holder.roles.compactMap(Role.init))).map {
            "<a href=\"\($0.path)\">\($0.name)</a>"
        }
        return FormView.page(
            "Your account", notice,
            (pages.isEmpty ? "" : "<nav aria-label=\"Pages\"><p>\(pages.joined(separator: " · "))</p></nav>\n")
                + """
                <p>\(holder.mail ?? holder.account), known as <b>\(holder.account)</b>. Roles: \(roles).</p>
                <form method="post" action="/logout">\(FormView.hidden(CSRFGuard.field, mark))<button>Log out</button></form>
                <h2>About you</h2>
                """
                + profile(holder, mark) + "<h2>Password</h2>" + newPassword(mark)
                + HTML.table(
                    caption: "Where you are logged in",
                    headers: [.word("Browser"), .word("Since (UTC)"), .word("Last used (UTC)"), .word("End")],
                    rows: rows,
                    empty: "Nowhere.") + more)
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
                    of: [("metric", "metric: km, L, °C"), ("us", "US: mi, gal, °F")],
                    chosen: holder.units.rawValue),
                .input(
                    name: "zone", label: "Time zone, like Europe/Berlin", type: "text", value: holder.zone,
                    autocomplete: "off"),
            ], "Save")
    }

    private static func newPassword(_ mark: String) -> HTML {
        FormView.form(
            "/account/password",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                .input(
                    name: "old", label: "Password as it is", type: "password", value: "",
                    autocomplete: "current-password"),
                .newPassword(
                    name: "password", label: "New one, at least \(Password.length.lowerBound) characters"),
                .newPassword(name: "again", label: "The new one again"),
            ], "Change it and log out everywhere else")
    }
}
