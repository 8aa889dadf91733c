internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
package import HTTPServer
internal import Storage
package import Telemetry

/// Decides who may send a large body: people who are logged in or show a valid token; films, tracks and pictures only from those who may
/// submit them. Checked at the headers, so that no megabytes of strangers are kept; the handler checks the rest.
package final class BodyAdmission: Sendable {
    /// Pages that accept more than others.
    private static let sessions: [String: Set<Role>] = [
        "/tour-media": TourRoutes.rangers, "/tour-track": TourRoutes.rangers, "/survey-photos": SurveyRoutes.surveyors,
    ]
    /// Paths of programs' submissions.
    private static let scopes: [String: Scope] = ["/v1/survey-photos": .survey]
    /// XML-RPC calls carry their credentials inside, and phones that report visits have none.
    package static let strangersBytesMaxByPath = [
        "/v1/xmlrpc": XMLRPC.bytesMax, "/v1/tour-visits": TourAppRoutes.bodyBytesMax,
    ]

    private let pool: ConnectionPool
    private let cookie: SessionCookie
    private let secondFactor: SecondFactorRule
    private let log: Log

    /// - Parameter conninfo: of a login in drover_api.
    package init(conninfo: String, isSecure: Bool, secondFactor: SecondFactorRule = .none, log: Log) {
        self.secondFactor = secondFactor
        pool = ConnectionPool(conninfo: conninfo)
        cookie = SessionCookie(isSecure: isSecure)
        self.log = log
    }

    package func admit(_ request: Request) -> Admission {
        do {
            if BodyAdmission.sessions[request.path] == nil, request.headers["authorization"] != nil {
                return try admitToken(request)
            }
            return try admitSession(request)
        } catch {
            log.error("who sends a large body could not be looked up", ["error": "\(error)"])
            return .stranger(BodyAdmission.away)
        }
    }

    private func admitToken(_ request: Request) throws -> Admission {
        let token: Token
        switch Bearer.token(request) {
        case .success(let shown): token = shown
        case .failure(let refusal): return .stranger(refusal.response)
        }
        let found = try pool.withConnection { try TokenStore.use(digest: token.digest, on: $0) }
        switch Bearer.judged(found, BodyAdmission.scopes[request.path] ?? found?.scopes.first ?? .upload) {
        case .success(let use): return .known(use.account)
        case .failure(let refusal): return .stranger(refusal.response)
        }
    }

    private func admitSession(_ request: Request) throws -> Admission {
        guard BodyAdmission.scopes[request.path] == nil, let session = cookie.token(request) else {
            return .stranger(BodyAdmission.unknown)
        }
        let found = try pool.withConnection { try PageSessionStore.holder(ofSession: session.digest, on: $0) }
        guard let holder = found else { return .stranger(BodyAdmission.unknown) }
        if secondFactor.isMissing(holder) { return .stranger(SecondFactorRule.refusal) }
        if let roles = BodyAdmission.sessions[request.path], roles.isDisjoint(with: holder.roles.compactMap(Role.init))
        {
            return .stranger(.problem(403, type: "role-missing", detail: "Bodies of this size are not for your roles."))
        }
        return .known(holder.account)
    }

    static let unknown = Bearer.unauthorized(
        "token-missing",
        "A body of this size is taken of who shows a token (Authorization: Bearer drover_…) or is logged in.")
    static let away = Response.problem(
        503, type: "database", detail: "Who sends this cannot be looked up right now. Send it again shortly."
    ).with("Retry-After", "5")
}

extension CampusRoutes {
    /// The same for people's apps.
    package func admit(_ request: Request) -> Admission {
        let token: Token
        switch Bearer.token(request) {
        case .success(let shown): token = shown
        case .failure(let refusal): return .stranger(refusal.response)
        }
        do {
            guard let caller = try pool.withConnection({ try PersonStore.caller(digest: token.digest, on: $0) })
            else {
                return .stranger(BodyAdmission.unknown)
            }
            return .known(caller.campus + " " + caller.id)
        } catch {
            return .stranger(databaseAway(error))
        }
    }
}
