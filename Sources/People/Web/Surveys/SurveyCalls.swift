internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Postgres
internal import Storage
internal import Telemetry

/// XML-RPC as Drupal Services speaks it, for clients that are there; docs/survey-apps.md.
extension SurveyAppRoutes {
    /// Fault codes of calls, for programs; stable. Others are the HTTP status of the same request.
    private enum Code {
        static let notXMLRPC: Int32 = -32_700
        static let noSuchMethod: Int32 = -32_601
        static let parameters: Int32 = -32_602
    }

    private struct CallFault: Error {
        let code: Int32
        let reason: String
        init(_ code: Int32, _ reason: String) { (self.code, self.reason) = (code, reason) }
    }

    private static let cookie = "drover_survey"
    /// For calls that need no authentication: log-ins, and unknown methods.
    private static let strangersBytesMax = 16 << 10
    private static let submissions: Set = ["node.save", "node.create", "drover.submitSurvey"]

    func answerCall(_ request: Request) -> Response {
        guard ["text/xml", "application/xml"].contains(request.contentType) else {
            return .problem(415, type: "content-type", detail: "XML-RPC comes as text/xml.")
        }
        return PackedBody.unpacked(request, bytesMax: XMLRPC.bytesMax) { body in
            do throws(CallFault) {
                // Authenticates the caller before the work of parsing the survey.
                let opening: XMLRPC.Opening
                do throws(XMLRPC.Fault) { opening = try XMLRPC.opening(body) } catch {
                    throw CallFault(Code.notXMLRPC, "\(error)")
                }
                guard SurveyAppRoutes.submissions.contains(opening.method) else {
                    guard body.count <= SurveyAppRoutes.strangersBytesMax else {
                        throw CallFault(Code.notXMLRPC, "A call of this method is not so long.")
                    }
                    return try answer(try SurveyAppRoutes.call(body))
                }
                let use = try caller(opening, request)
                return try answer(try SurveyAppRoutes.call(body), use, isSessionShown: opening.shown != nil)
            } catch {
                return SurveyAppRoutes.fault(error)
            }
        }
    }

    private static func call(_ body: [UInt8]) throws(CallFault) -> XMLRPC.Call {
        do throws(XMLRPC.Fault) { return try XMLRPC.call(body) } catch {
            throw CallFault(Code.notXMLRPC, "\(error)")
        }
    }

    private static func fault(_ fault: CallFault) -> Response { xml(XMLRPC.fault(code: fault.code, fault.reason)) }

    private static func xml(_ body: [UInt8]) -> Response {
        Response(
            200, headers: [("Content-Type", "text/xml; charset=utf-8"), ("Cache-Control", "no-store")], body: body)
    }

    private func answer(_ call: XMLRPC.Call) throws(CallFault) -> Response {
        switch call.method {
        case "system.connect": return SurveyAppRoutes.session(SurveyAppRoutes.newSession(), user: nil)
        case "user.login": return try logIn(call.parameters)
        default: throw CallFault(Code.noSuchMethod, "There is no method of that name here.")
        }
    }

    private func answer(
        _ call: XMLRPC.Call, _ use: TokenStore.Use, isSessionShown: Bool
    ) throws(CallFault) -> Response {
        guard let parameter = call.parameters.last, call.parameters.count == (isSessionShown ? 2 : 1) else {
            throw CallFault(Code.parameters, "This takes a session and what is handed in.")
        }
        switch call.method {
        case "node.save", "node.create":
            guard let nodes else {
                throw CallFault(501, "This server takes no nodes: its surveys.node_map_file is not set.")
            }
            if case .structure(let members) = parameter, let nid = members.first(where: { $0.name == "nid" })?.value,
                ![.null, .text(""), .text("0"), .integer(0)].contains(nid)
            {
                throw CallFault(
                    409, "A survey that was handed in stays as it is: leave `nid` out, corrections are a reviewer's.")
            }
            let tree: JSONValue
            do throws(SurveyText.Faults) { tree = try nodes.survey(of: parameter) } catch {
                throw CallFault(422, error.description)
            }
            let isCreate = call.method == "node.create"
            return try submit(tree, use) { receipt, _, survey in
                let nid = XMLRPC.Member("nid", .integer(receipt.number))
                let path = SurveyAppRoutes.path(site: survey.site, survey: survey.survey)
                return isCreate ? .structure([nid, XMLRPC.Member("uri", .text(path))]) : nid.value
            }
        default:
            guard let tree = parameter.json else { throw CallFault(Code.parameters, "The survey must be a struct.") }
            return try submit(tree, use) { receipt, digest, survey in
                .structure([
                    XMLRPC.Member("receipt", .integer(receipt.number)), XMLRPC.Member("site", .text(survey.site)),
                    XMLRPC.Member("survey", .text(survey.survey)),
                    XMLRPC.Member("received_at", .text(UTC.text(receipt.receivedMs))),
                    XMLRPC.Member("digest", .text(Hex.text(digest))),
                ])
            }
        }
    }

