internal import Codecs
internal import Formats

/// A CSV file with a first line of names, row by row; bounded.
package struct NamedRows: Sendable {
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }
    }

    package struct Row: Sendable {
        /// Counted from 1.
        package let line: Int
        private let places: [String: Int]
        private let fields: [String]

        init(line: Int, places: [String: Int], fields: [String]) {
            self.line = line
            self.places = places
            self.fields = fields
        }

        /// Nil where there is no such column, and where it is empty.
        package subscript(_ name: String) -> String? {
            guard let place = places[name], place < fields.count, !fields[place].isEmpty else { return nil }
            return fields[place]
        }
    }

    package static let rowsMax = 5_000_000

    package let names: [String]
    package private(set) var rows: [Row] = []

    package init(_ bytes: [UInt8]) throws(Fault) {
        var records = CSVRecords(bytes)
        guard let head = records.next() else { throw Fault("is empty") }
        names = try head.fields.map { field throws(Fault) in try NamedRows.text(field, line: 1) }
        guard Set(names).count == names.count else { throw Fault("line 1: a name stands there more than once") }
        let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, $0.offset) })
        while let record = records.next() {
            if record.isBlank { continue }
            guard !record.isQuoteOpen else { throw Fault("line \(record.line): a quotation mark is not closed") }
            guard record.fields.count == names.count else {
                throw Fault("line \(record.line): \(record.fields.count) fields, the first line has \(names.count)")
            }
            guard rows.count < NamedRows.rowsMax else { throw Fault("more than \(NamedRows.rowsMax) rows") }
            let fields = try record.fields.map { field throws(Fault) in try NamedRows.text(field, line: record.line) }
            rows.append(Row(line: record.line, places: places, fields: fields))
        }
    }

    package func has(_ wanted: String...) -> Bool { wanted.allSatisfy(names.contains) }

    private static func text(_ bytes: [UInt8], line: Int) throws(Fault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault("line \(line): is not UTF-8") }
        return text
    }
}
