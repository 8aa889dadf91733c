/// Splits delimited text (RFC 4180 quoting, CRLF or LF, a byte order mark) into rows of byte ranges.
package struct CSVLines {
    private let bytes: [UInt8]
    private var at: Int
    package let delimiter: UInt8
    /// Rows longer than this are not a logger's.
    package static let fieldsMax = 1_000

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let firstLine = bytes[at...].prefix { $0 != 0x0A }
        let candidates: [UInt8] = [0x2C, 0x3B, 0x09]
        // The delimiter is whatever stands most often in the first line; a comma when nothing does.
        delimiter = candidates.max { a, b in
            firstLine.count { $0 == a } < firstLine.count { $0 == b }
        }!
    }

    /// The next row's fields, nil at the end. `isCut` tells that the file ends without a line end.
    package mutating func next() -> (fields: [ArraySlice<UInt8>], isCut: Bool)? {
        guard at < bytes.count else { return nil }
        var fields: [ArraySlice<UInt8>] = []
        var start = at
        var quoted = false
        while at < bytes.count {
            let byte = bytes[at]
            if byte == 0x22 {
                quoted.toggle()
            } else if !quoted && (byte == delimiter || byte == 0x0A) {
                if fields.count < CSVLines.fieldsMax { fields.append(field(start, at)) }
                start = at + 1
                if byte == 0x0A {
                    at += 1
                    return (fields, false)
                }
            }
            at += 1
        }
        fields.append(field(start, at))
        return (fields, true)
    }

    private func field(_ from: Int, _ to: Int) -> ArraySlice<UInt8> {
        var slice = bytes[from..<to]
        if slice.last == 0x0D { slice = slice.dropLast() }
        if slice.first == 0x22, slice.last == 0x22, slice.count > 1 { slice = slice.dropFirst().dropLast() }
        return slice
    }
}
