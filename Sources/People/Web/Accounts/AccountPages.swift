internal import Alerts
internal import Crypto
internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Reports
internal import Storage

/// The pages of accounts, as HTML.
enum AccountPages {
    static func logIn(
        mail: String = "", next: String = "", provider: String? = nil, notice: FormPage.Notice? = nil
    ) -> HTML {
        FormPage.page(
            "Log in", notice,
            FormPage.form(
                "/login",
                [
                    .hidden("next", next), .input("mail", "Mail address", "email", mail, "username"),
                    .input("password", "Password", "password", "", "current-password"),
                    .check("keep", "Stay logged in on this device"),
                ], "Log in")
                + (provider.map { there -> HTML in
                    let way = next.isEmpty ? "/oidc/start" : "/oidc/start?next=" + Address.escaped(next)
                    return "<p><a class=\"button\" href=\"\(way)\">Log in with \(there)</a></p>\n"
                } ?? "")
                    + """
                    <p><a href="/forgot">Forgot the password?</a></p>
                    <p><a href="/register">Make an account</a></p>
                    \(PublicShell.footer)
                    """)
    }

    static func register(
        mail: String = "", firstName: String = "", lastName: String = "", notice: FormPage.Notice? = nil
    ) -> HTML {
        FormPage.page(
            "Make an account", notice,
            FormPage.form(
                "/register",
                [
                    .input("mail", "Mail address", "email", mail, "username"),
                    .optional("first_name", "First name", firstName, "given-name"),
                    .optional("last_name", "Last name", lastName, "family-name"),
                    .newPassword("password", "Password, at least \(Password.length.lowerBound) characters"),
                    .newPassword("again", "The password again"),
                ], "Make the account") + "<p><a href=\"/login\">Log in instead</a></p>")
    }

    static func forgot(mail: String = "", notice: FormPage.Notice? = nil) -> HTML {
        FormPage.page(
            "Forgotten password", notice,
            FormPage.form(
                "/forgot", [.input("mail", "Mail address", "email", mail, "username")],
                "Mail me a link for a new password") + "<p><a href=\"/login\">Log in instead</a></p>")
    }

    static func confirm(link: String, notice: FormPage.Notice? = nil) -> HTML {
        FormPage.page(
            "Confirm your mail address", notice,
            FormPage.form(
                "/confirm",
                [
                    .hidden("link", link),
                    .input("password", "The password that you chose", "password", "", "current-password"),
                ], "Confirm and log in"))
    }

    static func newPassword(link: String, asksMail: Bool, mail: String = "", notice: FormPage.Notice? = nil) -> HTML {
        FormPage.page(
            "Choose a password", notice,
            FormPage.form(
                "/password",
                [.hidden("link", link)]
                    + (asksMail ? [.input("mail", "Your mail address, to log in with", "email", mail, "username")] : [])
                    + [
                        .newPassword("password", "Password, at least \(Password.length.lowerBound) characters"),
                        .newPassword("again", "The password again"),
                    ], "Save the password"))
    }

    /// A page that only says something.
    static func said(_ title: String, _ text: String, link: (path: String, text: String) = ("/login", "Log in"))
        -> HTML
    {
        FormPage.page(
            title, nil,
            "<p>\(text)</p>\n<p><a href=\"\(link.path)\">\(link.text)</a></p>")
    }

    /// - Parameter roles: as text, whom the page is for.
    static func notForYou(_ roles: String) -> HTML {
        said(
            "Not for you", "This page is for: \(roles). Ask an administrator for the role.",
            link: ("/account", "Your account"))
    }

    /// As people know it; all that it said is its title.
    static func agent(_ text: String, or none: String) -> HTML {
        let name = UserAgent.name(text)
        return "<span title=\"\(text)\">\(name.isEmpty ? none : name)</span>"
    }

    /// - Parameter more: sections below.
    static func account(
        _ holder: AccountHolder, sessions: [LogInStore.SessionRow], mark: String, notice: FormPage.Notice? = nil,
        more: HTML
    ) -> HTML {
        let roles =
            holder.roles.isEmpty ? "none yet: an administrator gives them" : holder.roles.joined(separator: ", ")
        let rows = sessions.map { session -> [HTML?] in
            let button: HTML =
                session.isThis
                ? "this one"
                : "<form method=\"post\" action=\"/account/sessions/end\">\(FormPage.hidden(FormGuard.field, mark))\(FormPage.hidden("number", String(session.number)))<button>End it</button></form>"
            return [
                agent(session.agent, or: "a program without a name"), .text(FormPage.time(session.madeMs)),
                .text(FormPage.time(session.lastUsedMs)), button,
            ]
        }
        // Who has logged in comes here first.
        let pages: [HTML] = PageShell.pages(for: Set(holder.roles.compactMap(Role.init))).map {
            "<a href=\"\($0.path)\">\($0.name)</a>"
        }
        return FormPage.page(
            "Your account", notice,
            (pages.isEmpty ? "" : "<nav aria-label=\"Pages\"><p>\(pages.joined(separator: " · "))</p></nav>\n")
                + """
                <p>\(holder.mail ?? holder.account), known as <b>\(holder.account)</b>. Roles: \(roles).</p>
                <form method="post" action="/logout">\(FormPage.hidden(FormGuard.field, mark))<button>Log out</button></form>
                <h2>About you</h2>
                """
                + FormPage.form(
                    "/account",
                    [
                        .hidden(FormGuard.field, mark),
                        .optional("first_name", "First name", holder.firstName, "given-name"),
                        .optional("last_name", "Last name", holder.lastName, "family-name"),
                        .choice(
                            "units", "Units", [("metric", "metric: km, L, °C"), ("us", "US: mi, gal, °F")],
                            holder.units.rawValue),
                        .input("zone", "Time zone, like Europe/Berlin", "text", holder.zone, "off"),
                    ], "Save")
                + "<h2>Password</h2>"
                + FormPage.form(
                    "/account/password",
                    [
                        .hidden(FormGuard.field, mark),
                        .input("old", "Password as it is", "password", "", "current-password"),
                        .newPassword("password", "New one, at least \(Password.length.lowerBound) characters"),
                        .newPassword("again", "The new one again"),
                    ], "Change it and log out everywhere else")
                + HTML.table(
                    caption: "Where you are logged in",
                    headers: [.word("Browser"), .word("Since (UTC)"), .word("Last used (UTC)"), .word("End")],
                    rows: rows,
                    empty: "Nowhere.") + more)
    }
}
