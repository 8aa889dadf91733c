package import Codecs
internal import Crypto
package import ExternalServices
internal import Formats
package import HTTPServer
package import Ingest
internal import Storage
package import Telemetry

/// The API of surveyors' apps: docs/survey-apps.md. Its login may submit surveys and read its own receipts, no more.
package final class SurveyAppRoutes: Sendable {
    /// Photos are larger than what else is handed in.
    package static let bodyBytesMaxByPath = ["/v1/survey-photos": PhotoFile.bytesMax]

    let pool: ConnectionPool
    let receiver: SurveyReceiver
    let nodes: SurveyNodeMap?
    let log: Log

    /// - Parameters:
    ///   - conninfo: a login in drover_survey.
    ///   - nodes: nil: old clients' nodes are not taken.
    ///   - cache: nil: all weather is added later.
    package init(conninfo: String, uploads: UploadSender, nodes: SurveyNodeMap?, cache: WeatherCache?, log: Log) {
        self.nodes = nodes
        self.log = log
        pool = ConnectionPool(conninfo: conninfo, idleMax: 12)
        receiver = SurveyReceiver(pool, conninfo: conninfo, uploads: uploads, cache: cache)
    }

    /// Call once, after the last request.
    package func stop() { receiver.stop() }

    package func add(to router: inout Router) {
        router.add("POST", "/v1/surveys") { [self] in acceptSurvey($0) }
        router.add("GET", "/v1/surveys/receipts/{site}/{survey}") { [self] in showReceipt($0) }
        router.add("GET", "/v1/species-list") { [self] in listSpecies($0) }
        router.add("POST", "/v1/survey-photos") { [self] in acceptPhoto($0) }
        router.add("POST", "/v1/xmlrpc") { [self] in answerCall($0) }
    }

    /// Runs `then` for an app whose token opens surveys; else refuses the token with the reason.
    func authorized(_ request: Request, _ then: (TokenStore.Use) -> Response) -> Response {
        let token: Token
        switch Bearer.token(request) {
        case .success(let shown): token = shown
        case .failure(let refusal): return refusal.response
        }
        let found: TokenStore.Use?
        do {
            found = try pool.withConnection { try TokenStore.use(digest: token.digest, on: $0) }
        } catch {
            return databaseAway(error)
        }
        switch Bearer.judged(found, .survey) {
        case .success(let use): return then(use)
        case .failure(let refusal): return refusal.response
        }
    }

    func databaseAway(_ error: any Error) -> Response {
        log.error("a surveyor's app could not be answered", ["error": "\(error)"])
        return .problem(
            503, type: "database",
            detail: "This cannot be looked up right now. Keep the survey and send it again with the same ids."
        ).with("Retry-After", "5")
    }
}
