internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import HTTPServer
internal import Storage
internal import Telemetry

extension SurveyAppRoutes {
    /// Per account and day.
    private static let photosADayMax: Int32 = 2_000
    /// No survey may begin further ahead of now.
    static let aheadMsMax: Int64 = UTC.msPerDay

    // MARK: Surveys

    func acceptSurvey(_ request: Request) -> Response {
        authorized(request) { use in
            let isCSV: Bool
            switch request.contentType {
            case "application/json": isCSV = false
            case "text/csv": isCSV = true
            default:
                return .problem(
                    415, type: "content-type", detail: "A survey comes as application/json or as text/csv in UTF-8.")
            }
            return PackedBody.unpacked(request, bytesMax: SurveyCSV.bytesMax) { body in
                do throws(Problem) {
                    return accept(try SurveyAppRoutes.survey(body, isCSV: isCSV, nowMs: Clock.nowMs()), use)
                } catch {
                    return error.response
                }
            }
        }
    }

    struct Problem: Error {
        let response: Response
        /// The fault code for XML-RPC clients; stable.
        let code: Int32
        let detail: String

        init(_ status: Int, _ type: String, _ detail: String, faults: [String] = []) {
            let list = JSONValue.list(faults.map { .text($0) }).rendered()
            response = .problem(status, type: type, detail: detail, more: faults.isEmpty ? [:] : ["faults": list])
            code = Int32(status)
            self.detail = ([detail] + faults).joined(separator: " ")
        }
    }

    private static func survey(_ body: [UInt8], isCSV: Bool, nowMs: Int64) throws(Problem) -> Survey {
        guard isCSV else {
            guard body.count <= SurveyText.bytesMax else {
                throw Problem(413, "body-too-large", "A survey has at most \(SurveyText.bytesMax) bytes as JSON.")
            }
            guard String(validating: body, as: UTF8.self) != nil else {
                throw Problem(400, "not-json", "The body is not UTF-8 text.")
            }
            let tree: JSONValue
            do throws(JSONValue.Fault) { tree = try JSONValue(body, bytesMax: SurveyText.bytesMax) } catch {
                throw Problem(400, "not-json", "The body is no JSON that can be read: \(error).")
            }
            return try survey(tree, nowMs: nowMs)
        }
        let tree: JSONValue
        do throws(SurveyText.Faults) { tree = try SurveyCSV.decode(body) } catch {
            throw unfit(error.all)
        }
        return try survey(tree, nowMs: nowMs)
    }

    /// Checks what the records' own reader cannot: that it does not lie ahead.
    static func survey(_ tree: JSONValue, nowMs: Int64) throws(Problem) -> Survey {
        let survey: Survey
        do throws(SurveyText.Faults) {
            survey = try SurveyText.decode(tree)
        } catch {
            throw unfit(error.all)
        }
        guard survey.startMs <= nowMs + aheadMsMax else {
            throw unfit(["start: lies more than a day ahead of now: check the clock and the year"])
        }
        return survey
    }

    private static func unfit(_ faults: [String]) -> Problem {
        Problem(422, "survey", "The survey cannot be taken as it is: see faults.", faults: faults)
    }

    private func accept(_ survey: Survey, _ use: TokenStore.Use) -> Response {
        let answer = DeferredResponse()
        receiver.accept(survey, of: use.account, by: use.id) { [self] outcome in
            answer.give(response(to: outcome, survey))
        }
        return .later(answer)
    }

    func response(to outcome: SurveyReceiver.Outcome, _ survey: Survey) -> Response {
        switch outcome {
        case .stored(let receipt, let digest, let isNew):
            let fields = SurveyAppRoutes.fields(receipt, digest, site: survey.site, survey: survey.survey)
            let response = Response.json(JSONValue.object(fields).rendered(), status: isNew ? 201 : 200)
            return response.with("Location", SurveyAppRoutes.path(site: survey.site, survey: survey.survey))
                .with("Cache-Control", "no-store")
        case .taken, .brokerAway, .busy, .databaseAway, .unfit:
            let problem = problem(of: outcome)!
            guard problem.code == 503 else { return problem.response }
            return problem.response.with("Retry-After", SurveyAppRoutes.retryAfter(outcome))
        }
    }

    static func retryAfter(_ outcome: SurveyReceiver.Outcome) -> String {
        if case .busy = outcome { "1" } else if case .brokerAway = outcome { "10" } else { "5" }
    }

    /// Nil: it is stored.
    func problem(of outcome: SurveyReceiver.Outcome) -> Problem? {
        switch outcome {
        case .stored: return nil
        case .taken:
            return Problem(
                409, "survey-taken",
                "A survey of this site and id was handed in before, with other contents; it stays as it is. Corrections are a "
                    + "reviewer's; another survey needs another id.")
        case .brokerAway:
            return Problem(
                503, "broker-away",
                "The survey cannot be stored right now. Keep it and send it again with the same ids.")
        case .busy:
            return Problem(503, "busy", "Too much is under way. Send the survey again with the same ids.")
        case .databaseAway(let error):
            log.error("a survey could not be promised", ["error": "\(error)"])
            return Problem(
                503, "database", "The survey cannot be stored right now. Keep it and send it again with the same ids.")
        case .unfit(let why):
            return SurveyAppRoutes.unfit([why])
        }
    }

