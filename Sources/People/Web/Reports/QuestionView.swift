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

    var heading: PageHeading {
        PageHeading(
            "Ask",
            actions:
                "<a class=\"btn\" href=\"/queries\" aria-label=\"Ready-made queries\">\(HTML.icon(.query))<span class=\"hide-phone\">Ready-made queries</span></a>"
        )
    }

    var html: HTML {
        """
        \(fault.map { HTML.fault($0.text) })
        <div class="split">
        <div class="stack">
        \(form)
        \(output.map(answer) ?? "")
        </div>
        <section class="card" aria-labelledby="views"><header><h2 id="views">What you can ask about</h2><span class="count">\(views.count)</span></header>
        <div class="body views">\(views.map(described).joined(separator: "\n"))</div></section>
        </div>
        """
    }

    private var form: HTML {
        """
        <form class="card" method="post" action="/query">
        <div class="body form">
        \(FormView.hidden(CSRFGuard.field, caller.mark))
        <div class="fld"><label for="statement">Statement</label>
        <textarea class="mono" id="statement" name="statement" rows="10" maxlength="\(Question.bytesMax)" spellcheck="false" aria-describedby="statement-help" required>\(statement)</textarea>
        <span class="help" id="statement-help">One SELECT. You get the rows you may see. Times are UTC; column names say the units.</span></div>
        <div class="row wrap"><button class="btn primary">Run</button> <button class="btn" name="format" value="csv">CSV</button> <button class="btn" name="format" value="json">JSON</button> <button class="btn" name="format" value="xlsx">XLSX</button></div>
        </div>
        </form>
        """
    }

    private func answer(_ output: QueryOutput) -> HTML {
        let isCut = output.count > QuestionView.rowsMax
        let count =
            isCut
            ? "The first \(QuestionView.rowsMax) rows. Files have up to \(Question.answerRowsMax)."
            : output.count == 0 ? "No rows" : caller.words.count(output.count, .row)
        let table: HTML =
            output.count == 0
            ? ""
            : "<div class=\"scroll\" role=\"region\" aria-labelledby=\"answer\" tabindex=\"0\">\(output.prefix(QuestionView.rowsMax).html)</div>"
        return """
            <section class="card"><header><h2 id="answer">Answer</h2><span class="soft end" role="status">\(count)</span></header>
            \(table)</section>
            """
    }

    private func described(_ view: QuestionRelation) -> HTML {
        """
        <details class="view"><summary><code>\(view.name)</code></summary>
        <p>\(view.about)</p>
        <p><code>\(view.columns.joined(separator: ", "))</code></p></details>
        """
    }
}
