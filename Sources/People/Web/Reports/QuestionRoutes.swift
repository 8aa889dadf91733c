package import HTTPServer
internal import Postgres
internal import Presentation
package import Reports
internal import Storage

/// `/query`: a statement of one's own, its answer as a page or to take away.
package struct QuestionRoutes: Sendable {
    static let readers = QueryRoutes.readers
    private let access: AccessControl
    private let assets: AssetFiles
    private let service: QuestionService
    private let queries: ReportQueries

    package init(access: AccessControl, assets: AssetFiles, service: QuestionService, queries: ReportQueries) {
        self.queries = queries
        self.access = access
        self.assets = assets
        self.service = service
    }

    package func add(to router: inout Router) {
        router.add("GET", "/query") { request in
            access.page(request, for: QuestionRoutes.readers) { caller, connection in
                page(try view(caller, connection))
            }
        }
        router.add("POST", "/query") { request in
            access.form(request, for: QuestionRoutes.readers) { caller, fields, connection in
                try answer(view(caller, connection), fields)
            }
        }
    }

    private func view(_ caller: PageCaller, _ connection: Connection) throws -> QuestionView {
        var meanings: [String: [String: String]] = [:]
        for row in try connection.query(queries["question_columns"]) {
            guard let about = try row.text("about") else { continue }
            meanings[try row.text("view")!, default: [:]][try row.text("name")!] = about
        }
        return QuestionView(caller: caller, views: try QuestionRelation.read(on: connection), meanings: meanings)
    }

    private func answer(_ empty: QuestionView, _ fields: FormFields) throws -> Response {
        var page = empty
        page.statement = (fields["statement"] ?? "").replacing("\r\n", with: "\n")
        let form = fields["format"].flatMap(QuestionFormat.init)
        do {
            guard !page.statement.isEmpty else { throw QuestionService.Refusal.statement(t("Type a statement first.")) }
            let rowsMax = form == nil ? QuestionView.rowsMax : Question.answerRowsMax
            let output = try service.ask(
                page.statement, as: page.caller.account, by: page.caller.holds, rowsMax: rowsMax)
            if let form { return try form.response(output) }
            page.output = output
            return self.page(page)
        } catch let refusal as QuestionService.Refusal {
            page.fault = refusal
            return self.page(page, status: refusal.response.status)
        }
    }

    private func page(_ question: QuestionView, status: Int = 200) -> Response {
        var response = PageShell(caller: question.caller, assets: assets).page(
            t("Ask with SQL"), at: "/query", heading: question.heading, main: question.html)
        response.status = status
        return response
    }
}