    private func submit(
        _ tree: JSONValue, _ use: TokenStore.Use,
        _ value: @escaping @Sendable (SurveyReceiptStore.Receipt, [UInt8], Survey) -> XMLRPC.Value
    ) throws(CallFault) -> Response {
        let survey: Survey
        do throws(Problem) { survey = try SurveyAppRoutes.survey(tree, nowMs: Clock.nowMs()) } catch {
            throw CallFault(error.code, error.detail)
        }
        let answer = DeferredResponse()
        receiver.accept(survey, of: use.account, by: use.id) { [self] outcome in
            guard let problem = problem(of: outcome) else {
                guard case .stored(let receipt, let digest, _) = outcome else {
                    preconditionFailure("stored or a problem")
                }
                return answer.give(SurveyAppRoutes.xml(XMLRPC.response(value(receipt, digest, survey))))
            }
            let fault = SurveyAppRoutes.fault(CallFault(problem.code, problem.detail))
            answer.give(problem.code == 503 ? fault.with("Retry-After", SurveyAppRoutes.retryAfter(outcome)) : fault)
        }
        return .later(answer)
    }

    // MARK: Sessions

    /// 256 bits of chance.
    private static func newSession() -> String { Hex.text(Secrets.random(Secrets.digestBytes)) }

    private static func session(_ session: String, user: String?) -> Response {
        let account = XMLRPC.Member(
            "user",
            .structure([
                XMLRPC.Member("uid", .integer(user == nil ? 0 : 1)), XMLRPC.Member("name", .text(user ?? "")),
            ]))
        return xml(
            XMLRPC.response(
                .structure([
                    XMLRPC.Member("sessid", .text(session)), XMLRPC.Member("session_name", .text(cookie)), account,
                ])))
    }

    /// `user.login(name, token)`, or with the session of `system.connect` before it. The name is not looked at.
    private func logIn(_ parameters: [XMLRPC.Value]) throws(CallFault) -> Response {
        guard (2...3).contains(parameters.count), case .text(let password)? = parameters.last else {
            throw CallFault(Code.parameters, "user.login takes a name and, as the password, an app's token.")
        }
        guard let token = Token(password) else {
            throw CallFault(
                401,
                "The password is no app password of this server. Make one on the account's page, /account: the account's own "
                    + "password is not taken here, whether or not it has a second factor.")
        }
        let use = try use(of: token.digest)
        let session = SurveyAppRoutes.newSession()
        try withDatabase { connection in
            try SurveyReceiptStore.openSession(
                token: token.digest, session: Secrets.digest(Array(session.utf8)), on: connection)
        }
        return SurveyAppRoutes.session(session, user: use.account)
    }

    /// The caller, by the session or token in front, or by the session's cookie.
    private func caller(_ opening: XMLRPC.Opening, _ request: Request) throws(CallFault) -> TokenStore.Use {
        let shown = opening.shown ?? SurveyAppRoutes.cookie(of: request) ?? ""
        if let token = Token(shown) { return try use(of: token.digest) }
        let digest = Secrets.digest(Array(shown.utf8))
        guard let token = try withDatabase({ try SurveyReceiptStore.token(ofSession: digest, on: $0) }) else {
            throw CallFault(401, "There is no such session. Call user.login again.")
        }
        return try use(of: token)
    }

    private func use(of digest: [UInt8]) throws(CallFault) -> TokenStore.Use {
        let found = try withDatabase { try TokenStore.use(digest: digest, on: $0) }
        switch Bearer.judged(found, .survey) {
        case .success(let use): return use
        case .failure(let refusal):
            let isScope = refusal.response.status == 403
            throw CallFault(
                Int32(refusal.response.status),
                isScope ? "The token does not have the scope survey." : "The token does not hold. Ask for a new one.")
        }
    }

    private func withDatabase<R>(_ body: (Connection) throws -> R) throws(CallFault) -> R {
        do { return try pool.withConnection(body) } catch {
            log.error("a surveyor's app could not be answered", ["error": "\(error)"])
            throw CallFault(503, "This cannot be looked up right now. Keep the survey and call again.")
        }
    }

    private static func cookie(of request: Request) -> String? {
        let pairs = (request.headers["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        return pairs.first { $0.hasPrefix(cookie + "=") }.map { String($0.dropFirst(cookie.count + 1)) }
    }
}
