internal import Codecs
internal import Formats
internal import HTTPServer
internal import Reports
internal import Storage

/// `POST /v1/query`: one SELECT of a program's own, as its account sees; docs/analyst.md.
extension WebRoutes {
    func addQuestions(to router: inout Router) {
        router.add("POST", "/v1/query") { [self] request in
            authorized(request, .query) { use in
                guard request.contentType == "application/json" else {
                    return .problem(415, type: "content-type", detail: "A question comes as application/json.")
                }
                guard let form = QuestionFormat.accepted(request) else {
                    return .problem(406, type: "accept", detail: "Answers are application/json or text/csv.")
                }
                return PackedBody.unpacked(request) { body in answer(body, form, use, request.path) }
            }
        }
    }

    private func answer(_ body: [UInt8], _ form: QuestionFormat, _ use: TokenStore.Use, _ path: String) -> Response {
        guard let tree = try? JSONValue(body), let statement = tree["statement"]?.text else {
            return .problem(
                422, type: "body", detail: "The body is to be an object like {\"statement\": \"SELECT …\"}.")
        }
        do {
            let output = try questions.ask(statement, as: use.account, by: StreamAccess(key: use.digest))
            return try form.response(output).with("Cache-Control", "no-store")
        } catch let refusal as QuestionService.Refusal {
            return refusal.response
        } catch {
            return databaseAway(path, error)
        }
    }
}

/// The format of an answer.
enum QuestionFormat: String {
    case json, csv, xlsx

    /// By the header Accept; nil: none of ours.
    static func accepted(_ request: Request) -> QuestionFormat? {
        let wanted = (request.headers["accept"] ?? "*/*").lowercased().split(separator: ",").map { part in
            part.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        }
        for type in wanted {
            if ["application/json", "application/*", "*/*"].contains(type) { return .json }
            if ["text/csv", "text/*"].contains(type) { return .csv }
        }
        return nil
    }

    func response(_ output: QueryOutput) throws -> Response {
        guard output.count <= Question.answerRowsMax else {
            return .problem(
                422, type: "too-many-rows",
                detail: "These are more than \(Question.answerRowsMax) rows. Ask for sums, or add a LIMIT.")
        }
        switch self {
        case .json: return .json(output.document + "\n")
        case .csv: return file(Array(output.table.csv().utf8), .csv)
        case .xlsx: return file(try output.spreadsheet("answer"), .xlsx)
        }
    }

    private func file(_ body: [UInt8], _ type: ReportFormat) -> Response {
        Response(
            200,
            headers: [
                ("Content-Type", type.mediaType),
                ("Content-Disposition", "attachment; filename=\"answer.\(rawValue)\""),
            ],
            body: body)
    }
}
