internal import Fleet
public import HTTP
public import Observe
internal import Outside
internal import Postgres
public import Secrets
internal import Storage
internal import Wire

/// Log-in, registration, forgotten passwords and one's own account: docs/accounts.md. Nothing that is answered says whether
/// there is an account. Through the page's login, which calls functions and reads no table of accounts.
public final class AccountSite: Sendable {
    /// What mailed links begin with, and under what the mail is sealed while it waits.
    public struct Post: Sendable {
        let address: String
        let key: CodeKey
        /// - Parameter address: as people reach the pages, like `https://drover.example.org`.
        public init(address: String, key: CodeKey) {
            self.key = key
            self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        }
    }

    let lender: ConnectionLender
    let cookie: SessionCookie
    private let post: Post?
    private let log: Log

    /// - Parameters:
    ///   - isSecure: the pages come over HTTPS, from us or a proxy.
    ///   - post: nil: no mail can be sent, so nobody registers or gets a new password by it.
    public init(conninfo: String, isSecure: Bool, post: Post?, log: Log) {
        lender = ConnectionLender(conninfo: conninfo)
        (cookie, self.post, self.log) = (SessionCookie(isSecure: isSecure), post, log)
    }

    public func add(to router: inout Router) {
        router.add("GET", "/login") { request in
            .page(AccountPages.logIn(next: AccountSite.next(request.query["next"])))
        }
        router.add("POST", "/login") { [self] in form($0, logIn) }
        router.add("POST", "/logout") { [self] in ownForm($0, logOut) }
        router.add("GET", "/register") { [self] _ in post == nil ? noMail : .page(AccountPages.register()) }
        router.add("POST", "/register") { [self] in form($0, register) }
        router.add("GET", "/forgot") { [self] _ in post == nil ? noMail : .page(AccountPages.forgot()) }
        router.add("POST", "/forgot") { [self] in form($0, forgot) }
        router.add("GET", "/confirm") { [self] in showLink($0, .confirm) }
        router.add("POST", "/confirm") { [self] in form($0, confirm) }
        router.add("GET", "/password") { [self] in showLink($0, .password) }
        router.add("POST", "/password") { [self] in form($0, setPassword) }
        router.add("GET", "/account") { [self] request in
            withHolder(request) { session, holder, connection in
                try account(session, holder, nil, connection)
            }
        }
        router.add("POST", "/account") { [self] in ownForm($0, change) }
        router.add("POST", "/account/password") { [self] in ownForm($0, changePassword) }
        router.add("POST", "/account/sessions/end") { [self] in ownForm($0, endSession) }
    }

    // MARK: In and out

    private func logIn(_ request: Request, _ fields: Fields) throws -> Response {
        let next = AccountSite.next(fields["next"])
        func again(_ status: Int, _ text: String) -> Response {
            .page(AccountPages.logIn(mail: fields["mail"] ?? "", next: next, notice: .fault(text)), status)
        }
        guard let mail = AccountSite.mail(fields["mail"]), let password = fields.password("password") else {
            return again(422, "Give your mail address and the password.")
        }
        let recipe = try lender.withConnection {
            try LogInStore.begin(mail: mail, remote: request.remote, on: $0)
        }
        guard let recipe else { return again(429, AccountSite.tooMany).with("Retry-After", "900") }
        guard let digest = Password.digest(password, salt: recipe.salt, cost: recipe.cost) else { return busy }
        let (session, isKept) = (Token.random(), fields["keep"] == "1")
        let isIn = try lender.withConnection {
            try LogInStore.logIn(
                mail: mail, password: digest, session: session.digest, agent: AccountSite.agent(request),
                isKept: isKept, on: $0)
        }
        guard isIn else {
            return again(
                401, "The mail address or the password is another, or the mail address was not confirmed yet.")
        }
        return Response.seeOther(next.isEmpty ? "/account" : next).with(
            "Set-Cookie", cookie.set(session, isKept: isKept)
        )
        .with("Cache-Control", "no-store")
    }

    private func logOut(
        _ request: Request, _ fields: Fields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        try LogInStore.end(session: session.digest, on: connection)
        return Response.seeOther("/login").with("Set-Cookie", cookie.ended).with("Cache-Control", "no-store")
    }

    // MARK: Mailed links

