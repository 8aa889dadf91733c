internal import Crypto
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage
internal import Telemetry

/// One's own second factor: set up, moved to another phone, new recovery codes, taken away.
extension AccountRoutes {
    func addSecondFactor(to router: inout Router) {
        router.add("GET", "/login/code") { [self] in showCode($0) }
        router.add("POST", "/login/code") { [self] in form($0, checkCode) }
        router.add("GET", "/account/second-factor") { [self] request in
            withHolder(request, isForHalf: true) { session, holder, connection in
                try secondFactor(session, holder, connection)
            }
        }
        router.add("POST", "/account/second-factor/begin") { [self] in ownForm($0, isForHalf: true, beginFactor) }
        router.add("POST", "/account/second-factor/confirm") { [self] in ownForm($0, isForHalf: true, confirmFactor) }
        router.add("POST", "/account/second-factor/codes") { [self] in ownForm($0, isForHalf: true, renewCodes) }
        router.add("POST", "/account/second-factor/remove") { [self] in ownForm($0, isForHalf: true, removeFactor) }
    }

    private func secondFactor(
        _ session: Token, _ holder: AccountHolder, _ connection: Connection, notice: FormView.Notice? = nil,
        status: Int = 200
    ) throws -> Response {
        guard codeKey != nil else { return AccountRoutes.withoutKey(("/account", t("Your account"))) }
        guard let state = try SecondFactorStore.state(ofSession: session.digest, on: connection) else {
            return .seeOther("/login")
        }
        return .unkept(
            SecondFactorView.own(
                holder, state, isAsked: secondFactor.asks(holder), mark: CSRFGuard.mark(session), notice: notice),
            status)
    }

    private func beginFactor(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        guard let codeKey else { return AccountRoutes.withoutKey(("/account", t("Your account"))) }
        return try proven(request, fields, session, holder, connection) { password, proof in
            let secret = OneTimeCode.randomSecret()
            let isKept = try SecondFactorStore.begin(
                session: session.digest, password: password, proof,
                sealedSecret: codeKey.seal(secret, for: .secondFactor), on: connection)
            return isKept ? shown(secret, holder, session) : nil
        }
    }

    private func confirmFactor(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        guard let sealed = try SecondFactorStore.state(ofSession: session.digest, on: connection)?.nextSecret else {
            return try secondFactor(
                session, holder, connection,
                notice: .fault(t("The secret was shown an hour ago or more. Begin again.")),
                status: 409)
        }
        let (secret, code) = (try opened(sealed), (fields["code"] ?? "").filter { $0 != " " })
        guard let step = OneTimeCode.step(of: code, secret: secret, atMs: Clock.nowMs(), after: 0) else {
            return shown(
                secret, holder, session,
                notice: .fault(t("This is not the code that is shown now. Is the clock of the phone right?")),
                status: 422)
        }
        let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode.random() }
        guard
            try SecondFactorStore.confirm(
                session: session.digest, sealedSecret: sealed, step: step, codes: digests(codes, holder), on: connection
            )
        else { return .seeOther(SecondFactorRule.path) }
        return .unkept(SecondFactorView.codes(codes, isNew: true))
    }

    private func renewCodes(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode.random() }
        return try proven(request, fields, session, holder, connection) { password, proof in
            guard let proof else { return .seeOther(SecondFactorRule.path) }
            let isDone = try SecondFactorStore.change(
                session: session.digest, password: password, proof, codes: digests(codes, holder), on: connection)
            return isDone ? .unkept(SecondFactorView.codes(codes, isNew: false)) : nil
        }
    }

    private func removeFactor(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection
    ) throws -> Response {
        guard !secondFactor.asks(holder) else {
            return try secondFactor(
                session, holder, connection,
                notice: .fault(t("Your role needs one. Move it to another phone instead.")), status: 409)
        }
        return try proven(request, fields, session, holder, connection) { password, proof in
            guard let proof else { return .seeOther(SecondFactorRule.path) }
            let isDone = try SecondFactorStore.change(
                session: session.digest, password: password, proof, codes: nil, on: connection)
            return isDone ? .seeOther(SecondFactorRule.path) : nil
        }
    }

    /// Runs `body` with the password as it is kept, and a code of the factor that is on, each counted as a try. Nil of `body`, or
    /// none of these: the page again.
    private func proven(
        _ request: Request, _ fields: FormFields, _ session: Token, _ holder: AccountHolder, _ connection: Connection,
        _ body: (_ password: [UInt8]?, _ proof: SecondFactorStore.Proof?) throws -> Response?
    ) throws -> Response {
        guard let state = try SecondFactorStore.state(ofSession: session.digest, on: connection) else {
            return .seeOther("/login")
        }
        func tooMany() throws -> Response {
            try secondFactor(session, holder, connection, notice: .fault(AccountRoutes.tooMany), status: 429)
                .with("Retry-After", "900")
        }
        var (password, proof): ([UInt8]?, SecondFactorStore.Proof?) = (nil, nil)
        if state.hasPassword {
            guard !Password.isBusy else { return busy }
            guard
                let recipe = try PageSessionStore.ownRecipe(
                    session: session.digest, remote: request.remote, on: connection)
            else { return try tooMany() }
            guard let digest = Password.digest(fields.password("old") ?? "", salt: recipe.salt, cost: recipe.cost)
            else { return try busy(holder.mail ?? "", request, session.digest, connection) }
            password = digest
        }
        if state.isOn {
            guard
                let recipe = try SecondFactorStore.begin(
                    session: session.digest, remote: request.remote, device: nil, on: connection)
            else { return try tooMany() }
            proof = try self.proof(fields["code"] ?? "", recipe)
        }
        if !state.isOn || proof != nil, let response = try body(password, proof) { return response }
        return try secondFactor(
            session, holder, connection,
            notice: .fault(
                state.isOn
                    ? t("The password or the code is wrong; nothing was changed.")
                    : t("The password is wrong; nothing was changed.")),
            status: 422)
    }

    private func shown(
        _ secret: [UInt8], _ holder: AccountHolder, _ session: Token, notice: FormView.Notice? = nil, status: Int = 200
    ) -> Response {
        .drawn(
            SecondFactorView.secret(
                secret, account: holder.mail ?? holder.account, mark: CSRFGuard.mark(session),
                script: assets.address("second-factor.js"), notice: notice), status)
    }

    private func digests(_ codes: [String], _ holder: AccountHolder) -> [[UInt8]] {
        codes.compactMap { RecoveryCode.digest($0, account: holder.account) }
    }
}
