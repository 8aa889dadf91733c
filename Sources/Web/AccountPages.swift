internal import Fleet
internal import Reports
internal import Secrets
internal import Storage

/// The pages of accounts, as HTML. Everything from outside is escaped.
enum AccountPages {
    struct Notice {
        let text: String
        let isFault: Bool
        static func fault(_ text: String) -> Notice { Notice(text: text, isFault: true) }
        static func done(_ text: String) -> Notice { Notice(text: text, isFault: false) }
    }

    static func logIn(mail: String = "", next: String = "", notice: Notice? = nil) -> String {
        page(
            "Log in", notice,
            form(
                "/login",
                [
                    .hidden("next", next), .input("mail", "Mail address", "email", mail, "username"),
                    .input("password", "Password", "password", "", "current-password"),
                    .check("keep", "Stay logged in on this device"),
                ], "Log in")
                    + """
                    <p><a href="/forgot">Forgot the password?</a></p>
                    <p><a href="/register">Make an account</a></p>
                    """)
    }

    static func register(
        mail: String = "", firstName: String = "", lastName: String = "", notice: Notice? = nil
    ) -> String {
        page(
            "Make an account", notice,
            form(
                "/register",
                [
                    .input("mail", "Mail address", "email", mail, "username"),
                    .optional("first_name", "First name", firstName, "given-name"),
                    .optional("last_name", "Last name", lastName, "family-name"),
                    .newPassword("password", "Password, at least \(Password.length.lowerBound) characters"),
                    .newPassword("again", "The password again"),
                ], "Make the account") + "<p><a href=\"/login\">Log in instead</a></p>")
    }

    static func forgot(mail: String = "", notice: Notice? = nil) -> String {
        page(
            "Forgotten password", notice,
            form(
                "/forgot", [.input("mail", "Mail address", "email", mail, "username")],
                "Mail me a link for a new password") + "<p><a href=\"/login\">Log in instead</a></p>")
    }

    static func confirm(link: String, notice: Notice? = nil) -> String {
        page(
            "Confirm your mail address", notice,
            form(
                "/confirm",
                [
                    .hidden("link", link),
                    .input("password", "The password that you chose", "password", "", "current-password"),
                ], "Confirm and log in"))
    }

    static func newPassword(link: String, asksMail: Bool, mail: String = "", notice: Notice? = nil) -> String {
        page(
            "Choose a password", notice,
            form(
                "/password",
                [.hidden("link", link)]
                    + (asksMail ? [.input("mail", "Your mail address, to log in with", "email", mail, "username")] : [])
                    + [
                        .newPassword("password", "Password, at least \(Password.length.lowerBound) characters"),
                        .newPassword("again", "The password again"),
                    ], "Take this password"))
    }

    /// A page that only says something.
    static func said(_ title: String, _ text: String, link: (path: String, text: String) = ("/login", "Log in"))
        -> String
    {
        page(
            title, nil,
            "<p>\(HTMLText.escaped(text))</p>\n<p><a href=\"\(link.path)\">\(HTMLText.escaped(link.text))</a></p>")
    }

