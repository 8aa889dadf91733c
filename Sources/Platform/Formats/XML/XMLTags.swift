/// Looks through the tags of a document before a parser makes anything of them. libxml2 compares each attribute of an element with
/// all others, so that a megabyte of them in one tag takes seconds, and tells us of them when it is done.
enum XMLTags {
    /// The most bytes of one tag from `<` to `>`, element name included.
    static let bytesMax = 8 << 10
    static let attributesMax = 32
    static let nameBytesMax = 200

    /// Whether a document is well-formed is the parser's to say: what has no end ends here.
    static func check(_ file: [UInt8]) throws(XMLFault) {
        var at = 0
        while let open = file[at...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = file[open...]
            if rest.starts(with: comment.begin) {
                at = try commentEnd(file, open)
            } else if let (_, end) = spans.first(where: { rest.starts(with: $0.begin) }) {
                at = rest.firstRange(of: end)?.upperBound ?? file.endIndex
            } else {
                at = try tagEnd(file, open)
            }
        }
    }

    /// Sections in which `<` begins no tag.
    private static let spans: [(begin: [UInt8], end: [UInt8])] = [
        (Array("<![CDATA[".utf8), Array("]]>".utf8)), (Array("<?".utf8), Array("?>".utf8)),
    ]
    private static let comment = (begin: Array("<!--".utf8), end: Array("-->".utf8))

    /// libxml2 reads on behind each `--` that ends no comment as often as there are others: a megabyte of them takes minutes. They are not
    /// allowed anyway (XML 1.0, 2.5).
    private static func commentEnd(_ file: [UInt8], _ open: Int) throws(XMLFault) -> Int {
        let text = file[(open + comment.begin.count)...]
        guard let end = text.prefix(bytesMax).firstRange(of: comment.end) else {
            throw fault(file, open, "a comment has no end, or more than \(bytesMax) bytes")
        }
        guard text[..<end.lowerBound].firstRange(of: Array("--".utf8)) == nil else {
            throw fault(file, open, "a comment has -- in it")
        }
        return end.upperBound
    }

    private static func tagEnd(_ file: [UInt8], _ open: Int) throws(XMLFault) -> Int {
        var (quote, attributes, nameEnd): (UInt8?, Int, Int?) = (nil, 0, nil)
        for at in (open + 1)..<file.endIndex {
            let byte = file[at]
            guard at - open < bytesMax else { throw fault(file, open, "a tag has more than \(bytesMax) bytes") }
            if let mark = quote {
                if byte == mark { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: ">"): return at + 1
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "="): attributes += 1
            case 0x20, 0x09, 0x0A, 0x0D: nameEnd = nameEnd ?? at
            default: break
            }
            if attributes > attributesMax {
                throw fault(file, open, "an element has more than \(attributesMax) attributes")
            }
            if nameEnd == nil, at - open > nameBytesMax {
                throw fault(file, open, "a name has more than \(nameBytesMax) bytes")
            }
        }
        return file.endIndex
    }

    private static func fault(_ file: [UInt8], _ at: Int, _ reason: String) -> XMLFault {
        XMLFault(line: 1 + file[..<at].count { $0 == 0x0A }, reason: reason)
    }
}
