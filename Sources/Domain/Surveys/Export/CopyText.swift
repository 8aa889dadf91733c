/// Rows of PostgreSQL's text format (manual, COPY, "Text Format"): tabs between fields, `\N` for NULL, escapes.
package enum CopyText {
    /// The fields of one row, with or without its line end; nil for NULL.
    /// - Parameter isTerse: NULL was written as nothing at all.
    package static func fields(_ row: some Collection<UInt8>, isTerse: Bool = false) -> [[UInt8]?] {
        var (fields, field, isNull): ([[UInt8]?], [UInt8], Bool) = ([], [], false)
        var at = row.startIndex
        while at < row.endIndex {
            let byte = row[at]
            at = row.index(after: at)
            switch byte {
            case 0x09:
                fields.append(isNull || (isTerse && field.isEmpty) ? nil : field)
                field = []
                isNull = false
            case 0x0A: break
            case UInt8(ascii: "\\") where at < row.endIndex:
                let escaped = row[at]
                at = row.index(after: at)
                if escaped == UInt8(ascii: "N") { isNull = true } else { field.append(unescaped(escaped)) }
            default: field.append(byte)
            }
        }
        fields.append(isNull || (isTerse && field.isEmpty) ? nil : field)
        return fields
    }

    /// The character that an escape stands for, except `N`.
    static func unescaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "v"): 0x0B
        default: byte
        }
    }
}
