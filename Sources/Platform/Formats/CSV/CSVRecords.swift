/// Splits CSV as people's programs write it into records of unescaped fields (RFC 4180), with the line each begins in.
public struct CSVRecords {
    public struct Record: Equatable, Sendable {
        /// Counted from 1.
        public var line: Int
        public var fields: [[UInt8]] = []
        /// A quotation mark was not closed, or something other than a separator followed the closing one.
        public var isQuoteOpen = false

        public var isBlank: Bool { fields.count <= 1 && fields.allSatisfy { $0.allSatisfy { $0 == 0x20 } } }
    }

    private enum Place { case start, plain, quoted, afterQuote }

    private static let fieldsMax = 1_000
    private let bytes: [UInt8]
    private let delimiter: UInt8
    private var at: Int
    private var line = 1

    /// The delimiter is the one of `,`, `;` and tab that stands most often in the first line.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let firstLine = bytes[at...].prefix { $0 != 0x0A }
        let counts = [UInt8(0x2C), 0x3B, 0x09].map { byte in (byte, firstLine.count { $0 == byte }) }
        delimiter = counts.reduce(counts[0]) { $1.1 > $0.1 ? $1 : $0 }.0
    }

    /// Nil at the end.
    public mutating func next() -> Record? {
        guard at < bytes.count else { return nil }
        var (record, field, place) = (Record(line: line), [UInt8](), Place.start)
        func end() { if record.fields.count < CSVRecords.fieldsMax { record.fields.append(field) } }
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            if byte == 0x0A { line += 1 }
            switch (place, byte) {
            case (.quoted, 0x22): place = .afterQuote
            case (.quoted, _): field.append(byte)
            case (.afterQuote, 0x22):
                field.append(byte)
                place = .quoted
            case (_, 0x0A):
                if place != .afterQuote, field.last == 0x0D { field.removeLast() }
                end()
                return record
            case (_, delimiter):
                end()
                field = []
                place = .start
            case (.start, 0x22): place = .quoted
            case (.afterQuote, 0x0D) where at < bytes.count && bytes[at] == 0x0A: break
            case (.afterQuote, _): record.isQuoteOpen = true
            case (.start, _), (.plain, _):
                field.append(byte)
                place = .plain
            }
        }
        if place == .quoted { record.isQuoteOpen = true }
        end()
        return record
    }
}
