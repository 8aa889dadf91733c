internal import Formats
internal import Presentation

/// What was found, as a page and for the bar's script.
struct SearchView {
    let caller: PageCaller
    let text: String
    let found: SearchRoutes.Found

    var html: HTML {
        """
        <form class="filter" method="get" action="/search" role="search">
        <div><label for="q">Find</label><input id="q" name="q" type="search" maxlength="\(SearchIndex.textMax)" value="\(text)" autocomplete="off"></div>
        <button class="btn primary">Search</button>
        </form>
        \(text.isEmpty ? "<p class=\"soft\">\(caller.words.searchAbout)</p>" : result)
        """
    }

    private var result: HTML {
        guard !found.hits.isEmpty else {
            return """
                <section class="card"><div class="body" role="status"><b>\(caller.words.nothingCalled(text))</b>\
                <p class="soft">\(found.near.isEmpty ? caller.words.searchAbout : caller.words.didYouMean)</p></div>
                \(list(found.near))</section>
                """
        }
        let cards: [HTML] = SearchIndex.Kind.allCases.compactMap { kind in
            let hits = found.hits.filter { $0.kind == kind }
            guard !hits.isEmpty else { return nil }
            return
                "<section class=\"card w6\"><header><h2>\(caller.words.kinds(kind))</h2><span class=\"count\">\(hits.count)</span></header>\(list(hits))</section>"
        }
        return """
            <p class="sr" role="status">\(caller.words.count(found.hits.count, .result))</p>
            <div class="grid">\(cards.joined(separator: "\n"))</div>
            """
    }

    private func list(_ hits: [SearchIndex.Hit]) -> HTML {
        let items: [HTML] = hits.map { hit in
            """
            <li><a class="item" href="\(hit.address)"><span class="ic s">\(HTML.icon(hit.icon))</span>\
            <span><b>\(hit.name)</b><small>\(hit.about)</small></span>\(HTML.icon(.right))</a></li>
            """
        }
        return "<ul class=\"plain\">\(items.joined(separator: "\n"))</ul>"
    }

    /// - Parameter most: of all kinds together, each with its share.
    func document(most: Int) -> JSONValue {
        let shown = found.hits.isEmpty ? found.near : share(most)
        return .object([
            ("asked", .text(text)),
            ("said", .text(found.hits.isEmpty && !text.isEmpty ? caller.words.nothingCalled(text) : "")),
            ("offer", .text(found.near.isEmpty ? "" : caller.words.didYouMean)),
            ("count", .text(caller.words.count(found.hits.count, .result))),
            ("results", .list(shown.map(document))),
        ])
    }

    private func document(_ hit: SearchIndex.Hit) -> JSONValue {
        .object([
            ("kind", .text(caller.words.kind(hit.kind))), ("name", .text(hit.name)), ("about", .text(hit.about)),
            ("icon", .text(hit.icon.rawValue)), ("address", .text(hit.address)),
        ])
    }

    /// Of many kinds the first of each come before the many of one.
    private func share(_ most: Int) -> [SearchIndex.Hit] {
        let kinds = SearchIndex.Kind.allCases.map { kind in found.hits.filter { $0.kind == kind } }.filter {
            !$0.isEmpty
        }
        let each = max(2, most / max(1, kinds.count))
        return Array(kinds.flatMap { $0.prefix(each) }.prefix(most))
    }
}
