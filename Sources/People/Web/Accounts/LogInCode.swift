internal import Crypto
internal import HTTPServer
internal import Presentation
internal import Storage
internal import Telemetry

/// The second half of a log-in: a code of the time, or one that was written down.
extension AccountRoutes {
    /// An answer that ends what a form began.
    struct Refused: Error { let response: Response }

    func isHalf(_ session: Token) throws -> Bool {
        try pool.withConnection { try SecondFactorStore.state(ofSession: session.digest, on: $0)?.isHalf ?? false }
    }

    /// Leads to the second factor. The cookie opens nothing before.
    func toCode(_ session: Token, next: String, isKept: Bool) -> Response {
        let query = (isKept ? "?keep=1&next=" : "?next=") + URLText.escaped(next)
        return Response.seeOther("/login/code" + query).with("Set-Cookie", cookie.set(session, isKept: isKept))
            .with("Cache-Control", "no-store")
    }

    func showCode(_ request: Request) -> Response {
        answered {
            guard let session = cookie.token(request), try isHalf(session) else { return AccountRoutes.logInOver }
            return .unkept(
                SecondFactorView.code(
                    next: AccountRoutes.next(request.query["next"]), isKept: request.query["keep"] == "1"))
        }
    }

    func checkCode(_ request: Request, _ fields: FormFields) throws -> Response {
        guard let session = cookie.token(request), try isHalf(session) else { return AccountRoutes.logInOver }
        let (next, isKept) = (AccountRoutes.next(fields["next"]), fields["keep"] == "1")
        func again(_ status: Int, _ text: String) -> Response {
            .unkept(SecondFactorView.code(next: next, isKept: isKept, notice: .fault(text)), status)
        }
        let (shown, device, new) = (deviceMark.token(request), Token.random(), Token.random())
        var account: String?
        let isIn = try pool.withConnection { connection -> Bool? in
            guard
                let recipe = try SecondFactorStore.begin(
                    session: session.digest, remote: request.remote, device: shown?.digest, on: connection)
            else { return nil }
            account = recipe.account
            guard let proof = try proof(fields["code"] ?? "", recipe) else { return false }
            return try SecondFactorStore.pass(
                session: session.digest, proof, new: new.digest,
                device: PageSessionStore.Device(
                    agent: AccountRoutes.agent(request), remote: request.remote, shown: shown?.digest,
                    new: device.digest),
                on: connection)
        }
        guard let isIn else { return again(429, AccountRoutes.tooMany).with("Retry-After", "900") }
        guard isIn else {
            try noteFailure(of: account, request, "second factor")
            return again(401, AccountRoutes.otherCode)
        }
        try noteLogIn(new, request, with: "second factor")
        return Response.seeOther(next.isEmpty ? "/" : next).with("Set-Cookie", cookie.set(new, isKept: isKept))
            .with("Set-Cookie", deviceMark.set(device)).with("Cache-Control", "no-store")
    }

    /// Nil: neither a code of the time that was not taken yet, nor of the form of a recovery code.
    func proof(_ typed: String, _ recipe: SecondFactorStore.Recipe) throws -> SecondFactorStore.Proof? {
        let code = typed.filter { $0 != " " }
        guard code.utf8.count == OneTimeCode.digits else {
            return RecoveryCode.digest(code, account: recipe.account).map { .recovery($0) }
        }
        let secret = try opened(recipe.sealedSecret)
        return OneTimeCode.step(of: code, secret: secret, atMs: Clock.nowMs(), after: recipe.lastStep).map { .step($0) }
    }

    func opened(_ sealed: [UInt8]) throws -> [UInt8] {
        guard let secret = codeKey?.open(sealed, for: .secondFactor) else {
            log.error("a second factor is sealed with another key than people.code_key_file", [:])
            throw Refused(response: AccountRoutes.noKey)
        }
        return secret
    }

    static var otherCode: String {
        t(
            "This is not the code that is shown now, or it was used already. Wait for the next one, or give a recovery code."
        )
    }
    static var noKey: Response { withoutKey(("/login", t("Log in"))) }
    static func withoutKey(_ link: (path: String, text: String)) -> Response {
        .unkept(
            AccountView.said(
                t("No second factors here"),
                t(
                    "This server has no key to keep second factors under, or another one than before. Ask who runs it: the setting is people.code_key_file."
                ), link: link), 503)
    }
    static var logInOver: Response {
        .unkept(
            AccountView.said(
                t("This log-in is over"), t("The code comes within 10 minutes after the password. Log in again.")), 410)
    }
}
