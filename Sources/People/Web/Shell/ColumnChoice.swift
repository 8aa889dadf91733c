internal import HTTPServer
internal import Presentation

/// Which columns of a table somebody sees: those of the address (`columns=model,tags`), else the table's own. What a row is about, its first
/// column, is always there. Without scripts the menu is a form; with them the browser remembers the choice (shell.js).
struct ColumnChoice {
    struct Column {
        let key, name: String
        /// Shown to who has chosen nothing.
        var isStandard = true
    }

    static let parameter = "columns"
    private static let none = "none"

    /// By which the browser remembers it.
    private let table: String
    private let all: [Column]
    private let chosen: Set<String>
    /// The address has boxes of the form, not yet the list that they say.
    let isLoose: Bool

    init(_ request: Request, _ table: String, _ all: [Column]) {
        self.table = table
        self.all = all
        let items = request.queryItems.filter { $0.name == ColumnChoice.parameter }.prefix(64)
        let asked = Set(items.flatMap { $0.value.split(separator: ",").map(String.init) })
        let known = asked.intersection(all.map(\.key))
        isLoose = items.count > 1
        chosen = known.isEmpty && !asked.contains(ColumnChoice.none) ? ColumnChoice.standard(all) : known
    }

    private static func standard(_ all: [Column]) -> Set<String> { Set(all.filter(\.isStandard).map(\.key)) }

    func has(_ key: String) -> Bool { chosen.contains(key) }

    var shown: [Column] { all.filter { has($0.key) } }
    var isStandard: Bool { chosen == ColumnChoice.standard(all) }

    /// For addresses; empty: as the table is by itself.
    var text: String { isStandard ? "" : list }

    private var list: String { chosen.isEmpty ? ColumnChoice.none : shown.map(\.key).joined(separator: ",") }

    /// The menu may stand within another form: what is chosen in it belongs to `form`.
    /// - Parameters:
    ///   - standard: the page's address without a choice.
    ///   - style: of its button.
    func menu(standard: HTML, style: StaticString = "btn small") -> HTML {
        let boxes: HTML = all.map { column -> HTML in
            """
            <label class="row"><input class="check" type="checkbox" form="columns" name="\(ColumnChoice.parameter)" value="\(column.key)"\
            \(" checked", if: has(column.key))> \(column.name)</label>
            """
        }.joined(separator: "\n")
        return """
            <details class="menu end columns hide-phone"><summary class="\(HTML(stringLiteral: style))">\(HTML.icon(.columns))Columns</summary><div class="pop">
            <div class="eyebrow">Columns</div>
            \(boxes)
            <div class="row ends"><button class="btn small primary" form="columns">Apply</button>\
            <a class="btn small ghost" href="\(standard)" data-columns-reset="\(table)">Default</a></div></div></details>
            """
    }

    /// - Parameters:
    ///   - action: the page's address, without what is asked.
    ///   - kept: what else stands in the address.
    func form(_ action: HTML, kept: [(String, String)]) -> HTML {
        let hidden = ([(ColumnChoice.parameter, ColumnChoice.none)] + kept.filter { !$0.1.isEmpty }).map(
            FormView.hidden)
        let own = all.filter(\.isStandard).map(\.key).joined(separator: ",")
        return
            "<form id=\"columns\" method=\"get\" action=\"\(action)\" data-columns=\"\(table)\" data-standard=\"\(own)\" hidden>\(hidden.joined())</form>"
    }
}
