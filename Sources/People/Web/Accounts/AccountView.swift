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
        mail: String = "", next: String = "", provider: String? = nil, hasSample: Bool = false, hasMail: Bool = true,
        notice: FormView.Notice? = nil
    ) -> HTML {
        FormView.page(
            t("Log in"), notice,
            "<p class=\"soft\">Drover shows where your vehicles, rides and surveys are, and what needs you now.</p>\n"
                + FormView.form(
                    "/login",
                    [
                        .hidden(name: "next", value: next),
                        .input(name: "mail", label: t("Email"), type: "email", value: mail, autocomplete: "username"),
                        .input(
                            name: "password", label: t("Password"), type: "password", value: "",
                            autocomplete: "current-password"),
                        .check(name: "keep", label: t("Stay logged in")),
                    ], t("Log in"))
                + (provider.map { there -> HTML in
                    let way = next.isEmpty ? "/oidc/start" : "/oidc/start?next=" + URLText.escaped(next)
                    return
                        "<p class=\"or\"><span>or</span></p>\n<p><a class=\"btn wide\" href=\"\(way)\">\(HTML.icon(.key))Log in with \(there)</a></p>\n"
                } ?? "")
                    + """
                    \(hasSample ? "<p><a class=\"btn wide\" href=\"/sample\">Try the sample, one click</a></p>\n" : "")\
                    \(hasMail ? "<p class=\"row between wrap\"><a href=\"/forgot\">Forgot password?</a> <span class=\"soft\">New here? <a href=\"/register\">Create an account</a></span></p>" : "")
                    <p class="soft small">No account yet, or no way in? Ask whoever runs Drover where you work: administrators invite people and make links for new passwords.</p>
                    """, isEntrance: true)
    }

    static func register(
        mail: String = "", firstName: String = "", lastName: String = "", notice: FormView.Notice? = nil
    ) -> HTML {
        FormView.page(
            t("Create an account"), notice,
            FormView.form(
                "/register",
                [
                    .input(name: "mail", label: t("Email"), type: "email", value: mail, autocomplete: "username"),
                    .optional(name: "first_name", label: t("First name"), value: firstName, autocomplete: "given-name"),
                    .optional(name: "last_name", label: t("Last name"), value: lastName, autocomplete: "family-name"),
                    password(t("Password")), .newPassword(name: "again", label: t("Repeat password")),
                ], t("Create account")) + "<p class=\"soft\">Have an account? <a href=\"/login\">Log in</a></p>",
            isEntrance: true)
    }

    static func forgot(mail: String = "", notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            t("Forgot your password?"), notice,
            FormView.form(
                "/forgot",
                [
                    .input(name: "mail", label: t("Email"), type: "email", value: mail, autocomplete: "username")
                        .help(t("We mail you a link to choose a new one. It works once, for an hour."))
                ], t("Send link")) + "<p><a href=\"/login\">Back to log-in</a></p>", isEntrance: true)
    }

    static func confirm(link: String, notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            t("Confirm your email"), notice,
            FormView.form(
                "/confirm",
                [
                    .hidden(name: "link", value: link),
                    .input(
                        name: "password", label: t("The password you chose"), type: "password", value: "",
                        autocomplete: "current-password"),
                ], t("Confirm and log in")))
    }

    static func newPassword(link: String, asksMail: Bool, mail: String = "", notice: FormView.Notice? = nil) -> HTML {
        FormView.page(
            t("Choose a password"), notice,
            FormView.form(
                "/password",
                [.hidden(name: "link", value: link)]
                    + (asksMail
                        ? [
                            .input(
                                name: "mail", label: t("Email"), type: "email", value: mail, autocomplete: "username"
                            )
                            .help(t("You log in with it."))
                        ] : [])
                    + [
                        password(t("New password")), .newPassword(name: "again", label: t("Repeat password")),
                    ], t("Save password")), isEntrance: true)
    }

    private static func password(_ label: String) -> FormView.Field {
        .newPassword(name: "password", label: label).help(t("At least \(Password.length.lowerBound) characters"))
    }

    /// A page that only says something.
    static func said(
        _ title: String, _ text: String, link: (path: String, text: String) = ("/login", t("Log in"))
    ) -> HTML {
        FormView.page(
            title, nil,
            "<p>\(text)</p>\n<p><a class=\"btn\" href=\"\(link.path)\">\(link.text)</a></p>")
    }

    /// - Parameters:
    ///   - roles: as text, whom the page is for.
    ///   - back: the page of ours that led here.
    static func notForYou(_ roles: String, back: String?) -> HTML {
        said(
            t("You can’t open this page"),
            t("It is for: \(roles). An administrator of your Drover can give you the role, under People."),
            link: back.map { ($0, t("Go back")) } ?? ("/", t("Home")))
    }

    /// A short name for people; the full header is its title.
    static func agent(_ text: String, or none: String) -> HTML {
        let name = UserAgent.name(text)
        return "<span title=\"\(text)\">\(name.isEmpty ? none : name)</span>"
    }

    /// - Parameters:
    ///   - hasPassword: it logs in with one of ours.
    ///   - secondFactor, apps: cards.
    static func account(
        _ holder: AccountHolder, sessions: [PageSessionStore.SessionRow], hasPassword: Bool, _ caller: PageCaller,
        nowMs: Int64, notice: FormView.Notice? = nil, secondFactor: HTML, apps: HTML
    ) -> HTML {
        let roles = Role.allCases.filter(caller.roles.contains).map { "<span class=\"tag\">\($0.title)</span>" as HTML }
        let rows = sessions.map { session -> [HTML?] in
            let button: HTML =
                session.isThis
                ? HTML.pill("ok", t("This device"))
                : "<form method=\"post\" action=\"/account/sessions/end\">\(FormView.hidden(CSRFGuard.field, caller.mark))\(FormView.hidden("number", String(session.number)))<button class=\"btn small\">Log out</button></form>"
            return [
                agent(session.agent, or: t("Unknown program")), HTML.relativeTime(session.madeMs, nowMs, caller.clock),
                HTML.relativeTime(session.lastUsedMs, nowMs, caller.clock), button,
            ]
        }
        let passwordCard: HTML =
            "<section class=\"card\"><header><h2>Password</h2></header><div class=\"body\">\(newPassword(caller.mark))</div></section>"
        return FormView.said(
            notice,
            """
            <p class="row wrap tools"><b>\(holder.mail ?? holder.account)</b> <span class="soft">known as \(holder.account)</span> \
            \(roles.isEmpty ? "<span class=\"soft\">No roles yet. Ask an administrator for one.</span>" : roles.joined(separator: " "))</p>
            <div class="grid">
            <section class="card w6"><header><h2>About you</h2></header><div class="body">\(profile(holder, caller))</div></section>
            <div class="w6 stack">\(hasPassword ? passwordCard : "")\(secondFactor)</div>
            <div class="w12">\(HTML.table(
                caption: t("Where you are logged in"), headers: [.word(t("Browser")), .word(t("Since")), .word(t("Last used")), .word("")],
                rows: rows, empty: t("Nowhere."), narrow: .cards))</div>
            \(apps)
            </div>
            """)
    }

    private static func profile(_ holder: AccountHolder, _ caller: PageCaller) -> HTML {
        // Units are those of vehicles: whoever sees none has none to choose.
        let hasUnits = !caller.roles.isDisjoint(with: WebRoutes.fleetReaders)
        return FormView.form(
            "/account",
            [
                .hidden(name: CSRFGuard.field, value: caller.mark),
                .optional(
                    name: "first_name", label: t("First name"), value: holder.firstName, autocomplete: "given-name"
                ),
                .optional(
                    name: "last_name", label: t("Last name"), value: holder.lastName, autocomplete: "family-name"),
                hasUnits
                    ? .choice(
                        name: "units", label: t("Units"),
                        of: [("metric", t("Metric: km, L, °C")), ("us", t("US: mi, gal, °F"))],
                        chosen: holder.units.rawValue) : .hidden(name: "units", value: holder.units.rawValue),
                .input(name: "zone", label: t("Time zone"), type: "text", value: holder.zone, autocomplete: "off")
                    .help(t("Like Europe/Berlin")),
            ], t("Save"))
    }

    private static func newPassword(_ mark: String) -> HTML {
        FormView.form(
            "/account/password",
            [
                .hidden(name: CSRFGuard.field, value: mark),
                .input(
                    name: "old", label: t("Current password"), type: "password", value: "",
                    autocomplete: "current-password"),
                password(t("New password")), .newPassword(name: "again", label: t("Repeat new password")),
            ], t("Change password"),
            note: "<p class=\"help\">You stay logged in here and are logged out everywhere else.</p>")
    }
}
