internal import Fleet
package import Postgres
internal import Wire

/// Rows of a query as they are, for people or for programs. Columns name their unit; times are UTC.
package struct QueryOutput: Sendable {
    private let columns: [String]
    private let rows: [[FieldValue]]

    package init(_ rows: Rows) throws {
        columns = rows.columns
        self.rows = try rows.map { row in try rows.columns.indices.map { try row.value($0) } }
    }

    package init(columns: [String], rows: [[FieldValue]]) { (self.columns, self.rows) = (columns, rows) }

    package var count: Int { rows.count }

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
        case .number(let number): .number(text(number))
        case .texts(let texts): .list(texts.map { .optional($0) })
        case .text, .timestampMs: .optional(cell(value))
        }
    }

    /// Seven decimals are a centimetre of the earth; nothing here is finer.
    private static func text(_ number: Double) -> String {
        guard let scaled = Decimal.scaled(number, decimals: 7) else { return String(number) }
        return Decimal.text(scaled, decimals: 7)
    }
}
