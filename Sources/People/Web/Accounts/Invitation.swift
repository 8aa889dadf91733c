internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Storage

/// What an administrator types to invite a colleague.
struct Invitation {
    var mail = ""
    var role: Role?
    var fleet = ""
    /// Why it was not sent, by field.
    var faults: [String: String] = [:]

    init() {}

    init(_ fields: FormFields) {
        mail = String((fields["mail"] ?? "").filter { $0 != " " }.prefix(254))
        role = fields["role"].flatMap(Role.init)
        fleet = fields["fleet"] ?? ""
        if AccountRoutes.mail(mail) == nil { faults["mail"] = t("Not an email like name@example.org.") }
        if role == nil { faults["role"] = t("Choose what they will do.") }
    }

    /// `ville.oja` of `ville.oja@example.org`, as ids of accounts are written.
    /// - Parameter more: signs behind it, where somebody has that id.
    func account(more: String = "") -> String {
        let name = mail.prefix { $0 != "@" }.lowercased().unicodeScalars.filter { sign in
            sign.isASCII && (sign.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains(sign))
        }
        let text = String(String.UnicodeScalarView(name.prefix(40)))
        let whole = (text.isEmpty ? "person" : text) + more
        // Accounts that people make for themselves are called so: `drover.register` clears up among them.
        return whole.hasPrefix("a-") ? "person-" + whole.dropFirst(2) : whole
    }
}

extension AdministrationRoutes {
    func invite(
        _ request: Request, _ caller: PageCaller, _ fields: FormFields, _ connection: Connection
    ) throws -> Response {
        var asked = Invitation(fields)
        guard asked.faults.isEmpty, let role = asked.role else {
            return try overview(caller, nil, inviting: asked, connection, status: 422)
        }
        let link = Token.random()
        let sealedMail = accountMail.map { mail in
            mail.sealed(
                "You are invited to Drover",
                """
                \(caller.account) invites you to Drover as \(role.name). Choose a password here:

                \(mail.address)/password?link=\(link.text)

                The link works once, for 7 days. You log in with this email address.

                """)
        }
        func tried(_ account: String) throws -> AdministrationStore.Invitation {
            try AdministrationStore.invite(
                account, mail: asked.mail, role: role, fleet: asked.fleet, link: link.digest, sealedMail,
                on: connection)
        }
        var outcome = try tried(asked.account())
        // Two people of one name: the second gets a few more signs.
        if outcome == .taken { outcome = try tried(asked.account(more: "-" + Hex.text(Secrets.random(3)))) }
        switch outcome {
        case .invited:
            guard accountMail == nil else {
                return try overview(
                    caller,
                    .done(
                        t(
                            "Invitation sent to \(asked.mail). They choose a password with its link, within 7 days, and are logged in with what you gave them."
                        )), connection)
            }
            return try overview(
                caller, .done(t("\(asked.mail) is added. Send them the link below.")),
                handed: AdministrationRoutes.origin(request) + "/password?link=\(link.text)", connection)
        case .known: asked.faults["mail"] = t("Somebody with this email has an account already.")
        case .fleet: asked.faults["fleet"] = t("This fleet no longer exists.")
        case .taken: asked.faults["mail"] = t("Not invited. Try again.")
        case .many: asked.faults["mail"] = t("500 invitations and links wait for an answer. Wait for some first.")
        case .refused: asked.faults["mail"] = t("Only administrators invite people.")
        }
        return try overview(caller, nil, inviting: asked, connection, status: 409)
    }

    /// Where the browser that sent the form has these pages: what a link that is handed over begins with. Empty: it does not say.
    private static func origin(_ request: Request) -> String {
        guard let origin = request.headers["origin"], origin.utf8.count <= 200,
            origin.hasPrefix("https://") || origin.hasPrefix("http://")
        else { return "" }
        return origin
    }
}

/// The form of an invitation.
enum InvitationView {
    /// A link to hand over, and what comes of it.
    static func link(_ address: String) -> HTML {
        """
        <section class="card" aria-labelledby="handed"><header><h2 id="handed">Invitation link</h2></header>
        <div class="body form"><div class="fld"><label for="handed-link">Send it to them yourself: this server sends no mail</label>
        <div class="row"><span class="grow"><input id="handed-link" type="text" readonly value="\(address)"></span>\
        <button class="btn primary" type="button" data-copy="handed-link" hidden>\(HTML.icon(.copy))Copy</button></div>
        <span class="help">It works once, for 7 days. They choose a password with it, and log in with their email. It is not shown again.</span></div></div></section>
        """
    }

    static func html(
        _ asked: Invitation, _ fleets: [AdministrationStore.FleetRow], mark: String, hasMail: Bool
    ) -> HTML {
        let roles: [HTML] = Role.allCases.map { role in
            """
            <label><span class="row"><input class="check" type="radio" name="role" value="\(role.rawValue)"\(" checked", if: role == asked.role) required> <b>\(role.title)</b></span><small class="soft">\(role.about)</small></label>
            """
        }
        let roleFault: HTML? = asked.faults["role"].map { "<span class=\"err\">\(HTML.icon(.warn))\($0)</span>" }
        let mailField = FormView.around(
            t("Email"), "invite-mail", FormView.Dress(fault: asked.faults["mail"]),
            """
            <input id="invite-mail" name="mail" type="email" value="\(asked.mail)" autocomplete="off" maxlength="254" required autofocus>
            """)
        let fleetField = FormView.around(
            t("Fleet"), "invite-fleet",
            FormView.Dress(help: t("They see its vehicles."), fault: asked.faults["fleet"]),
            """
            <select id="invite-fleet" name="fleet">\(HTML.options([("", t("None"))] + fleets.map { ($0.fleet, $0.name) }, asked.fleet))</select>
            """)
        return """
            <section class="card" aria-labelledby="invite"><header><h2 id="invite">Invite a colleague</h2></header>
            <form class="body form" method="post" action="/administration/invite">\(FormView.hidden(CSRFGuard.field, mark))
            \(mailField)
            <fieldset class="bare"><legend>What will they do?</legend>\(roleFault)<div class="pick">\(roles.joined(separator: "\n"))</div></fieldset>
            \(fleets.isEmpty ? "" : fleetField)
            <div class="row wrap"><button class="btn primary">\(hasMail ? t("Send invitation") : t("Create link"))</button>\
            <a class="btn" href="/administration">Cancel</a><span class="soft small">The link works for 7 days.</span></div>
            </form></section>
            """
    }
}
