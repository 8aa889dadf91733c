/// Finds where the items of a batch begin and end. Whether each is good JSON the decoder says: one that is not must not
/// keep the others out.
public enum JSONItems {
    public enum Fault: Error, Equatable, CustomStringConvertible {
        /// Neither one object nor a complete array.
        case notItems
        case tooMany(most: Int)

        public var description: String {
            switch self {
            case .notItems: "the body is neither a JSON object nor a whole JSON array"
            case .tooMany(let most): "more than \(most) readings; send less at once"
            }
        }
    }

    /// One object, or the elements of an array.
    public static func split(_ body: [UInt8], most: Int) throws(Fault) -> [ArraySlice<UInt8>] {
        let body = trimmed(body[...])
        guard body.first == UInt8(ascii: "[") else {
            guard !body.isEmpty else { throw .notItems }
            return [body]
        }
        var (items, start, depth, isText, isEscaped) = ([ArraySlice<UInt8>](), body.startIndex + 1, 0, false, false)
        for index in body.indices {
            let byte = body[index]
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                guard depth == 0 else { continue }
                let last = trimmed(body[start..<index])
                // `[]` holds nothing, `[1,]` an element that is missing.
                if !last.isEmpty || !items.isEmpty { try add(last, to: &items, most) }
                guard index == body.endIndex - 1, byte == UInt8(ascii: "]") else { throw .notItems }
                return items
            case UInt8(ascii: ",") where depth == 1:
                try add(trimmed(body[start..<index]), to: &items, most)
                start = index + 1
            default: break
            }
        }
        throw .notItems
    }

    /// One item a line; empty lines are left out.
    public static func lines(_ body: [UInt8], most: Int) throws(Fault) -> [ArraySlice<UInt8>] {
        var items: [ArraySlice<UInt8>] = []
        for line in body.split(separator: 0x0A).lazy.map(trimmed) where !line.isEmpty {
            try add(line, to: &items, most)
        }
        return items
    }

    private static func add(_ item: ArraySlice<UInt8>, to items: inout [ArraySlice<UInt8>], _ most: Int) throws(Fault) {
        guard items.count < most else { throw .tooMany(most: most) }
        items.append(item)
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return bytes[first...last]
    }
}
