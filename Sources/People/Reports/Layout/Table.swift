/// Plain text columns and CSV from the same cells.
package struct Table: Sendable {
    package let headers: [String]
    package var rows: [[String?]] = []

    package init(_ headers: [String]) { self.headers = headers }

    /// Numbers to the right, unknown as `–`.
    package func text() -> String {
        let cells = [headers] + rows.map { $0.map { $0 ?? "–" } }
        let widths = headers.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        let numeric = headers.indices.map { column in
            !rows.isEmpty && rows.allSatisfy { $0[column] == nil || Double($0[column]!) != nil }
        }
        return cells.map { row in
            row.indices.map { column in
                let pad = String(repeating: " ", count: widths[column] - row[column].count)
                return numeric[column] ? pad + row[column] : row[column] + pad
            }.joined(separator: "  ").trimmingTrailingBlanks()
        }.joined(separator: "\n")
    }

    /// RFC 4180; unknown is empty. A text that a spreadsheet would run as a formula gets a quote in front.
    package func csv() -> String {
        let lines = [headers.map { Optional($0) }] + rows
        return lines.map { $0.map { Table.field($0 ?? "") }.joined(separator: ",") }.joined(separator: "\r\n") + "\r\n"
    }

    private static func field(_ text: String) -> String {
        var text = text
        if let first = text.utf8.first, "=+-@\t".utf8.contains(first), Double(text) == nil { text = "'" + text }
        guard text.utf8.contains(where: { $0 == 0x2C || $0 == 0x22 || $0 == 0x0D || $0 == 0x0A }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

extension String {
    func trimmingTrailingBlanks() -> String {
        var slice = self[...]
        while slice.last == " " { slice = slice.dropLast() }
        return String(slice)
    }
}
