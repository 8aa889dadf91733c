internal import Basics
internal import Codecs
internal import Formats
package import Postgres
package import Presentation

/// Rows of a query as they are, for people or for programs. Columns name their unit; times are UTC.
package struct QueryOutput: Sendable {
    package let columns: [String]
    package let rows: [[FieldValue]]

    package init(_ rows: Rows) throws {
        columns = rows.columns
        self.rows = try rows.map { row in try rows.columns.indices.map { try row.value($0) } }
    }

    package init(columns: [String], rows: [[FieldValue]]) { (self.columns, self.rows) = (columns, rows) }

    package var count: Int { rows.count }

    /// Ordered by a column, unknown last: texts from A on, counts and times with the greatest first.
    package func sorted(by column: String) -> QueryOutput {
        guard let index = columns.firstIndex(of: column) else { preconditionFailure("no column \(column)") }
        func isBefore(_ a: FieldValue, _ b: FieldValue) -> Bool {
            switch (a, b) {
            case (.text(let a), .text(let b)): a < b
            case (.integer(let a), .integer(let b)): a > b
            case (.timestampMs(let a), .timestampMs(let b)): a > b
            case (.null, _): false
            case (.text, _), (.bool, _), (.integer, _), (.number, _), (.timestampMs, _), (.texts, _): b == .null
            }
        }
        let ordered = rows.enumerated().sorted { a, b in
            if isBefore(a.element[index], b.element[index]) { return true }
            return !isBefore(b.element[index], a.element[index]) && a.offset < b.offset
        }
        return QueryOutput(columns: columns, rows: ordered.map(\.element))
    }

    /// Columns that the reader has no use for are left out.
    package func without(_ names: Set<String>) -> QueryOutput {
        let kept = columns.indices.filter { !names.contains(columns[$0]) }
        return QueryOutput(columns: kept.map { columns[$0] }, rows: rows.map { row in kept.map { row[$0] } })
    }

    package func prefix(_ count: Int) -> QueryOutput { QueryOutput(columns: columns, rows: Array(rows.prefix(count))) }

    package var table: Table {
        var table = Table(columns)
        table.rows = rows.map { $0.map(QueryOutput.cell) }
        return table
    }

    package var json: String {
        let objects = rows.map { row in
            JSONValue.object(zip(columns, row).map { ($0, QueryOutput.json($1)) })
        }
        return JSONValue.list(objects).rendered(indent: true)
    }

    /// Columns and rows apart, each once: for programs that ask statements of their own.
    package var document: String {
        JSONValue.object([
            ("columns", .list(columns.map { .text($0) })),
            ("rows", .list(rows.map { .list($0.map(QueryOutput.json)) })),
        ]).rendered()
    }

    /// For a spreadsheet: numbers as numbers, times as they are in the other formats.
    package func spreadsheet(_ name: String) throws -> [UInt8] {
        let cells = rows.map { row in
            row.map { value -> ReportSheet.Cell in
                switch value {
                case .null: .empty
                case .integer(let number): .number(String(number))
                case .number(let number) where number.isFinite: .number(QueryOutput.text(number))
                case .text, .bool, .number, .timestampMs, .texts: QueryOutput.cell(value).map { .text($0) } ?? .empty
                }
            }
        }
        // A sheet's name has at most 31 characters (ECMA-376-1, 18.2.19).
        return try Spreadsheet.file([ReportSheet(name: String(name.prefix(31)), headers: columns, rows: cells)])
    }

    /// Rows of a table in a page.
    package var html: HTML {
        let heads = columns.map { "<th scope=\"col\">\($0)</th>" as HTML }.joined()
        let body = rows.map { row in "<tr>\(row.map(QueryOutput.html).joined())</tr>" as HTML }
        return "<table>\n<thead><tr>\(heads)</tr></thead>\n<tbody>\n\(body.joined(separator: "\n"))\n</tbody></table>"
    }

    private static func html(_ value: FieldValue) -> HTML {
        let text = cell(value) ?? "–"
        switch value {
        case .integer, .number: return "<td class=\"num\">\(text)</td>"
        case .null, .bool, .text, .texts, .timestampMs: return "<td>\(text)</td>"
        }
    }

    static func cell(_ value: FieldValue) -> String? {
        switch value {
        case .null: nil
        case .text(let text): text
        case .bool(let flag): flag ? "yes" : "no"
        case .integer(let number): String(number)
        case .number(let number): text(number)
        case .timestampMs(let ms): UTC.text(ms)
        case .texts(let texts): texts.compactMap { $0 }.joined(separator: ",")
        }
    }

    static func json(_ value: FieldValue) -> JSONValue {
        switch value {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(Int64(number))
        case .number(let number) where number.isFinite: .number(text(number))
        case .texts(let texts): .list(texts.map { .optional($0) })
        // JSON has no number that is none, or without end.
        case .text, .timestampMs, .number: .optional(cell(value))
        }
    }

    /// Seven decimals are a centimetre of the earth; nothing here is finer.
    private static func text(_ number: Double) -> String {
        guard let scaled = Decimal.scaled(number, decimals: 7) else { return String(number) }
        return Decimal.text(scaled, decimals: 7)
    }
}