    // MARK: Receipts

    static func fields(
        _ receipt: SurveyReceiptStore.Receipt, _ digest: [UInt8], site: String, survey: String
    ) -> [JSONValue.Field] {
        [
            ("receipt", .integer(receipt.number)), ("site", .text(site)), ("survey", .text(survey)),
            ("received_at", .text(UTC.text(receipt.receivedMs))), ("digest", .text(Hex.text(digest))),
            ("status_url", .text(path(site: site, survey: survey))),
        ]
    }

    static func path(site: String, survey: String) -> String { "/v1/surveys/receipts/\(site)/\(survey)" }

    func showReceipt(_ request: Request) -> Response {
        authorized(request) { use in
            let (site, survey) = (request.parameters["site"]!, request.parameters["survey"]!)
            let found: SurveyReceiptStore.State?
            do {
                found = try pool.withConnection {
                    try SurveyReceiptStore.state(site: site, survey: survey, account: use.account, on: $0)
                }
            } catch {
                return databaseAway(error)
            }
            guard let state = found else {
                return .problem(404, type: "not-found", detail: "There is no receipt of yours for such a survey.")
            }
            let more: [JSONValue.Field] = [
                ("state", .text(SurveyAppRoutes.name(of: state))),
                ("version", state.version.map { .integer(Int64($0)) } ?? .null),
                ("weather", state.weatherMissing.map { .text($0 == 0 ? "known" : "pending") } ?? .null),
            ]
            let fields = SurveyAppRoutes.fields(state.receipt, state.digest, site: site, survey: survey) + more
            return .json(JSONValue.object(fields).rendered()).with("Cache-Control", "no-store")
        }
    }

    private static func name(of state: SurveyReceiptStore.State) -> String {
        if state.isSetAside { return "set-aside" }
        if state.version != nil { return "stored" }
        return state.receipt.isLogged ? "pending" : "received"
    }

    // MARK: Species and photos

    func listSpecies(_ request: Request) -> Response { authorized(request) { _ in species(request) } }

    /// Names that may be met there in that month.
    /// - Parameter common: what people call them, which pages say with them.
    func species(_ request: Request, common: (([String]) throws -> [String: String])? = nil) -> Response {
        func number(_ name: String, _ most: Double) -> Double? {
            request.query[name].flatMap(QueryNumber.double).flatMap { $0.magnitude <= most ? $0 : nil }
        }
        let month = request.query["month"].flatMap { $0.utf8.count <= 2 ? Int($0) : nil }
        guard let latitude = number("lat", 90), let longitude = number("lon", 180), let month, (1...12).contains(month)
        else {
            return .problem(
                400, type: "place",
                detail:
                    "`lat` must be -90 to 90, `lon` -180 to 180, and `month` 1 to 12, like ?lat=52.1&lon=0.2&month=6")
        }
        do {
            let names = try pool.withConnection {
                try SurveyReceiptStore.species(latitude: latitude, longitude: longitude, month: month, on: $0)
            }
            var answer: [(String, JSONValue)] = [("species", .list(names.map { .text($0) }))]
            if let called = try common?(names) {
                answer.append(("common", .list(names.map { .text(called[$0] ?? "") })))
            }
            return .json(JSONValue.object(answer).rendered())
                .with("Cache-Control", "private, max-age=3600")
        } catch {
            return databaseAway(error)
        }
    }

    func acceptPhoto(_ request: Request) -> Response {
        authorized(request) { use in keepPhoto(request, of: use.account) }
    }

    func keepPhoto(_ request: Request, of account: String) -> Response {
        let photo: PhotoFile
        do throws(PhotoFile.Fault) { photo = try PhotoFile(request.body) } catch {
            return .problem(415, type: "photo", detail: "This is no photo that can be taken: \(error).")
        }
        let name = Hex.text(Secrets.digest(photo.content))
        do {
            let isKept = try pool.withConnection {
                try SurveyReceiptStore.keepPhoto(
                    photo.content, type: photo.mediaType, photo: name, account: account,
                    dayMax: SurveyAppRoutes.photosADayMax, on: $0)
            }
            guard isKept else {
                return .problem(
                    429, type: "too-many",
                    detail:
                        "An account hands in at most \(SurveyAppRoutes.photosADayMax) photos a day. Try again later."
                ).with("Retry-After", "3600")
            }
            return .json(
                JSONValue.object([
                    ("photo", .text(name)), ("media_type", .text(photo.mediaType)),
                    ("bytes", .integer(Int64(photo.content.count))),
                ]).rendered(), status: 201
            ).with("Cache-Control", "no-store")
        } catch {
            return databaseAway(error)
        }
    }
}

/// Numbers of queries.
enum QueryNumber {
    /// Nil: no plain decimal number.
    static func double(_ text: String) -> Double? {
        guard (1...30).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.".utf8.contains($0) })
        else { return nil }
        return Double(text)
    }
}
