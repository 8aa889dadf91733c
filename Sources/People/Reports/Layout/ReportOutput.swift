package import Presentation

/// A finished report, in each of its formats. Made of the database's rows alone: the same rows give the same bytes.
package protocol ReportOutput {
    var title: String { get }
    /// Rows of all its tables: none means that there is nothing to tell.
    var count: Int { get }
    /// Its content, from top to bottom.
    var blocks: [ReportBlock] { get }
    /// When its span ends.
    var untilMs: Int64 { get }
    var sheets: [ReportSheet] { get }
    func csv() -> String
    func json() -> String
    /// For a terminal.
    func text() -> String
}

package enum ReportFormat: String, CaseIterable, Sendable {
    case html, csv, json, xlsx, pdf, table

    package var mediaType: String {
        switch self {
        case .html: "text/html; charset=utf-8"
        case .csv: "text/csv; charset=utf-8"
        case .json: "application/json"
        case .xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        case .pdf: "application/pdf"
        case .table: "text/plain; charset=utf-8"
        }
    }
}

extension ReportOutput {
    /// The report as a file.
    package func file(_ format: ReportFormat) throws -> [UInt8] {
        switch format {
        case .html: Array(html().markup.utf8)
        case .csv: Array(csv().utf8)
        case .json: Array((json() + "\n").utf8)
        case .xlsx: try Spreadsheet.file(sheets)
        case .pdf: try PDFReport(title: title, blocks).file(untilMs: untilMs)
        case .table: Array((text() + "\n").utf8)
        }
    }

    /// The page's content below the title.
    package var main: HTML { blocks.map(\.html).joined() }

    /// A page of its own, which a mail can hold: no script, no other file.
    package func html() -> HTML {
        .page(title: title, body: "<header><h1>\(title)</h1></header>\n<main>\n\(main)\n</main>")
    }
}

/// A table of a spreadsheet.
package struct ReportSheet: Sendable {
    package enum Cell: Sendable {
        case empty
        case text(String)
        /// As decimal text.
        case number(String)
        /// As people of the report's zone read it: `2018-02-20 19:23`.
        case time(String)
    }

    let name: String
    let headers: [String]
    let rows: [[Cell]]
    /// Below the rows; nil: there is nothing to add up.
    var sums: [Cell]?

    /// From a table in which these columns are texts and all others numbers.
    static func of(_ table: Table, name: String, texts: Set<String>) -> ReportSheet {
        ReportSheet(
            name: name, headers: table.headers,
            rows: table.rows.map { row in
                zip(table.headers, row).map { header, cell in
                    guard let cell else { return .empty }
                    return texts.contains(header) || Double(cell) == nil ? .text(cell) : .number(cell)
                }
            })
    }
}
