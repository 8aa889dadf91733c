extension HTML {
    /// A table on a phone: figures scroll; rows that stand for things become cards.
    package enum Narrow: Sendable { case scrolls, cards }

    /// A table in a box that scrolls sideways on narrow screens; reachable by keyboard.
    package static func table(
        caption: String, headers: [Header], rows: [[HTML?]], empty: String, narrow: Narrow = .scrolls
    ) -> HTML {
        guard !rows.isEmpty else { return "<h2>\(caption)</h2>\n<p class=\"empty\">\(empty)</p>" }
        let id = id(caption)
        let heads = headers.map { header -> HTML in "<th scope=\"col\"\(header.style)>\(header.text)</th>" }
        let lines = rows.map { row -> HTML in "<tr>\(cells(row, headers, narrow))</tr>\n" }
        return """
            <h2 id="\(id)">\(caption)</h2>
            <div class="scroll\(" cards", if: narrow == .cards)" role="region" aria-labelledby="\(id)" tabindex="0">
            <table>
            <thead><tr>\(heads.joined())</tr></thead>
            <tbody>
            \(lines.joined())</tbody>
            </table>
            </div>
            """
    }

    private static func cells(_ row: [HTML?], _ headers: [Header], _ narrow: Narrow) -> HTML {
        zip(headers, row).map { header, cell -> HTML in
            // A card has no row of headers above it.
            let label: HTML = narrow == .cards ? " data-label=\"\(header.text)\"" : ""
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
        package var isNumber: Bool { style == " class=\"n\"" }
        /// Cells may be broken into lines.
        package var wraps: Bool { style.isEmpty || style == " class=\"prose\"" }
        package static func text(_ text: String) -> Header { Header(text: text) }
        package static func number(_ text: String) -> Header { Header(text: text, style: " class=\"n\"") }
        /// Ids, times and links: broken in two they cannot be read.
        package static func word(_ text: String) -> Header { Header(text: text, style: " class=\"k\"") }
        /// Sentences: they wrap.
        package static func prose(_ text: String) -> Header { Header(text: text, style: " class=\"prose\"") }
    }
}

extension HTML? {
    /// A cell with text, or without.
    package static func text(_ text: String?) -> HTML? { text.map { HTML($0) } }
}
