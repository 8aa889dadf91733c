internal import Foundation
internal import FoundationXML

/// One element of a small document: its own text (comments and children left out) and its children.
package struct XMLElement: Equatable, Sendable {
    /// As it is written, with its prefix.
    package var name: String
    /// The line on which the element opens, counted from 1.
    package var line: Int
    package var attributes: [String: String] = [:]
    package var text = ""
    package var children: [XMLElement] = []
}

/// Where and why a document is not the XML that we read.
package struct XMLFault: Error, Equatable {
    package var line: Int
    package var reason: String
}

/// Documents into elements by libxml2 (FoundationXML). Small, flat ones only: what is larger, deeper or has more attributes
/// is refused (`XMLTags`), and so is a document type, which leaves no entities to expand and nothing outside to open.
package enum XMLReader {
    /// - Parameters:
    ///   - depthMax: elements within elements.
    ///   - elementsMax: of the whole document.
    package static func root(
        of file: [UInt8], bytesMax: Int, depthMax: Int = 8, elementsMax: Int = .max
    ) throws(XMLFault) -> XMLElement {
        try parsed(file, bytesMax, ElementBuilder(depthMax, elementsMax))
    }

    /// The document up to the end of an element of that name, or up to so many elements: for callers that must see the beginning first.
    package static func opening(
        of file: [UInt8], bytesMax: Int, until name: String, elementsMax: Int
    ) throws(XMLFault) -> XMLElement {
        try parsed(file, bytesMax, ElementBuilder(elementsMax, elementsMax, until: name))
    }

    private static func parsed(
        _ file: [UInt8], _ bytesMax: Int, _ builder: ElementBuilder
    ) throws(XMLFault) -> XMLElement {
        guard file.count <= bytesMax else {
            throw XMLFault(line: 1, reason: "the file has \(file.count) bytes, at most \(bytesMax) are accepted")
        }
        if let at = file.firstRange(of: Array("<!DOCTYPE".utf8)) {
            throw XMLFault(
                line: 1 + file[..<at.lowerBound].count { $0 == 0x0A }, reason: "a document type is not accepted")
        }
        if let at = emptyInstruction(file) {
            throw XMLFault(
                line: 1 + file[..<at].count { $0 == 0x0A },
                reason: "a processing instruction says nothing: leave it out")
        }
        if file.contains(0) { throw XMLFault(line: 1, reason: "the file holds NUL bytes: save it as UTF-8 text") }
        try checkEncoding(file)
        try XMLTags.check(file)
        let parser = XMLParser(data: Data(file))
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        let ok = parser.parse()
        if let fault = builder.fault { throw fault }
        guard ok || builder.isCut, let root = builder.root else {
            throw XMLFault(line: max(1, parser.lineNumber), reason: "it is not well-formed XML, or cut off")
        }
        return root
    }

    /// The position of `<?x?>`. FoundationXML (Swift 6.3) makes text of the content that libxml2 does not give there, and the process
    /// ends; `<?x ?>` is well. To be removed when `XMLParser` takes such a document.
    private static func emptyInstruction(_ file: [UInt8]) -> Int? {
        var at = 0
        while at + 1 < file.count {
            guard file[at] == 0x3C, file[at + 1] == 0x3F else {
                at += 1
                continue
            }
            let begin = at
            at += 2
            while at < file.count, !isBlank(file[at]),
                !(file[at] == 0x3F && at + 1 < file.count && file[at + 1] == 0x3E)
            {
                at += 1
            }
            if at + 1 < file.count, file[at] == 0x3F { return begin }
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// Only encodings in which a document type has the bytes that were looked for.
    private static let encodings = ["utf-8", "us-ascii", "iso-8859-1", "windows-1252"]

    private static func checkEncoding(_ file: [UInt8]) throws(XMLFault) {
        let declaration =
            file.firstRange(of: Array("?>".utf8)).map { String(decoding: file[..<$0.lowerBound], as: UTF8.self) } ?? ""
        guard let named = declaration.ranges(of: "encoding").last else {
            guard String(validating: file, as: UTF8.self) != nil else {
                throw XMLFault(line: 1, reason: "the file is not UTF-8 text")
            }
            return
        }
        let parts = declaration[named.upperBound...].split(omittingEmptySubsequences: false) { $0 == "\"" || $0 == "'" }
        let encoding = parts.count > 1 ? parts[1].lowercased() : ""
        guard encodings.contains(encoding), encoding != "utf-8" || String(validating: file, as: UTF8.self) != nil else {
            throw XMLFault(line: 1, reason: "the file is not UTF-8 text, or names another encoding")
        }
    }

    /// Collects elements as the parser reports them.
    private final class ElementBuilder: NSObject, XMLParserDelegate {
        var root: XMLElement?
        var fault: XMLFault?
        private var open: [XMLElement] = []
        private let depthMax, elementsMax: Int
        private let lastName: String?
        private var elements = 0
        /// True when reading stopped early because the value was found.
        private(set) var isCut = false

        init(_ depthMax: Int, _ elementsMax: Int, until lastName: String? = nil) {
            self.depthMax = depthMax
            self.elementsMax = elementsMax
            self.lastName = lastName
        }

        private func cut(_ parser: XMLParser) {
            isCut = true
            while !open.isEmpty { close() }
            parser.abortParsing()
        }

        private func close() {
            guard let element = open.popLast() else { return }
            if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
        }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            if isCut { return }
            if lastName != nil, elements >= elementsMax { return cut(parser) }
            if open.count >= depthMax {
                fault = XMLFault(line: parser.lineNumber, reason: "elements are nested deeper than \(depthMax)")
                return parser.abortParsing()
            }
            elements += 1
            if elements > elementsMax {
                fault = XMLFault(line: parser.lineNumber, reason: "there are more than \(elementsMax) elements")
                return parser.abortParsing()
            }
            open.append(XMLElement(name: name, line: parser.lineNumber, attributes: attributes))
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) {
            guard !open.isEmpty else { return }
            open[open.count - 1].text += text
        }

        func parser(_ parser: XMLParser, foundCDATA block: Data) {
            self.parser(parser, foundCharacters: String(decoding: block, as: UTF8.self))
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            if isCut { return }
            close()
            if name == lastName { cut(parser) }
        }

        func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
            guard fault == nil, !isCut else { return }
            fault = XMLFault(line: max(1, parser.lineNumber), reason: "it is not well-formed XML, or cut off")
        }
    }
}
