internal import Codecs
package import Crypto
internal import Fleet
package import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
package import Telemetry

/// Log-in, registration, forgotten passwords and one's own account: docs/accounts.md. Nothing that is answered says whether
/// there is an account. Through the page's login, which calls functions and reads no table of accounts.
package final class AccountRoutes: Sendable {
    /// The prefix of mailed links, and the key that seals the mail while it waits.
    package struct AccountMail: Sendable {
        let address: String
        let key: CodeKey
        /// - Parameter address: as people reach the pages, like `https://drover.example.org`.
        package init(address: String, key: CodeKey) {
            self.key = key
            self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        }
    }

    let pool: ConnectionPool
    let cookie: SessionCookie
    let deviceMark: DeviceCookie
    let accountMail: AccountMail?
    /// Seals the secrets of second factors; nil: there are none.
    let codeKey: CodeKey?
    let secondFactor: SecondFactorRule
    let assets: AssetFiles
    /// The name of the log-in provider; nil: there is none.
    private let provider: String?
    /// Nil: this is no `drover up --sample`.
    let sample: SampleAccounts?
    let log: Log
    let data: PersonArchiveService

    /// - Parameters:
    ///   - isSecure: the pages come over HTTPS, from us or a proxy.
    ///   - provider: the name of the OpenID provider, nil: there is none.
    ///   - accountMail: nil: no mail can be sent, so nobody registers or gets a new password by it.
    ///   - codeKey: nil: there are no second factors.
    ///   - sample: who else is let in, by one click; nil: nobody.
    package init(
        conninfo: String, isSecure: Bool, accountMail: AccountMail?, codeKey: CodeKey?, secondFactor: SecondFactorRule,
        assets: AssetFiles, provider: String?, sample: SampleAccounts? = nil, log: Log
    ) {
        pool = ConnectionPool(conninfo: conninfo)
        data = PersonArchiveService(conninfo: conninfo, log: log)
        self.codeKey = codeKey
        self.secondFactor = secondFactor
        self.assets = assets
        cookie = SessionCookie(isSecure: isSecure)
        self.accountMail = accountMail
        self.log = log
        deviceMark = DeviceCookie(isSecure: isSecure)
        self.provider = provider
        self.sample = sample
    }

    package func add(to router: inout Router) {
        router.add("GET", "/login") { [self] request in
            .unkept(
                AccountView.logIn(
                    next: AccountRoutes.next(request.query["next"]), provider: provider,
                    hasSample: sample(for: request) != nil, hasMail: accountMail != nil))
        }
        router.add("POST", "/login") { [self] in form($0, logIn) }
        router.add("POST", "/logout") { [self] in ownForm($0, isForHalf: true, logOut) }
        router.add("GET", "/register") { [self] _ in accountMail == nil ? noMail : .unkept(AccountView.register()) }
        router.add("POST", "/register") { [self] in form($0, register) }
        router.add("GET", "/forgot") { [self] _ in accountMail == nil ? noMail : .unkept(AccountView.forgot()) }
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
        router.add("POST", "/account/app-passwords") { [self] in ownForm($0, addAppPassword) }
        router.add("POST", "/account/app-passwords/end") { [self] in ownForm($0, endAppPassword) }
        router.add("POST", "/account/data") { [self] in ownForm($0, downloadData) }
        addSecondFactor(to: &router)
        addSample(to: &router)
    }

    // MARK: In and out

    private func logIn(_ request: Request, _ fields: FormFields) throws -> Response {
        let next = AccountRoutes.next(fields["next"])
        func again(_ status: Int, _ text: String) -> Response {
            .unkept(
                AccountView.logIn(
                    mail: fields["mail"] ?? "", next: next, provider: provider,
                    hasSample: sample(for: request) != nil, hasMail: accountMail != nil, notice: .fault(text)), status)
        }
        guard let mail = AccountRoutes.mail(fields["mail"]), let password = fields.password("password") else {
            return again(422, t("Type your email and password."))
        }
        // Elsewhere such a password is as wrong as any: the account has none.
        if let person = sample(for: request)?.person(mail: mail, password: password),
            let entered = try enter(person, next: next, request)
        {
            return entered
        }
        guard !Password.isBusy else { return busy }
        let (shown, device) = (deviceMark.token(request), Token.random())
        let recipe = try pool.withConnection {
            try PageSessionStore.begin(mail: mail, remote: request.remote, device: shown?.digest, on: $0)
        }
        guard let recipe else {
            try noteFailure(of: mail, request, "too many tries")
            return again(429, AccountRoutes.tooMany).with("Retry-After", "900")
        }
        guard let digest = Password.digest(password, salt: recipe.salt, cost: recipe.cost) else {
            return try pool.withConnection { try busy(mail, request, shown?.digest, $0) }
        }
        let (session, isKept) = (Token.random(), fields["keep"] == "1")
        let isIn = try pool.withConnection {
            try PageSessionStore.logIn(
                mail: mail, password: digest, session: session.digest,
                device: PageSessionStore.Device(
                    agent: AccountRoutes.agent(request), remote: request.remote, shown: shown?.digest,
                    new: device.digest),
                isKept: isKept, on: $0)
        }
        guard isIn else {
            try noteFailure(of: mail, request, "password")
            return again(
                401, t("Wrong email or password, or the email is not confirmed yet."))
        }
        if try isHalf(session) { return toCode(session, next: next, isKept: isKept) }
        try noteLogIn(session, request, with: "password")
        return Response.seeOther(next.isEmpty ? "/" : next).with(
            "Set-Cookie", cookie.set(session, isKept: isKept)
        )
        .with("Set-Cookie", deviceMark.set(device))
        .with("Cache-Control", "no-store")
    }

    private func logOut(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        try connection.transaction {
            try PageSessionStore.end(session: session.digest, on: connection)
            try AuditLog.record(.logOut, by: holder.account, from: request.remote, on: connection)
        }
        return Response.seeOther("/login").with("Set-Cookie", cookie.ended).with("Cache-Control", "no-store")
    }

    /// Notes a log-in before the browser is told.
    func noteLogIn(_ session: Token, _ request: Request, with what: String) throws {
        try pool.withConnection { connection in
            guard let holder = try PageSessionStore.holder(ofSession: session.digest, on: connection) else { return }
            try AuditLog.record(
                .logIn, by: holder.account, from: request.remote, [("with", what)], on: connection)
        }
    }

    /// - Parameter mail: only the account that has it is kept.
    func noteFailure(of mail: String?, _ request: Request, _ why: String) throws {
        try pool.withConnection {
            try AuditLog.record(.logInFailed, about: mail, from: request.remote, [("why", why)], on: $0)
        }
    }

    // MARK: What they share

    struct Why: Error { let text: String }

    static func newPassword(_ fields: FormFields, mail: String) -> Result<String, Why> {
        let password = fields["password"] ?? ""
        guard password.count >= Password.length.lowerBound else {
            return .failure(Why(text: t("Too short: at least \(Password.length.lowerBound) characters.")))
        }
        guard password.utf8.count <= Password.length.upperBound else {
            return .failure(Why(text: t("Too long: at most \(Password.length.upperBound) bytes.")))
        }
        guard password == fields["again"] else { return .failure(Why(text: t("The two passwords differ."))) }
        guard Set(password).count > 3, password.lowercased() != mail.lowercased() else {
            return .failure(Why(text: t("Too easy to guess. Choose another.")))
        }
        return .success(password)
    }

    static func kept(_ password: String) -> PageSessionStore.Kept? {
        let salt = Password.randomSalt()
        return Password.digest(password, salt: salt).map {
            PageSessionStore.Kept(password: $0, salt: salt, cost: .standard)
        }
    }

    static var tooMany: String {
        t("Too many tries. Try again in 15 minutes, or ask an administrator for a link to a new password.")
    }
    static var linkOver: Response {
        .unkept(
            AccountView.said(
                t("This link no longer works"), t("It was used, replaced by a newer one, or is too old."),
                link: ("/forgot", t("Get a new link"))), 410)
    }

    /// Only to pages of ours.
    static func next(_ text: String?) -> String {
        guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), text.utf8.count <= 500,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return "" }
        return text
    }

    /// Nil: none.
    static func mail(_ text: String?) -> String? {
        let text = String((text ?? "").filter { $0 != " " })
        return MailAddress.isValid(text) ? text : nil
    }

    static func agent(_ request: Request) -> String {
        String(
            (request.headers["user-agent"] ?? "").unicodeScalars.filter { (0x20...0x7E).contains($0.value) }.prefix(300)
        )
    }

    var noMail: Response {
        .unkept(
            AccountView.said(
                t("No email here"), t("This server sends no mail. Ask an administrator for an account.")), 503)
    }

    var busy: Response {
        Response.problem(
            503, type: "busy",
            detail: "Many people are logging in right now. Try again in a few seconds."
        ).with("Retry-After", "5")
    }

    /// The same to who has counted as a try before it was found out: that stays with the address, and the account is free of it.
    func busy(
        _ mail: String, _ request: Request, _ device: [UInt8]?, isMail: Bool = false, _ connection: Connection
    ) throws -> Response {
        try PageSessionStore.leaveUnchecked(
            mail: mail, remote: request.remote, device: device, isMail: isMail, on: connection)
        return busy
    }

    /// A form that needs no log-in.
    func form(_ request: Request, _ body: (Request, FormFields) throws -> Response) -> Response {
        if let refusal = CSRFGuard.refusal(request) { return refusal }
        guard let fields = FormFields(request) else { return FormFields.missing }
        return answered { try body(request, fields) }
    }

    /// A form that needs a log-in.
    /// - Parameter isForHalf: also of who lacks a second factor that a role asks for.
    func ownForm(
        _ request: Request, isForHalf: Bool = false,
        _ body: (Request, FormFields, Token, AccountHolder, Connection) throws -> Response
    ) -> Response {
        if let refusal = CSRFGuard.refusal(request) { return refusal }
        guard let fields = FormFields(request) else { return FormFields.missing }
        return withHolder(request, isForHalf: isForHalf) { session, holder, connection in
            guard fields[CSRFGuard.field] == CSRFGuard.mark(session) else {
                return .problem(
                    403, type: "form-old", detail: "You logged in again since you opened this form. Reload the page.")
            }
            return try body(request, fields, session, holder, connection)
        }
    }

    /// Runs `body` for who is logged in; sends others to the log-in.
    func withHolder(
        _ request: Request, isForHalf: Bool = false, _ body: (Token, AccountHolder, Connection) throws -> Response
    ) -> Response {
        answered {
            guard let session = cookie.token(request) else { return AccountRoutes.toLogIn(request) }
            return try pool.withConnection { connection in
                guard let holder = try PageSessionStore.holder(ofSession: session.digest, on: connection) else {
                    // The other half of a log-in is still to come: the cookie stays for it.
                    guard try SecondFactorStore.state(ofSession: session.digest, on: connection)?.isHalf != true else {
                        return .seeOther("/login/code")
                    }
                    return AccountRoutes.toLogIn(request).with("Set-Cookie", cookie.ended)
                }
                if !isForHalf, secondFactor.isMissing(holder) { return .seeOther(SecondFactorRule.path) }
                return try body(session, holder, connection)
            }
        }
    }

    private static func toLogIn(_ request: Request) -> Response {
        .seeOther(request.method == "GET" ? "/login?next=" + request.path : "/login")
    }

    func answered(_ body: () throws -> Response) -> Response {
        do {
            return try body()
        } catch let refused as Refused {
            return refused.response
        } catch {
            log.error("a page of accounts could not be made", ["error": "\(error)"])
            return .problem(
                503, type: "database", detail: "Accounts cannot be looked up right now. Try again in a moment."
            ).with("Retry-After", "5")
        }
    }
}

extension Response {
    /// A page that no cache keeps.
    static func unkept(_ html: HTML, _ status: Int = 200) -> Response {
        .page(html, status: status).with("Cache-Control", "no-store")
    }
}
