package import HTTPServer
internal import Storage

/// `/query`: a statement of one's own, its answer as a page or to take away.
package struct QuestionSite: Sendable {
    static let readers = QuerySite.readers
    private let door: Door
    private let assets: AssetFiles
    private let desk: QuestionDesk

    package init(door: Door, assets: AssetFiles, desk: QuestionDesk) {
        self.door = door
        self.assets = assets
        self.desk = desk
    }

    package func add(to router: inout Router) {
        router.add("GET", "/query") { request in
            door.page(request, for: QuestionSite.readers) { caller, connection in
                page(try QuestionPage(caller: caller, views: QuestionViews.read(on: connection)))
            }
        }
        router.add("POST", "/query") { request in
            door.form(request, for: QuestionSite.readers) { caller, fields, connection in
                try answer(QuestionPage(caller: caller, views: QuestionViews.read(on: connection)), fields)
            }
        }
    }

    private func answer(_ empty: QuestionPage, _ fields: Fields) throws -> Response {
        var page = empty
        page.statement = (fields["statement"] ?? "").replacing("\r\n", with: "\n")
        let form = fields["format"].flatMap(QuestionForm.init)
        do {
            guard !page.statement.isEmpty else { throw QuestionDesk.Refusal.statement("Write a statement first.") }
            let rowsMax = form == nil ? QuestionPage.rowsMax : Question.answerRowsMax
            let output = try desk.ask(
                page.statement, as: page.caller.account, by: page.caller.holds, rowsMax: rowsMax)
            if let form { return try form.response(output) }
            page.output = output
            return self.page(page)
        } catch let refusal as QuestionDesk.Refusal {
            page.fault = refusal
            return self.page(page, status: refusal.response.status)
        }
    }

    private func page(_ question: QuestionPage, status: Int = 200) -> Response {
        var response = PageShell(caller: question.caller, assets: assets).page("ask", at: "/query", main: question.html)
        response.status = status
        return response
    }
}
