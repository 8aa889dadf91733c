internal import Basics
internal import Clients
internal import Codecs
internal import Crypto
internal import Formats
internal import Foundation
internal import Synchronization

/// Log-in at an OpenID Connect provider: code flow with PKCE (OpenID Connect Core 1.0, 3.1; RFC 7636).
package final class OpenIDProvider: Sendable {
    /// The person who logged in there.
    package struct Identity: Equatable, Sendable {
        package let issuer, subject: String
        package let mail: String?
        package let isMailVerified: Bool
        package let firstName, lastName: String
    }

    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// The values that the returning log-in must match; the browser keeps them meanwhile.
    package struct Attempt: Sendable {
        package let state, nonce, verifier: String

        package static func random() -> Attempt {
            Attempt(
                state: Base64URL.text(Secrets.random(16)), nonce: Base64URL.text(Secrets.random(16)),
                verifier: Base64URL.text(Secrets.random(32)))
        }

        /// For a cookie.
        package var text: String { "\(state).\(nonce).\(verifier)" }

        init(state: String, nonce: String, verifier: String) {
            self.state = state
            self.nonce = nonce
            self.verifier = verifier
        }

        package init?(_ text: String) {
            let parts = text.split(separator: ".").map(String.init)
            guard parts.count == 3, (60...200).contains(text.utf8.count) else { return nil }
            self.init(state: parts[0], nonce: parts[1], verifier: parts[2])
        }
    }

    private struct Endpoints: Sendable {
        let authorization, token: String
        let people: String?
        let readMs: Int64
    }

    /// For people.
    package let name: String
    private let issuer: ServiceAddress
    /// The issuer, to the letter.
    private let issuerName: String
    private let client: (id: String, secret: String)
    private let caFile: String?
    private let endpoints = Mutex<Endpoints?>(nil)
    /// Anybody can make us ask: a provider that hangs must not hold all threads of the server.
    private let asking = Mutex(0)
    private static let askingMax = 4
    private static let endpointsHoldMs: Int64 = 3_600_000
    /// Clocks differ.
    private static let leewayS: Int64 = 120

    /// - Parameter issuer: the setting `oidc.issuer`.
    package init(
        name: String, issuer: String, clientID: String, clientSecret: String, caFile: String?
    ) throws(ServiceAddress.Fault) {
        self.issuer = try ServiceAddress(issuer, setting: "oidc.issuer")
        self.name = name
        issuerName = issuer
        self.caFile = caFile
        client = (clientID, clientSecret)
    }

    /// The address for the browser. Asks the provider for its endpoint once an hour.
    /// - Parameter back: where it comes back to.
    package func address(of attempt: Attempt, back: String, nowMs: Int64) throws(Fault) -> String {
        let endpoints = try known(nowMs: nowMs)
        let challenge = Base64URL.text(Secrets.sha256(Array(attempt.verifier.utf8)))
        let query = OpenIDProvider.form([
            ("response_type", "code"), ("client_id", client.id), ("redirect_uri", back),
            ("scope", "openid email profile"), ("state", attempt.state), ("nonce", attempt.nonce),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ])
        return endpoints.authorization + (endpoints.authorization.contains("?") ? "&" : "?") + query
    }

    /// Exchanges a code for the person's identity.
    package func identity(
        code: String, attempt: Attempt, back: String, nowMs: Int64
    ) throws(Fault) -> Identity {
        let endpoints = try known(nowMs: nowMs)
        let credentials = OpenIDProvider.form([(client.id, client.secret)]).replacing(
            "=", with: ":", maxReplacements: 1)
        let answer = try ask(
            endpoints.token,
            headers: [
                ("Authorization", "Basic " + Data(credentials.utf8).base64EncodedString()),
                ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
            ],
            body: OpenIDProvider.form([
                ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", back),
                ("code_verifier", attempt.verifier),
            ]))
        guard let token = answer["id_token"]?.text else {
            throw Fault(description: "the provider's answer has no id_token")
        }
        let found = try claims(of: token, nonce: attempt.nonce, nowS: nowMs / 1_000)
        guard found["email"] == nil, let people = endpoints.people, let access = answer["access_token"]?.text
        else {
            return identity(found)
        }
        // A provider may tell of people there only (OpenID Connect Core 1.0, 5.4).
        let told = try ask(people, headers: [("Authorization", "Bearer " + access), ("Accept", "application/json")])
        guard told["sub"]?.text == found["sub"]?.text else {
            throw Fault(description: "the provider told of somebody else")
        }
        return identity(found, told)
    }

    /// The token came from the provider itself over TLS, which stands in the place of its signature (OpenID Connect Core 1.0,
    /// 3.1.3.7, 6); everything else of that list is looked at.
    private func claims(of token: String, nonce: String, nowS: Int64) throws(Fault) -> JSONValue {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = OpenIDProvider.object(Base64URL.bytes(parts[1]) ?? []) else {
            throw Fault(description: "the id_token is none")
        }
        let audiences = claims["aud"]?.items ?? claims["aud"].map { [$0] } ?? []
        guard claims["iss"]?.text == issuerName else {
            throw Fault(description: "the id_token is of another issuer")
        }
        guard audiences.contains(.text(client.id)), audiences.count == 1 || claims["azp"]?.text == client.id else {
            throw Fault(description: "the id_token is for somebody else")
        }
        guard case .number(let text)? = claims["exp"], let end = Double(text),
            end + Double(OpenIDProvider.leewayS) > Double(nowS)
        else {
            throw Fault(description: "the id_token is too old")
        }
        guard claims["nonce"]?.text == nonce else { throw Fault(description: "the id_token is of another log-in") }
        guard let subject = claims["sub"]?.text, (1...255).contains(subject.utf8.count) else {
            throw Fault(description: "the id_token names nobody")
        }
        return claims
    }

    /// - Parameters:
    ///   - claims: were checked.
    ///   - more: what they leave out.
    private func identity(_ claims: JSONValue, _ more: JSONValue = .object([])) -> Identity {
        func claim(_ key: String) -> JSONValue? { claims[key] ?? more[key] }
        func name(_ key: String) -> String {
            let text = claim(key)?.text ?? ""
            return text.utf8.count <= 200 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 } ? text : ""
        }
        return Identity(
            issuer: issuerName, subject: claim("sub")?.text ?? "", mail: claim("email")?.text,
            isMailVerified: claim("email_verified") == .bool(true), firstName: name("given_name"),
            lastName: name("family_name"))
    }

    /// OpenID Connect Discovery 1.0.
    private func known(nowMs: Int64) throws(Fault) -> Endpoints {
        if let known = endpoints.withLock({ $0 }), nowMs - known.readMs < OpenIDProvider.endpointsHoldMs {
            return known
        }
        let document = try ask(issuer.base + "/.well-known/openid-configuration")
        guard document["issuer"]?.text == issuerName else {
            throw Fault(description: "the provider calls itself otherwise than oidc.issuer does")
        }
        func endpoint(_ key: String) throws(Fault) -> String {
            guard let text = document[key]?.text, (1...2_000).contains(text.utf8.count),
                text.hasPrefix("https://") || issuer.isPlain && text.hasPrefix("http://"),
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw Fault(description: "the provider's `\(key)` is no address like https://…") }
            return text
        }
        let read = Endpoints(
            authorization: try endpoint("authorization_endpoint"), token: try endpoint("token_endpoint"),
            people: document["userinfo_endpoint"] == nil ? nil : try endpoint("userinfo_endpoint"), readMs: nowMs)
        endpoints.withLock { $0 = read }
        return read
    }

    private func ask(
        _ url: String, headers: [(name: String, value: String)] = [], body: String? = nil
    ) throws(Fault) -> JSONValue {
        guard
            asking.withLock({ asking in
                guard asking < OpenIDProvider.askingMax else { return false }
                asking += 1
                return true
            })
        else { throw Fault(description: "\(OpenIDProvider.askingMax) log-ins wait for the provider already") }
        defer { asking.withLock { $0 -= 1 } }
        var limits = HTTPSClient.Limits()
        limits.connectMs = 5_000
        limits.totalMs = 10_000
        limits.bodyBytesMax = 1 << 20
        let reply: Reply
        do {
            let https = try HTTPSClient(caFile: caFile, limits: limits, isPlainAllowed: issuer.isPlain)
            reply = try https.ask(url, headers: headers, body: body.map { Array($0.utf8) })
        } catch {
            throw Fault(description: "\(error)")
        }
        // The provider's reason may repeat what was sent.
        guard reply.status == 200 else { throw Fault(description: "the provider answered with status \(reply.status)") }
        guard let object = OpenIDProvider.object(reply.body) else {
            throw Fault(description: "the provider's answer is no JSON object")
        }
        return object
    }

    private static func object(_ bytes: [UInt8]) -> JSONValue? {
        guard let tree = try? JSONValue(bytes), case .object = tree else { return nil }
        return tree
    }

    private static func form(_ items: [(String, String)]) -> String {
        items.map { PercentEncoding.text($0.0) + "=" + PercentEncoding.text($0.1) }.joined(separator: "&")
    }
}