    static func account(
        _ holder: AccountHolder, sessions: [LogInStore.SessionRow], mark: String, notice: Notice? = nil
    ) -> String {
        let roles =
            holder.roles.isEmpty ? "none yet: an administrator gives them" : holder.roles.joined(separator: ", ")
        let rows = sessions.map { session -> [String?] in
            let button =
                session.isThis
                ? "this one"
                : "<form method=\"post\" action=\"/account/sessions/end\">\(hidden(FormGuard.field, mark))"
                    + "\(hidden("number", String(session.number)))<button>End it</button></form>"
            return [
                session.agent.isEmpty ? "a program without a name" : session.agent, time(session.madeMs),
                time(session.lastUsedMs), button,
            ]
        }
        return page(
            "Your account", notice,
            """
            <p>\(HTMLText.escaped(holder.mail ?? holder.account)), known as <b>\(HTMLText.escaped(holder.account))</b>. Roles: \(HTMLText.escaped(roles)).</p>
            <form method="post" action="/logout">\(hidden(FormGuard.field, mark))<button>Log out</button></form>
            <h2>About you</h2>
            """
                + form(
                    "/account",
                    [
                        .hidden(FormGuard.field, mark),
                        .optional("first_name", "First name", holder.firstName, "given-name"),
                        .optional("last_name", "Last name", holder.lastName, "family-name"),
                        .choice(
                            "units", "Units", [("metric", "metric: km, L, °C"), ("us", "US: mi, gal, °F")],
                            holder.units),
                        .input("zone", "Time zone, like Europe/Berlin", "text", holder.zone, "off"),
                    ], "Save")
                + "<h2>Password</h2>"
                + form(
                    "/account/password",
                    [
                        .hidden(FormGuard.field, mark),
                        .input("old", "Password as it is", "password", "", "current-password"),
                        .newPassword("password", "New one, at least \(Password.length.lowerBound) characters"),
                        .newPassword("again", "The new one again"),
                    ], "Change it and log out everywhere else")
                + HTMLText.table(
                    caption: "Where you are logged in",
                    headers: [.prose("Browser"), .word("Since (UTC)"), .word("Last used (UTC)"), .html("End")],
                    rows: rows,
                    empty: "Nowhere."))
    }

    // MARK: Parts

    private enum Field {
        case hidden(String, String)
        case input(String, String, String, String, String)
        case optional(String, String, String, String)
        case newPassword(String, String)
        case check(String, String)
        case choice(String, String, [(value: String, text: String)], String)
    }

    private static func page(_ title: String, _ notice: Notice?, _ body: String) -> String {
        let said = notice.map {
            "<p role=\"\($0.isFault ? "alert" : "status")\" class=\"\($0.isFault ? "critical" : "soon")\">"
                + HTMLText.escaped($0.text) + "</p>"
        }
        return HTMLText.page(
            title: "Drover: \(title.lowercased())",
            body: "<main class=\"narrow\">\n<h1>\(HTMLText.escaped(title))</h1>\n\(said ?? "")\n\(body)\n</main>")
    }

    private static func form(_ action: String, _ fields: [Field], _ button: String) -> String {
        "<form class=\"fields\" method=\"post\" action=\"\(action)\">\n" + fields.map(html).joined(separator: "\n")
            + "\n<button>\(HTMLText.escaped(button))</button>\n</form>\n"
    }

    private static func html(_ field: Field) -> String {
        switch field {
        case .hidden(let name, let value): hidden(name, value)
        case .input(let name, let label, let type, let value, let fill):
            text(name, label, type, value, fill, " required")
        case .optional(let name, let label, let value, let fill): text(name, label, "text", value, fill, "")
        case .newPassword(let name, let label):
            text(name, label, "password", "", "new-password", " required minlength=\"\(Password.length.lowerBound)\"")
        case .check(let name, let label):
            "<label class=\"check\"><input type=\"checkbox\" name=\"\(name)\" value=\"1\"> \(HTMLText.escaped(label))</label>"
        case .choice(let name, let label, let values, let chosen):
            "<label for=\"\(name)\">\(HTMLText.escaped(label))</label>\n<select id=\"\(name)\" name=\"\(name)\">"
                + values.map {
                    "<option value=\"\($0.value)\"\($0.value == chosen ? " selected" : "")>\(HTMLText.escaped($0.text))</option>"
                }.joined() + "</select>"
        }
    }

    private static func text(
        _ name: String, _ label: String, _ type: String, _ value: String, _ fill: String, _ more: String
    ) -> String {
        // One id a page: two forms of the account's page have a field `password`-like each, with names of their own.
        "<label for=\"\(name)\">\(HTMLText.escaped(label))</label>\n<input id=\"\(name)\" name=\"\(name)\" type=\"\(type)\" "
            + "value=\"\(HTMLText.escaped(value))\" autocomplete=\"\(fill)\" maxlength=\"254\"\(more)>"
    }

    private static func hidden(_ name: String, _ value: String) -> String {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTMLText.escaped(value))\">"
    }

    private static func time(_ ms: Int64) -> String { String(UTC.text(ms).prefix(16).replacing("T", with: " ")) }
}
