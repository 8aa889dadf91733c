internal import Basics
internal import Codecs
internal import Crypto
package import ExternalServices
package import HTTPServer
internal import Presentation
internal import Storage
internal import Telemetry

/// Log-in at an OpenID Connect provider; nothing but the way there and back.
package struct OpenIDRoutes: Sendable {
    private let provider: OpenIDProvider
    private let accounts: AccountRoutes
    private let back: String
    private let attempts: AttemptCookie

    /// - Parameter address: as people reach the pages; the provider has to know `<address>/oidc/back`.
    package init(_ provider: OpenIDProvider, accounts: AccountRoutes, address: String) {
        self.provider = provider
        self.accounts = accounts
        back = (address.hasSuffix("/") ? String(address.dropLast()) : address) + "/oidc/back"
        attempts = AttemptCookie(isSecure: accounts.cookie.isSecure)
    }

    package func add(to router: inout Router) {
        router.add("GET", "/oidc/start") { request in
            accounts.answered {
                let attempt = OpenIDProvider.Attempt.random()
                do throws(OpenIDProvider.Fault) {
                    let there = try provider.address(of: attempt, back: back, nowMs: Clock.nowMs())
                    let next = AccountRoutes.next(request.query["next"])
                    // The one way off this server, to where the operator's provider says.
                    return Response(303, headers: [("Location", there)]).with(
                        "Set-Cookie", attempts.set(attempt, next: next)
                    )
                    .with("Cache-Control", "no-store")
                } catch {
                    return away(error)
                }
            }
        }
        router.add("GET", "/oidc/back") { request in
            accounts.answered { try comeBack(request).with("Cache-Control", "no-store") }
        }
    }

    private func comeBack(_ request: Request) throws -> Response {
        guard let (attempt, next) = attempts.found(request), request.query["state"] == attempt.state else {
            return refused(
                400, t("This log-in was not begun in this browser, or too long ago."),
                t("Begin again from the log-in page."))
        }
        guard let code = request.query["code"], (1...4_000).contains(code.utf8.count) else {
            return refused(
                401, t("\(provider.name) did not log you in."), t("Try again, or log in with your password."))
        }
        let identity: OpenIDProvider.Identity
        do throws(OpenIDProvider.Fault) {
            identity = try provider.identity(code: code, attempt: attempt, back: back, nowMs: Clock.nowMs())
        } catch {
            return away(error)
        }
        let session = Token.random()
        let mail = identity.isMailVerified ? AccountRoutes.mail(identity.mail) : nil
        let isIn = try accounts.pool.withConnection {
            try PageSessionStore.logIn(
                issuer: identity.issuer, subject: identity.subject, verifiedMail: mail, firstName: identity.firstName,
                lastName: identity.lastName, new: "a-" + Hex.text(Secrets.random(8)), session: session.digest,
                agent: AccountRoutes.agent(request), on: $0)
        }
        guard isIn else {
            try accounts.noteFailure(of: mail, request, "openid")
            return refused(
                403, t("\(provider.name) knows you, but there is no account for you here."),
                t("Either your account is disabled, or \(provider.name) has not verified your mail address."))
        }
        if try accounts.isHalf(session) {
            return accounts.toCode(session, next: next, isKept: false).with("Set-Cookie", attempts.ended)
        }
        try accounts.noteLogIn(session, request, with: "openid")
        return Response.seeOther(next.isEmpty ? "/" : next)
            .with("Set-Cookie", accounts.cookie.set(session, isKept: false)).with("Set-Cookie", attempts.ended)
    }

    private func refused(_ status: Int, _ what: String, _ then: String) -> Response {
        Response.unkept(AccountView.said(t("Not logged in"), what + " " + then), status).with(
            "Set-Cookie", attempts.ended)
    }

    private func away(_ fault: OpenIDProvider.Fault) -> Response {
        accounts.log.error("the OpenID provider logs nobody in", ["error": "\(fault)"])
        return refused(
            502, t("\(provider.name) cannot be asked right now."), t("Try again, or log in with your password."))
    }
}

/// The state that the browser keeps while its person is at the provider.
private struct AttemptCookie {
    private static let holdsS = 600
    private let name: String
    private let isSecure: Bool

    init(isSecure: Bool) { (self.isSecure, name) = (isSecure, isSecure ? "__Host-drover-oidc" : "drover-oidc") }

    func found(_ request: Request) -> (attempt: OpenIDProvider.Attempt, next: String)? {
        let pairs = (request.headers["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        guard let text = pairs.first(where: { $0.hasPrefix(name + "=") })?.dropFirst(name.utf8.count + 1),
            let end = text.lastIndex(of: "."), let attempt = OpenIDProvider.Attempt(String(text[..<end])),
            let next = Base64URL.bytes(text[text.index(after: end)...])
        else { return nil }
        return (attempt, AccountRoutes.next(String(decoding: next, as: UTF8.self)))
    }

    func set(_ attempt: OpenIDProvider.Attempt, next: String) -> String {
        attributes("\(name)=\(attempt.text).\(Base64URL.text(Array(next.utf8)))", AttemptCookie.holdsS)
    }

    var ended: String { attributes("\(name)=", 0) }

    private func attributes(_ start: String, _ ageS: Int) -> String {
        start + "; Path=/; HttpOnly; SameSite=Lax\(isSecure ? "; Secure" : ""); Max-Age=\(ageS)"
    }
}
