/// A field whose type the statement decides: for output that shows whatever a query gives.
package enum FieldValue: Equatable, Sendable {
    case null
    case text(String)
    case bool(Bool)
    case integer(Int)
    case number(Double)
    /// Epoch milliseconds.
    case timestampMs(Int64)
    case texts([String?])
}

extension Row {
    /// - Throws: `PostgresError` for a type that is none of these: cast it in the statement.
    package func value(_ column: Int) throws -> FieldValue {
        guard let bytes = rows.bytes(row, column) else { return .null }
        let type = rows.types[column]
        if let value = Decode.bool(type, bytes) { return .bool(value) }
        if let value = Decode.int(type, bytes) { return .integer(value) }
        if let value = Decode.double(type, bytes) { return .number(value) }
        if let value = Decode.timestampMs(type, bytes) {
            return value == .max ? .text("infinity") : value == .min ? .text("-infinity") : .timestampMs(value)
        }
        if let value = Decode.array(type, bytes, Decode.text) { return .texts(value) }
        // A table of texts, as PostgreSQL writes it.
        if type == TypeID.textArray, let value = Decode.nested(bytes) { return .text(value) }
        return .text(try text(column)!)
    }
}