    private func register(_ request: Request, _ fields: Fields) throws -> Response {
        guard let post else { return noMail }
        let (first, last) = (fields.name("first_name"), fields.name("last_name"))
        func again(_ status: Int, _ text: String) -> Response {
            .page(
                AccountPages.register(
                    mail: fields["mail"] ?? "", firstName: fields["first_name"] ?? "",
                    lastName: fields["last_name"] ?? "",
                    notice: .fault(text)), status)
        }
        guard let mail = AccountSite.mail(fields["mail"]) else {
            return again(422, "The mail address is none, like name@example.org.")
        }
        guard let first, let last else { return again(422, "A name has at most 200 bytes and no line ends.") }
        let password: String
        switch AccountSite.newPassword(fields, mail: mail) {
        case .success(let chosen): password = chosen
        case .failure(let why): return again(422, why.text)
        }
        guard
            try lender.withConnection({
                try LogInStore.beginRegistration(mail: mail, remote: request.remote, on: $0)
            })
        else { return again(429, AccountSite.tooMany).with("Retry-After", "3600") }
        // All of it is made for whoever asks, so that it takes the same time.
        guard let kept = AccountSite.kept(password) else { return busy }
        let link = Token.random()
        try lender.withConnection {
            try LogInStore.register(
                mail: mail, account: "a-" + Hex.text(Secrets.random(8)), firstName: first,
                lastName: last, new: kept, link: link.digest,
                confirm: post.letter(
                    "Confirm your mail address",
                    """
                    Somebody made an account with this mail address. If it was you, confirm it with the password that you chose:

                    \(post.address)/confirm?link=\(link.text)

                    The link is good once and for a day. If it was not you, forget this: without the link nobody gets in.

                    """),
                known: post.letter(
                    "You already have an account",
                    """
                    Somebody wanted to make an account with this mail address, which has one already. If it was you, log in:

                    \(post.address)/login

                    If you forgot the password: \(post.address)/forgot
                    If it was not you, there is nothing to do.

                    """), on: $0)
        }
        return .page(
            AccountPages.said(
                "Look into your mail", "A mail is on its way to \(mail). It says how to go on, within a day."))
    }

    private func forgot(_ request: Request, _ fields: Fields) throws -> Response {
        guard let post else { return noMail }
        guard let mail = AccountSite.mail(fields["mail"]) else {
            return .page(
                AccountPages.forgot(
                    mail: fields["mail"] ?? "", notice: .fault("The mail address is none, like name@example.org.")), 422
            )
        }
        let link = Token.random()
        let letter = post.letter(
            "A new password",
            """
            Somebody asked for a new password for the account with this mail address. If it was you, choose one:

            \(post.address)/password?link=\(link.text)

            The link is good once and for an hour. If it was not you, forget this: the old password stays.

            """)
        let isAdmitted = try lender.withConnection {
            try LogInStore.askPasswordLink(
                mail: mail, remote: request.remote, link: link.digest, letter: letter, on: $0)
        }
        guard isAdmitted else {
            return Response.page(
                AccountPages.forgot(mail: mail, notice: .fault(AccountSite.tooMany)), 429
            ).with("Retry-After", "3600")
        }
        return .page(
            AccountPages.said(
                "Look into your mail",
                "If there is an account with \(mail), a mail with a link is on its way. It is good for an hour."))
    }

    private func showLink(_ request: Request, _ purpose: LogInStore.LinkLook.Purpose) -> Response {
        answered {
            guard let link = request.query["link"].flatMap({ Token($0) }),
                let look = try lender.withConnection({ try LogInStore.look(at: link.digest, on: $0) }),
                look.purpose == purpose
            else { return AccountSite.linkOver }
            return switch purpose {
            case .confirm: .page(AccountPages.confirm(link: link.text))
            case .password: .page(AccountPages.newPassword(link: link.text, asksMail: !look.hasMail))
            }
        }
    }

    private func confirm(_ request: Request, _ fields: Fields) throws -> Response {
        guard let link = fields["link"].flatMap({ Token($0) }),
            let look = try lender.withConnection({ try LogInStore.look(at: link.digest, on: $0) }),
            look.purpose == .confirm, let recipe = look.recipe
        else { return AccountSite.linkOver }
        let session = Token.random()
        guard let password = fields.password("password"),
            let digest = Password.digest(password, salt: recipe.salt, cost: recipe.cost),
            try lender.withConnection({
                try LogInStore.confirm(
                    link: link.digest, password: digest, session: session.digest, agent: AccountSite.agent(request),
                    on: $0)
            })
        else {
            return .page(
                AccountPages.confirm(link: link.text, notice: .fault("This is not the password that was chosen.")), 401)
        }
        return Response.seeOther("/account").with("Set-Cookie", cookie.set(session, isKept: false))
            .with("Cache-Control", "no-store")
    }

