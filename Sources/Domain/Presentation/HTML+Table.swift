extension HTML {
    /// A table on a phone: figures scroll; rows that stand for things become cards.
    package enum Narrow: Sendable { case scrolls, cards }

    /// A table in a card with its name; reachable by keyboard, and scrolls sideways on narrow screens where rows do not become cards.
    package static func table(
        caption: String, headers: [Header], rows: [[HTML?]], empty: String, narrow: Narrow = .scrolls
    ) -> HTML {
        guard !rows.isEmpty else {
            return """
                <section class="card"><header><h2>\(caption)</h2></header><p class="empty">\(empty)</p></section>
                """
        }
        let id = id(caption)
        // A column of buttons needs no word but for those who hear the table.
        let heads = headers.map { header -> HTML in
            let text: HTML = header.text.isEmpty ? "<span class=\"sr\">Action</span>" : "\(header.text)"
            return "<th scope=\"col\"\(header.style)>\(text)</th>"
        }
        let lines = rows.map { row -> HTML in "<tr>\(cells(row, headers, narrow))</tr>\n" }
        return """
            <section class="card"><header><h2 id="\(id)">\(caption)</h2></header>
            <div class="scroll" role="region" aria-labelledby="\(id)" tabindex="0">
            <table class="table\(" cards", if: narrow == .cards)">
            <thead><tr>\(heads.joined())</tr></thead>
            <tbody>
            \(lines.joined())</tbody>
            </table>
            </div></section>
            """
    }

    private static func cells(_ row: [HTML?], _ headers: [Header], _ narrow: Narrow) -> HTML {
        zip(headers, row).map { header, cell -> HTML in
            // A card has no row of headers above it.
            let label: HTML = narrow == .cards ? " data-l=\"\(header.text)\"" : ""
            return "<td\(header.style)\(label)>\(cell ?? "–")</td>"
        }.joined()
    }

    /// All that a vehicle's id may have stays: two of them are two ids.
    private static func id(_ caption: String) -> String {
        caption.lowercased().map { sign in
            sign.isLetter || sign.isNumber || "._".contains(sign) ? String(sign) : "-"
        }.joined()
    }

    package struct Header {
        package let text: String
        /// The class attribute of the column's cells.
        var style: HTML = ""
        package var isNumber: Bool { style == " class=\"num\"" }
        /// Cells may be broken into lines.
        package var wraps: Bool { style.isEmpty || style == " class=\"prose\"" }
        package static func text(_ text: String) -> Header { Header(text: text) }
        package static func number(_ text: String) -> Header { Header(text: text, style: " class=\"num\"") }
        /// Ids, times and links: broken in two they cannot be read.
        package static func word(_ text: String) -> Header { Header(text: text, style: " class=\"nowrap\"") }
        /// Sentences: they wrap.
        package static func prose(_ text: String) -> Header { Header(text: text, style: " class=\"prose\"") }
    }
}

extension HTML? {
    /// A cell with text, or without.
    package static func text(_ text: String?) -> HTML? { text.map { HTML($0) } }
}
