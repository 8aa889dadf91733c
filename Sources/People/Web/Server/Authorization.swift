internal import Crypto
internal import HTTPServer
internal import Postgres
internal import Storage

extension WebRoutes {
    /// Runs `then` for a program whose token allows `scope`; else refuses the token with the reason.
    func authorized(_ request: Request, _ scope: Scope, _ then: (TokenStore.Use) -> Response) -> Response {
        authorized(request, anyOf: [scope], then)
    }

    /// One of these scopes is enough. Precondition: there is one.
    func authorized(_ request: Request, anyOf scopes: [Scope], _ then: (TokenStore.Use) -> Response) -> Response {
        let token: Token
        switch Bearer.token(request) {
        case .success(let shown): token = shown
        case .failure(let refusal): return refusal.response
        }
        let found: TokenStore.Use?
        do {
            found = try withConnection { try TokenStore.use(digest: token.digest, on: $0) }
        } catch {
            return databaseAway(request.path, error)
        }
        let scope = scopes.first { found?.scopes.contains($0) == true } ?? scopes[0]
        switch Bearer.judged(found, scope) {
        case .success(let use): return noted(request, use, then(use))
        case .failure(let refusal): return refusal.response
        }
    }

    /// The audit entry of the call; the database knows whether the account sees all.
    private func noted(_ request: Request, _ use: TokenStore.Use, _ response: Response) -> Response {
        guard AuditedResponse.isGiven(response), let told = AuditedResponse(request, seesAll: true) else {
            return response
        }
        do {
            try withConnection { connection in
                try AuditLog.record(
                    told.action, by: use.account, about: told.subject, from: request.remote,
                    told.detail + (told.action == .dataSeen ? [] : [("token", use.id)]), on: connection)
            }
            return response
        } catch {
            return databaseAway(request.path, error)
        }
    }

    /// A program reads what its account sees; of an installation's own programs that is an operator's.
    func reading<R>(_ use: TokenStore.Use, _ body: (Connection) throws -> R) throws -> R {
        try access.reading(as: use.account, body)
    }
}

/// Tokens as programs and apps show them: RFC 6750.
enum Bearer {
    struct Refusal: Error { let response: Response }

    static func token(_ request: Request) -> Result<Token, Refusal> {
        guard let header = request.headers["authorization"] else {
            return .failure(
                Refusal(
                    response: unauthorized(
                        "token-missing", "This needs a token: Authorization: Bearer drover_….")))
        }
        let words = header.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bearer", let token = Token(String(words[1])) else {
            return .failure(
                Refusal(
                    response: unauthorized(
                        "token-unknown", "The Authorization header holds no token of this server.")))
        }
        return .success(token)
    }

    /// Checks that a token holds for `scope`.
    static func judged(_ found: TokenStore.Use?, _ scope: Scope) -> Result<TokenStore.Use, Refusal> {
        func refused(_ type: String, _ detail: String) -> Result<TokenStore.Use, Refusal> {
            .failure(Refusal(response: unauthorized(type, detail)))
        }
        guard let use = found else { return refused("token-unknown", "There is no such token. Ask for a new one.") }
        if use.isRevoked {
            return refused(
                "token-revoked",
                "The token was revoked, or its account is disabled. Ask whoever runs Drover for a new one.")
        }
        if use.isExpired { return refused("token-expired", "The token has expired. Ask for a new one.") }
        guard use.scopes.contains(scope) else {
            return .failure(
                Refusal(
                    response: .problem(
                        403, type: "scope-missing", detail: "The token does not have the scope \(scope.rawValue)."
                    ).with("WWW-Authenticate", "Bearer error=\"insufficient_scope\", scope=\"\(scope.rawValue)\"")))
        }
        // It names no account whose rights it would have.
        guard use.isOfAccount || scope.isForWriting else {
            return refused(
                "token-account",
                "The token's account does not exist, so that it reads nothing. Ask for a token of an account.")
        }
        return .success(use)
    }

    /// RFC 6750, 3.
    static func unauthorized(_ type: String, _ detail: String) -> Response {
        .problem(401, type: type, detail: detail).with("WWW-Authenticate", "Bearer")
    }
}