    private func setPassword(_ request: Request, _ fields: Fields) throws -> Response {
        guard let link = fields["link"].flatMap({ Token($0) }),
            let look = try lender.withConnection({ try LogInStore.look(at: link.digest, on: $0) }),
            look.purpose == .password
        else { return AccountSite.linkOver }
        func again(_ text: String) -> Response {
            .page(
                AccountPages.newPassword(
                    link: link.text, asksMail: !look.hasMail, mail: fields["mail"] ?? "", notice: .fault(text)), 422)
        }
        let mail = AccountSite.mail(fields["mail"])
        guard look.hasMail || mail != nil else { return again("The mail address is none, like name@example.org.") }
        let password: String
        switch AccountSite.newPassword(fields, mail: mail ?? "") {
        case .success(let chosen): password = chosen
        case .failure(let why): return again(why.text)
        }
        guard let kept = AccountSite.kept(password) else { return busy }
        let isSet = try lender.withConnection {
            try LogInStore.setPassword(link: link.digest, mail: mail, new: kept, on: $0)
        }
        guard isSet else {
            return look.hasMail ? AccountSite.linkOver : again("Another account has this mail address already.")
        }
        return .page(
            AccountPages.said(
                "The password is taken", "It holds from now on. Wherever you were logged in, you are no longer."))
    }

    // MARK: One's own account

    private func account(
        _ session: Token, _ holder: AccountHolder, _ notice: AccountPages.Notice?, _ connection: Connection,
        status: Int = 200
    ) throws -> Response {
        .page(
            AccountPages.account(
                holder, sessions: try LogInStore.sessions(ofSession: session.digest, on: connection),
                mark: FormGuard.mark(session), notice: notice), status)
    }

    private func change(
        _ request: Request, _ fields: Fields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        guard let first = fields.name("first_name"), let last = fields.name("last_name") else {
            return try account(
                session, holder, .fault("A name has at most 200 bytes and no line ends."), connection, status: 422)
        }
        guard let units = fields["units"], ["metric", "us"].contains(units) else {
            return try account(session, holder, .fault("Units are metric or us."), connection, status: 422)
        }
        guard let zone = fields["zone"], TimeZoneName(zone) != nil else {
            return try account(
                session, holder, .fault("The time zone is none that is known, like Europe/Berlin."), connection,
                status: 422)
        }
        try LogInStore.change(
            session: session.digest, firstName: first, lastName: last, units: units, zone: zone, on: connection)
        guard let changed = try LogInStore.holder(ofSession: session.digest, on: connection) else {
            return .seeOther("/login")
        }
        return try account(session, changed, .done("Saved."), connection)
    }

    private func changePassword(
        _ request: Request, _ fields: Fields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        let password: String
        switch AccountSite.newPassword(fields, mail: holder.mail ?? "") {
        case .success(let chosen): password = chosen
        case .failure(let why): return try account(session, holder, .fault(why.text), connection, status: 422)
        }
        guard
            let recipe = try LogInStore.ownRecipe(session: session.digest, remote: request.remote, on: connection)
        else {
            return try account(session, holder, .fault(AccountSite.tooMany), connection, status: 429)
                .with("Retry-After", "900")
        }
        guard let kept = AccountSite.kept(password),
            let old = Password.digest(fields.password("old") ?? "", salt: recipe.salt, cost: recipe.cost)
        else { return busy }
        guard try LogInStore.changePassword(session: session.digest, old: old, new: kept, on: connection) else {
            return try account(
                session, holder, .fault("The password as it is was another; nothing was changed."), connection,
                status: 401)
        }
        return try account(
            session, holder, .done("The password is changed. Everywhere else you are logged out."), connection)
    }

    private func endSession(
        _ request: Request, _ fields: Fields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        if let number = fields["number"].flatMap({ Int64($0) }) {
            try LogInStore.end(session: session.digest, number: number, on: connection)
        }
        return Response.seeOther("/account").with("Cache-Control", "no-store")
    }

    // MARK: What they share

