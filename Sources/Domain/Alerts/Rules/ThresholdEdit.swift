internal import Codecs
internal import Fleet
internal import Formats

/// Replaces or removes one parameter of a threshold file. The rest stays as it was written, comments and blanks included.
public enum ThresholdEdit {
    /// The elements of a parameter beside its name, in the order in which they are written.
    public static let elements = [
        "test", "unit", "type", "user", "threshold", "critical", "for", "clear", "absent", "every", "soon",
        "recommended",
        "capacity", "advice",
    ]
    /// The loader wants these, empty or not.
    private static let needed: Set<String> = ["test", "unit", "type", "user", "threshold"]

    public enum Fault: Error, CustomStringConvertible {
        /// The file as it stands does not load.
        case broken(ThresholdError)
        case byHand(String)

        public var description: String {
            switch self {
            case .broken(let error): error.description
            case .byHand(let why): why
            }
        }
    }

    /// The text of one parameter in a file, to tell whether it has changed. Nil: it is absent.
    public static func standing(_ field: ThresholdField, in file: [UInt8], fileName: String) throws(Fault) -> [UInt8]? {
        try place(field, file, fileName).map { Array(file[$0.range]) }
    }

    /// - Parameters:
    ///   - texts: as they were typed; what is empty is left out. Nil: the parameter is taken out.
    ///   - file: nil: there is none yet.
    /// - Returns: the new file, which is not checked. Nil: nothing is left in it.
    public static func put(
        _ texts: [String: String]?, of field: ThresholdField, in file: [UInt8]?, fileName: String
    ) throws(Fault) -> [UInt8]? {
        guard let file else {
            return texts.map { Array("<root>\n  \(text($0, name: field.shownName))\n</root>\n".utf8) }
        }
        let place = try place(field, file, fileName)
        if let texts {
            let text = text(texts, name: place?.name ?? field.shownName)
            if let place {
                return Array(file[..<place.range.lowerBound]) + Array(text.utf8)
                    + Array(file[place.range.upperBound...])
            }
            let end = try rootEnd(file)
            return Array(file[..<end]) + Array("  \(text)\n".utf8) + Array(file[end...])
        }
        guard let place else { return file }
        if try spans(file, fileName).count == 1 { return nil }
        // Its line goes with it.
        var (start, end) = (place.range.lowerBound, place.range.upperBound)
        while start > 0, file[start - 1] == 0x20 || file[start - 1] == 0x09 { start -= 1 }
        if end < file.count, file[end] == 0x0D { end += 1 }
        if end < file.count, file[end] == 0x0A { end += 1 }
        return Array(file[..<start]) + Array(file[end...])
    }

    private static func text(_ texts: [String: String], name: String) -> String {
        let lines = elements.compactMap { element -> String? in
            var text = texts[element] ?? ""
            if text.isEmpty {
                guard needed.contains(element) else { return nil }
                if element == "unit" { text = " " }
                if element == "threshold", texts["test"] == Threshold.Test.shown.rawValue { text = "0" }
            }
            return "    <\(element)>\(escaped(text))</\(element)>\n"
        }
        return "<parameter>\n    <name>\(escaped(name))</name>\n\(lines.joined())  </parameter>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    // MARK: Where it stands

    /// The range of its element, and the name that the file calls it by.
    private static func place(
        _ field: ThresholdField, _ file: [UInt8], _ fileName: String
    ) throws(Fault) -> (range: Range<Int>, name: String)? {
        let spans = try spans(file, fileName)
        let root: XMLElement
        do throws(ThresholdError) { root = try RuleFile.root(of: file, fileName: fileName) } catch {
            throw .broken(error)
        }
        for (element, range) in zip(root.children, spans) {
            let name = (element.children.first { $0.name == "name" }?.text ?? "").split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
            if ThresholdField(name: name) == field { return (range, name) }
        }
        return nil
    }

    /// One per parameter, in order.
    private static func spans(_ file: [UInt8], _ fileName: String) throws(Fault) -> [Range<Int>] {
        let thresholds: [Threshold]
        do throws(ThresholdError) { thresholds = try ThresholdFile.parse(fileName: fileName, bytes: file) } catch {
            throw .broken(error)
        }
        guard String(validating: file, as: UTF8.self) != nil, !namesOtherEncoding(file) else {
            throw .byHand("\(fileName): is not written in UTF-8. Save it so first; then it can be changed here.")
        }
        var (spans, start): ([Range<Int>], Int?) = ([], nil)
        var at = 0
        while at < file.count {
            if let end = passed(file, at, "<!--", "-->") ?? passed(file, at, "<![CDATA[", "]]>")
                ?? passed(file, at, "<?", "?>")
            {
                at = end
            } else if start == nil, begins(file, at, "<parameter") {
                start = at
                at += 10
            } else if let from = start, let end = passed(file, at, "</parameter", ">") {
                spans.append(from..<end)
                start = nil
                at = end
            } else {
                at += 1
            }
        }
        guard spans.count == thresholds.count else {
            throw .byHand("\(fileName): is written in a way that cannot be changed here. Change it by hand.")
        }
        return spans
    }

    private static func namesOtherEncoding(_ file: [UInt8]) -> Bool {
        let head = String(decoding: file.prefix(200), as: UTF8.self).lowercased()
        guard head.contains("<?xml"), let declaration = head.split(separator: "?>").first else { return false }
        return declaration.contains("encoding") && !declaration.contains("utf-8") && !declaration.contains("us-ascii")
    }

    /// Before the root's end tag.
    private static func rootEnd(_ file: [UInt8]) throws(Fault) -> Int {
        var (at, found): (Int, Int?) = (0, nil)
        while at < file.count {
            if let end = passed(file, at, "<!--", "-->") {
                at = end
            } else {
                if begins(file, at, "</root") { found = at }
                at += 1
            }
        }
        guard let found else { throw .byHand("the file has no end tag of its root. Change it by hand.") }
        return found
    }

    private static func begins(_ file: [UInt8], _ at: Int, _ word: String) -> Bool {
        file[at...].starts(with: word.utf8)
    }

    /// After `last`, where `first` stands at `at`.
    private static func passed(_ file: [UInt8], _ at: Int, _ first: String, _ last: String) -> Int? {
        guard begins(file, at, first) else { return nil }
        var end = at + first.utf8.count
        while end < file.count {
            if begins(file, end, last) { return end + last.utf8.count }
            end += 1
        }
        return file.count
    }
}

extension ThresholdField {
    /// As people read it.
    public var shownName: String { names[0] }

    /// All that a file may name, in the order of the readings.
    public static var all: [ThresholdField] { table.map(\.field) }
}
