internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import HTTPServer
internal import Presentation
internal import Storage

/// Mailed links: registration, confirmation, a new password.
extension AccountRoutes {
    func register(_ request: Request, _ fields: FormFields) throws -> Response {
        guard let accountMail else { return noMail }
        let (first, last) = (fields.name("first_name"), fields.name("last_name"))
        func again(_ status: Int, _ text: String) -> Response {
            .unkept(
                AccountView.register(
                    mail: fields["mail"] ?? "", firstName: fields["first_name"] ?? "",
                    lastName: fields["last_name"] ?? "",
                    notice: .fault(text)), status)
        }
        guard let mail = AccountRoutes.mail(fields["mail"]) else {
            return again(422, t("Not an email like name@example.org."))
        }
        guard let first, let last else { return again(422, t("A name has at most 200 bytes, on one line.")) }
        let password: String
        switch AccountRoutes.newPassword(fields, mail: mail) {
        case .success(let chosen): password = chosen
        case .failure(let why): return again(422, why.text)
        }
        guard
            try pool.withConnection({
                try PageSessionStore.beginRegistration(mail: mail, remote: request.remote, on: $0)
            })
        else { return again(429, AccountRoutes.tooMany).with("Retry-After", "3600") }
        // Computed for everybody, so that the time reveals nothing.
        guard let kept = AccountRoutes.kept(password) else {
            return try pool.withConnection { try busy(mail, request, nil, isMail: true, $0) }
        }
        let link = Token.random()
        try pool.withConnection {
            try PageSessionStore.register(
                mail: mail, account: "a-" + Hex.text(Secrets.random(8)), firstName: first,
                lastName: last, new: kept, link: link.digest,
                confirm: accountMail.sealed(
                    "Confirm your mail address",
                    """
                    Somebody made an account with this mail address. If it was you, confirm it with the password that you chose:

                    \(accountMail.address)/confirm?link=\(link.text)

                    The link is good once and for a day. If it was not you, forget this: without the link nobody gets in.

                    """),
                known: accountMail.sealed(
                    "You already have an account",
                    """
                    Somebody wanted to make an account with this mail address, which has one already. If it was you, log in:

                    \(accountMail.address)/login

                    If you forgot the password: \(accountMail.address)/forgot
                    If it was not you, there is nothing to do.

                    """), on: $0)
        }
        return .unkept(
            AccountView.said(
                t("Check your mail"), t("We sent a mail to \(mail). Open its link within a day.")))
    }

    func forgot(_ request: Request, _ fields: FormFields) throws -> Response {
        guard let accountMail else { return noMail }
        guard let mail = AccountRoutes.mail(fields["mail"]) else {
            return .unkept(
                AccountView.forgot(
                    mail: fields["mail"] ?? "", notice: .fault(t("Not an email like name@example.org."))), 422
            )
        }
        let link = Token.random()
        let sealedMail = accountMail.sealed(
            "A new password",
            """
            Somebody asked for a new password for the account with this mail address. If it was you, choose one:

            \(accountMail.address)/password?link=\(link.text)

            The link is good once and for an hour. If it was not you, forget this: the old password stays.

            """)
        let isAdmitted = try pool.withConnection {
            try PageSessionStore.askPasswordLink(
                mail: mail, remote: request.remote, link: link.digest, sealedMail: sealedMail, on: $0)
        }
        guard isAdmitted else {
            return Response.unkept(
                AccountView.forgot(mail: mail, notice: .fault(AccountRoutes.tooMany)), 429
            ).with("Retry-After", "3600")
        }
        return .unkept(
            AccountView.said(
                t("Check your mail"), t("If \(mail) has an account, a link is on its way. It works once, for an hour."))
        )
    }

    func showLink(_ request: Request, _ purpose: PageSessionStore.LinkLook.Purpose) -> Response {
        answered {
            guard let link = request.query["link"].flatMap({ Token($0) }),
                let look = try pool.withConnection({ try PageSessionStore.look(at: link.digest, on: $0) }),
                look.purpose == purpose
            else { return AccountRoutes.linkOver }
            return switch purpose {
            case .confirm: .unkept(AccountView.confirm(link: link.text))
            case .password: .unkept(AccountView.newPassword(link: link.text, asksMail: !look.hasMail))
            }
        }
    }

    func confirm(_ request: Request, _ fields: FormFields) throws -> Response {
        guard let link = fields["link"].flatMap({ Token($0) }),
            let look = try pool.withConnection({ try PageSessionStore.look(at: link.digest, on: $0) }),
            look.purpose == .confirm, let recipe = look.recipe
        else { return AccountRoutes.linkOver }
        let session = Token.random()
        let password = fields.password("password")
        let digest = password.flatMap { Password.digest($0, salt: recipe.salt, cost: recipe.cost) }
        guard password == nil || digest != nil else { return busy }
        guard let digest,
            try pool.withConnection({
                try PageSessionStore.confirm(
                    link: link.digest, password: digest, session: session.digest, agent: AccountRoutes.agent(request),
                    on: $0)
            })
        else {
            return .unkept(
                AccountView.confirm(link: link.text, notice: .fault(t("Wrong password."))), 401)
        }
        try noteLogIn(session, request, with: "link")
        return Response.seeOther("/account").with("Set-Cookie", cookie.set(session, isKept: false))
            .with("Cache-Control", "no-store")
    }

    func setPassword(_ request: Request, _ fields: FormFields) throws -> Response {
        guard let link = fields["link"].flatMap({ Token($0) }),
            let look = try pool.withConnection({ try PageSessionStore.look(at: link.digest, on: $0) }),
            look.purpose == .password
        else { return AccountRoutes.linkOver }
        func again(_ text: String) -> Response {
            .unkept(
                AccountView.newPassword(
                    link: link.text, asksMail: !look.hasMail, mail: fields["mail"] ?? "", notice: .fault(text)), 422)
        }
        let mail = AccountRoutes.mail(fields["mail"])
        guard look.hasMail || mail != nil else { return again(t("Not an email like name@example.org.")) }
        let password: String
        switch AccountRoutes.newPassword(fields, mail: mail ?? "") {
        case .success(let chosen): password = chosen
        case .failure(let why): return again(why.text)
        }
        guard let kept = AccountRoutes.kept(password) else { return busy }
        // Whoever opens the link gets in with the password chosen here, whatever others have tried meanwhile.
        let device = Token.random()
        let isSet = try pool.withConnection {
            try PageSessionStore.setPassword(link: link.digest, mail: mail, new: kept, device: device.digest, on: $0)
        }
        guard isSet else {
            return look.hasMail ? AccountRoutes.linkOver : again(t("Another account has this email."))
        }
        return .unkept(
            AccountView.said(
                t("Password saved"), t("You were logged out everywhere. Log in with the new password."))
        ).with("Set-Cookie", deviceMark.set(device))
    }
}

extension AccountRoutes.AccountMail {
    func sealed(_ subject: String, _ text: String) -> PageSessionStore.SealedMail {
        PageSessionStore.SealedMail(
            id: "account-" + Hex.text(Secrets.random(16)), subject: subject, body: key.seal(Array(text.utf8)))
    }
}
