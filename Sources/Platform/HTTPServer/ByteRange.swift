/// The part of a file that a client asks for (RFC 9110, 14).
package enum ByteRange: Equatable, Sendable {
    case whole
    case part(Range<Int>)
    /// The range lies outside the file.
    case unsatisfiable

    /// - Parameters:
    ///   - range: the header; nil: none.
    ///   - ifRange: the header; the part counts only while the client's copy is of this very file.
    ///   - tag: the file's, strong, with its quotes.
    package init(range: String?, ifRange: String?, tag: String, count: Int) {
        // A date would be compared with one that is not sent (13.1.5).
        guard let range, ifRange == nil || ifRange == tag else {
            self = .whole
            return
        }
        let parts = range.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        // Another unit, more than one part, or what is no range: the whole may be sent (14.2).
        guard parts.count == 2, parts[0].lowercased() == "bytes", !parts[1].contains(","),
            let asked = ByteRange.asked(parts[1].filter { $0 != " " && $0 != "\t" }, count)
        else {
            self = .whole
            return
        }
        self = asked.isEmpty ? .unsatisfiable : .part(asked)
    }

    /// Nil: it is no range.
    private static func asked(_ text: String, _ count: Int) -> Range<Int>? {
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]) else { return nil }
        switch (first, last) {
        case (nil, nil): return nil
        // The last so many bytes.
        case (nil, let most?): return max(0, count - most)..<count
        case (let from?, nil): return min(from, count)..<count
        case (let from?, let to?):
            guard from <= to else { return nil }
            return min(from, count)..<(to < count ? to + 1 : count)
        }
    }

    /// `.some(nil)`: empty. Nil: not a number. A number beyond any file's size is clamped.
    private static func number(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return .some(Int(text) ?? .max)
    }
}

extension Response {
    /// A file or the requested part of it; 304 when the client has it, 416 for a part outside of it.
    /// - Parameters:
    ///   - tag: strong, with its quotes: another one with each change of the file.
    ///   - headers: of the file, whatever part of it is sent.
    package static func file(
        _ file: FileBody, to request: Request, tag: String, headers: [(name: String, value: String)]
    ) -> Response {
        let common = headers + [("ETag", tag), ("Accept-Ranges", "bytes")]
        let known = (request.headers["if-none-match"] ?? "").split(separator: ",").map { part in
            let text = part.filter { $0 != " " && $0 != "\t" }
            return text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
        }
        if known.contains(tag) || known == ["*"] { return Response(304, headers: common) }
        // Ranges are defined for GET only (RFC 9110, 14.2).
        let wanted = request.method == "GET" ? request.headers["range"] : nil
        switch ByteRange(range: wanted, ifRange: request.headers["if-range"], tag: tag, count: file.count) {
        case .whole:
            var response = Response(200, headers: common)
            response.file = (file, 0..<file.count)
            return response
        case .part(let range):
            let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.count)"
            var response = Response(206, headers: common + [("Content-Range", place)])
            response.file = (file, range)
            return response
        case .unsatisfiable:
            return Response.problem(
                416, type: "range", detail: "The file has \(file.count) bytes; nothing of it lies in that range."
            ).with("Content-Range", "bytes */\(file.count)")
        }
    }
}
