internal import CLibpq

/// The rows of a query, in the server's binary form until they are asked for.
@safe
package final class Rows: RandomAccessCollection {
    let result: OpaquePointer
    package let count: Int
    /// Column names as the statement gives them.
    package let columns: [String]
    let types: [UInt32]
    private let indices: [String: Int]
    /// Rows inserted, updated, deleted or selected, as the server counted them.
    package let rowsChanged: Int

    init(owning result: OpaquePointer) {
        unsafe self.result = result
        count = Int(unsafe PQntuples(result))
        let width = unsafe PQnfields(result)
        let names = (0..<width).map { unsafe String(cString: PQfname(result, $0)) }
        columns = names
        types = (0..<width).map { unsafe PQftype(result, $0) }
        // Of two columns with one name the first wins.
        indices = Dictionary(zip(names, names.indices)) { first, _ in first }
        rowsChanged = unsafe Connection.rowsChanged(result)
    }

    deinit { unsafe PQclear(result) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }
    package subscript(_ row: Int) -> Row {
        precondition((0..<count).contains(row), "row \(row) of \(count)")
        return Row(rows: self, row: row)
    }

    /// - Throws: `PostgresError` naming the columns there are.
    package func index(of column: String) throws -> Int {
        guard let index = indices[column] else {
            throw PostgresError.usage("no column \(column) among \(columns.joined(separator: ", "))")
        }
        return index
    }

    /// The field's bytes; nil for NULL.
    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        precondition(columns.indices.contains(column), "column \(column) of \(columns.count)")
        let (r, c) = (Int32(row), Int32(column))
        guard unsafe PQgetisnull(result, r, c) == 0 else { return nil }
        let start = unsafe UnsafeRawPointer(PQgetvalue(result, r, c)!)
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, r, c))))
    }
}

/// One row. Each accessor gives nil for NULL and throws when the column does not exist or is of another type.
package struct Row {
    let rows: Rows
    let row: Int

    /// The column's place, for those that read several in order.
    package func index(of column: String) throws -> Int { try rows.index(of: column) }

    package func isNull(_ column: String) throws -> Bool { try isNull(rows.index(of: column)) }
    package func text(_ column: String) throws -> String? { try text(rows.index(of: column)) }
    package func int(_ column: String) throws -> Int? { try int(rows.index(of: column)) }
    package func double(_ column: String) throws -> Double? { try double(rows.index(of: column)) }
    package func bool(_ column: String) throws -> Bool? { try bool(rows.index(of: column)) }
    package func bytes(_ column: String) throws -> [UInt8]? { try bytes(rows.index(of: column)) }
    package func timestampMs(_ column: String) throws -> Int64? { try timestampMs(rows.index(of: column)) }
    package func dateDays(_ column: String) throws -> Int? { try dateDays(rows.index(of: column)) }
    package func numericText(_ column: String) throws -> String? { try numericText(rows.index(of: column)) }
    package func textArray(_ column: String) throws -> [String?]? { try textArray(rows.index(of: column)) }
    package func intArray(_ column: String) throws -> [Int?]? { try intArray(rows.index(of: column)) }
    package func doubleArray(_ column: String) throws -> [Double?]? { try doubleArray(rows.index(of: column)) }
    package func timestampMsArray(_ column: String) throws -> [Int64?]? { try timestampMsArray(rows.index(of: column)) }

    package func isNull(_ column: Int) -> Bool { rows.bytes(row, column) == nil }

    /// Text types, json, jsonb, uuid, enums and names.
    package func text(_ column: Int) throws -> String? { try decode(column, "text", Decode.text) }
    /// `smallint`, `integer`, `bigint`, `oid`.
    package func int(_ column: Int) throws -> Int? { try decode(column, "an integer", Decode.int) }
    /// `real`, `double precision`, and integers.
    package func double(_ column: Int) throws -> Double? { try decode(column, "a floating number", Decode.double) }
    package func bool(_ column: Int) throws -> Bool? { try decode(column, "a boolean", Decode.bool) }
    /// The field as the server sent it: a `bytea` as it is, any other type in its binary form.
    package func bytes(_ column: Int) throws -> [UInt8]? { rows.bytes(row, column) }
    /// `timestamptz` (and `timestamp`, taken as UTC) as epoch milliseconds, rounded down; the infinities are
    /// `Int64.min` and `Int64.max`.
    package func timestampMs(_ column: Int) throws -> Int64? { try decode(column, "a timestamp", Decode.timestampMs) }
    /// `date` as days since 1970-01-01.
    package func dateDays(_ column: Int) throws -> Int? { try decode(column, "a date", Decode.dateDays) }
    /// `numeric` (and integers) as decimal text with the column's scale: `12.50`.
    package func numericText(_ column: Int) throws -> String? { try decode(column, "a numeric", Decode.numericText) }
    package func textArray(_ column: Int) throws -> [String?]? { try array(column, "text[]", Decode.text) }
    package func intArray(_ column: Int) throws -> [Int?]? { try array(column, "an array of integers", Decode.int) }
    package func doubleArray(_ column: Int) throws -> [Double?]? {
        try array(column, "an array of numbers", Decode.double)
    }
    package func timestampMsArray(_ column: Int) throws -> [Int64?]? {
        try array(column, "an array of timestamps", Decode.timestampMs)
    }

    private func decode<T>(_ column: Int, _ wanted: String, _ read: (UInt32, [UInt8]) -> T?) throws -> T? {
        guard let bytes = rows.bytes(row, column) else { return nil }
        guard let value = read(rows.types[column], bytes) else { throw mismatch(column, wanted) }
        return value
    }

    private func array<T>(_ column: Int, _ wanted: String, _ read: (UInt32, [UInt8]) -> T?) throws -> [T?]? {
        guard let bytes = rows.bytes(row, column) else { return nil }
        guard let values = Decode.array(rows.types[column], bytes, read) else { throw mismatch(column, wanted) }
        return values
    }

    private func mismatch(_ column: Int, _ wanted: String) -> PostgresError {
        .usage(
            "column \(rows.columns[column]) is of type \(rows.types[column]) (pg_type.oid) and cannot be read as \(wanted): "
                + "cast it in the statement")
    }
}
