internal import HTTPServer
internal import Presentation
internal import Reports
internal import Storage

/// The form for a statement of one's own, its answer, and what may be asked.
struct QuestionView {
    static let rowsMax = 500

    let caller: PageCaller
    let views: [QuestionRelation]
    var statement = ""
    var output: QueryOutput?
    var fault: QuestionService.Refusal?

    var html: HTML {
        """
        <h1>Ask</h1>
        <p class="soft">One SELECT of your own over the views below. The answer holds what you may see. Times are UTC; column names and the documents for analysts say the units. <a href="/queries">Questions that come with Drover</a>.</p>
        \(fault.map { HTML.fault($0.text) })
        \(form)
        \(output.map(answer) ?? "")
        <h2>What may be asked</h2>
        \(views.map(described).joined(separator: "\n"))
        """
    }

    private var form: HTML {
        """
        <form method="post" action="/query">
        \(FormView.hidden(CSRFGuard.field, caller.mark))
        <label for="statement">Statement</label>
        <textarea id="statement" name="statement" rows="10" maxlength="\(Question.bytesMax)" spellcheck="false" required>\(statement)</textarea>
        <p><button>Ask</button> <button name="format" value="csv">As CSV</button> <button name="format" value="json">As JSON</button> <button name="format" value="xlsx">As XLSX</button></p>
        </form>
        """
    }

    private func answer(_ output: QueryOutput) -> HTML {
        let isCut = output.count > QuestionView.rowsMax
        let count =
            isCut
            ? "The first \(QuestionView.rowsMax) rows; there are more. The files have up to \(Question.answerRowsMax)."
            : "\(output.count == 0 ? "No" : String(output.count)) row\(output.count > 1 ? "s" : "")."
        let table: HTML =
            output.count == 0
            ? ""
            : "<div class=\"scroll\" role=\"region\" aria-labelledby=\"answer\" tabindex=\"0\">\(output.prefix(QuestionView.rowsMax).html)</div>"
        return "<h2 id=\"answer\">Answer</h2>\n<p role=\"status\">\(count)</p>\n\(table)"
    }

    private func described(_ view: QuestionRelation) -> HTML {
        """
        <details><summary><code>\(view.name)</code></summary>
        <p>\(view.about)</p>
        <p><code>\(view.columns.joined(separator: ", "))</code></p></details>
        """
    }
}