    /// The fields of a form, the first of each name.
    struct Fields {
        private let values: [String: String]
        init?(_ request: Request) {
            guard let items = request.formItems else { return nil }
            values = Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
        }
        subscript(_ name: String) -> String? { values[name] }
        /// Nil: too long to be one.
        func password(_ name: String) -> String? {
            values[name].flatMap { (1...Password.length.upperBound).contains($0.utf8.count) ? $0 : nil }
        }
        /// Empty where none is given; nil: too long, or with line ends.
        func name(_ name: String) -> String? {
            let text = values[name] ?? ""
            return text.utf8.count <= 200 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 } ? text : nil
        }
    }

    private struct Why: Error { let text: String }

    private static func newPassword(_ fields: Fields, mail: String) -> Result<String, Why> {
        let password = fields["password"] ?? ""
        guard password.count >= Password.length.lowerBound else {
            return .failure(Why(text: "A password has at least \(Password.length.lowerBound) characters."))
        }
        guard password.utf8.count <= Password.length.upperBound else {
            return .failure(Why(text: "A password has at most \(Password.length.upperBound) bytes."))
        }
        guard password == fields["again"] else { return .failure(Why(text: "The two passwords are not the same.")) }
        guard Set(password).count > 3, password.lowercased() != mail.lowercased() else {
            return .failure(Why(text: "This password is too easily guessed."))
        }
        return .success(password)
    }

    private static func kept(_ password: String) -> LogInStore.Kept? {
        let salt = Password.randomSalt()
        return Password.digest(password, salt: salt).map {
            LogInStore.Kept(password: $0, salt: salt, cost: .standard)
        }
    }

    private static let tooMany = "There were too many tries. Try again later."
    private static let linkOver = Response.page(
        AccountPages.said(
            "This link is over",
            "It was used, replaced by a newer one, or is too old. Ask for another.",
            link: ("/forgot", "Ask for a new one")), 410)

    /// Only to pages of ours.
    private static func next(_ text: String?) -> String {
        guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), text.utf8.count <= 500,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return "" }
        return text
    }

    /// Nil: none.
    private static func mail(_ text: String?) -> String? {
        let text = String((text ?? "").filter { $0 != " " })
        return MailAddress.isValid(text) ? text : nil
    }

    private static func agent(_ request: Request) -> String {
        String(
            (request.headers["user-agent"] ?? "").unicodeScalars.filter { (0x20...0x7E).contains($0.value) }.prefix(300)
        )
    }

    private var noMail: Response {
        .page(
            AccountPages.said(
                "No mail", "This server sends no mail, so it can confirm nobody. Ask who runs it for an account."), 503)
    }

    private var busy: Response {
        Response.problem(503, type: "busy", detail: "Too much is under way. Try again in a moment.")
            .with("Retry-After", "5")
    }

    /// A form of somebody who need not be logged in.
    private func form(_ request: Request, _ body: (Request, Fields) throws -> Response) -> Response {
        if let refusal = FormGuard.refusal(request) { return refusal }
        guard let fields = Fields(request) else { return AccountSite.noForm }
        return answered { try body(request, fields) }
    }

    /// A form of somebody who is logged in.
    private func ownForm(
        _ request: Request, _ body: (Request, Fields, Token, AccountHolder, Connection) throws -> Response
    ) -> Response {
        if let refusal = FormGuard.refusal(request) { return refusal }
        guard let fields = Fields(request) else { return AccountSite.noForm }
        return withHolder(request) { session, holder, connection in
            guard fields[FormGuard.field] == FormGuard.mark(session) else {
                return .problem(
                    403, type: "form-old", detail: "This form is of another log-in. Open the page again.")
            }
            return try body(request, fields, session, holder, connection)
        }
    }

    /// Runs `body` for who is logged in; sends others to the log-in.
    private func withHolder(
        _ request: Request, _ body: (Token, AccountHolder, Connection) throws -> Response
    ) -> Response {
        answered {
            guard let session = cookie.token(request) else { return AccountSite.toLogIn(request) }
            return try lender.withConnection { connection in
                guard let holder = try LogInStore.holder(ofSession: session.digest, on: connection) else {
                    return AccountSite.toLogIn(request).with("Set-Cookie", cookie.ended)
                }
                return try body(session, holder, connection)
            }
        }
    }

    private static func toLogIn(_ request: Request) -> Response {
        .seeOther(request.method == "GET" ? "/login?next=" + request.path : "/login")
    }

    private static let noForm = Response.problem(
        415, type: "content-type", detail: "This comes as a form: application/x-www-form-urlencoded.")

    private func answered(_ body: () throws -> Response) -> Response {
        do {
            return try body()
        } catch {
            log.error("a page of accounts could not be made", ["error": "\(error)"])
            return .problem(
                503, type: "database", detail: "Accounts cannot be looked up right now. Try again in a moment."
            ).with("Retry-After", "5")
        }
    }
}

extension AccountSite.Post {
    fileprivate func letter(_ subject: String, _ text: String) -> LogInStore.SealedMail {
        LogInStore.SealedMail(
            id: "account-" + Hex.text(Secrets.random(16)), subject: subject, body: key.seal(Array(text.utf8)))
    }
}

extension Response {
    fileprivate static func page(_ html: String, _ status: Int = 200) -> Response {
        Response.page(html, status: status, hasScripts: false).with("Cache-Control", "no-store")
    }
}
