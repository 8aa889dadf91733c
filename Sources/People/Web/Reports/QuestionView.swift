internal import HTTPServer
internal import Presentation
internal import Reports
internal import Storage

/// The form for a statement of one's own, its answer, and what may be asked.
struct QuestionView {
    static let rowsMax = 500

    let caller: PageCaller
    let views: [QuestionRelation]
    /// Of columns, by view and name.
    let meanings: [String: [String: String]]
    var statement = ""
    var output: QueryOutput?
    var fault: QuestionService.Refusal?

    var heading: PageHeading {
        PageHeading(
            t("Ask with SQL"),
            actions:
                "<a class=\"btn\" href=\"/queries\" aria-label=\"Ready-made queries\">\(HTML.icon(.query))<span class=\"hide-phone\">Ready-made queries</span></a>"
        )
    }

    var html: HTML {
        """
        \(fault.map(told))
        <div class="split">
        <div class="stack">
        \(form)
        \(output.map(answer) ?? "")
        </div>
        <section class="card" aria-labelledby="views"><header><h2 id="views">What you can ask about</h2><span class="count">\(views.count)</span></header>
        <form class="body views" method="post" action="/query">\(FormView.hidden(CSRFGuard.field, caller.mark))\(views.map(described).joined(separator: "\n"))</form></section>
        </div>
        """
    }

    /// The reason, then where, and what was meant perhaps.
    private func told(_ fault: QuestionService.Refusal) -> HTML {
        guard case .statement(let text) = fault else { return .fault(fault.said) }
        let columns = Dictionary(views.map { ($0.name, $0.columns) }) { first, _ in first }
        let hint = QuestionHint(text, statement: statement, columns: columns)
        let lines = statement.split(separator: "\n", omittingEmptySubsequences: false)
        let place: HTML? = hint.line.map { line in
            "<p>Line \(line): <code>\(String(lines[line - 1].prefix(200)))</code></p>"
        }
        let advice: HTML? = hint.advice.map { "<p>\($0)</p>" }
        return """
            <div role="alert" class="strip critical">\(HTML.icon(.warn))<div><p>\(text)</p>\(place)\(advice)</div></div>
            """
    }

    private var form: HTML {
        let examples: [HTML] = QuestionWords.examples(for: caller.roles).map {
            "<button class=\"btn small\" name=\"statement\" value=\"\($0.statement)\">\($0.title)</button>"
        }
        return """
            <form class="card" method="post" action="/query">
            <div class="body form">
            \(FormView.hidden(CSRFGuard.field, caller.mark))
            <div class="fld"><label for="statement">Statement</label>
            <textarea class="mono" id="statement" name="statement" rows="10" maxlength="\(Question.bytesMax)" spellcheck="false" aria-describedby="statement-help" required>\(statement)</textarea>
            <span class="help" id="statement-help">One SELECT. You get the rows you may see. Times are UTC; column names say the units.</span></div>
            <div class="row wrap"><button class="btn primary">Run</button> <button class="btn" name="format" value="csv">CSV</button> <button class="btn" name="format" value="json">JSON</button> <button class="btn" name="format" value="xlsx">XLSX</button></div>
            </div>
            </form>
            <form class="row wrap" method="post" action="/query">\(FormView.hidden(CSRFGuard.field, caller.mark))<span class="soft small">Examples</span> \(examples.joined(separator: " "))</form>
            """
    }

    private func answer(_ output: QueryOutput) -> HTML {
        let isCut = output.count > QuestionView.rowsMax
        let count =
            isCut
            ? t("The first \(QuestionView.rowsMax) rows. Files have up to \(Question.answerRowsMax).")
            : output.count == 0 ? t("No rows") : caller.words.count(output.count, .row)
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
        let columns: [HTML] = view.columns.map { column in
            "<dt><code>\(column)</code></dt><dd>\(meanings[view.name]?[column] ?? "")</dd>"
        }
        let title: HTML? = QuestionWords.title(view.name).map { "\($0) " }
        return """
            <details class="view"><summary>\(title)<code>\(view.name)</code></summary>
            <p>\(view.about)</p>
            <button class="btn small" name="statement" value="SELECT * FROM \(view.name) LIMIT 50" aria-label="Show 50 rows of \(view.name)">Show 50 rows</button>
            <dl>\(columns.joined())</dl></details>
            """
    }
}
