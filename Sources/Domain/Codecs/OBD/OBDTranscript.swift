/// Requests and replies as a terminal program logged them, or as pairs in two columns (docs/obd.md).
public enum OBDTranscript {
    public struct Exchange: Equatable, Sendable {
        /// Line of the request, from 1.
        public let line: Int
        /// As written, without blanks around.
        public let request: String
        public let reply: [UInt8]
    }

    /// The exchanges in their order. Lines end with LF, CR or both; those that begin with `#` are left out.
    public static func exchanges(_ text: [UInt8]) -> [Exchange] {
        var reader = TranscriptReader()
        var (line, start, index) = (1, 0, 0)
        while index < text.count {
            let byte = text[index]
            if byte == 0x0D || byte == 0x0A {
                reader.read(text[start..<index], line: line)
                if byte == 0x0D, index + 1 < text.count, text[index + 1] == 0x0A { index += 1 }
                line += 1
                start = index + 1
            }
            index += 1
        }
        if start < text.count { reader.read(text[start...], line: line) }
        reader.end()
        return reader.exchanges
    }
}

private struct TranscriptReader {
    private(set) var exchanges: [OBDTranscript.Exchange] = []
    private var open: (line: Int, request: String, reply: [UInt8])?

    mutating func read(_ text: ArraySlice<UInt8>, line: Int) {
        guard text.first != 0x23 else { return }
        if let tab = text.firstIndex(of: 0x09) {
            end()
            pair(text[..<tab], text[(tab + 1)...], line)
            return
        }
        // A prompt may stand behind the last line of a reply, and several in one line.
        var parts = text.split(separator: 0x3E, omittingEmptySubsequences: false)[...]
        let first = parts.popFirst() ?? text
        let isLine = parts.isEmpty || !first.isEmpty
        if open == nil, isLine, isRequest(first) { begin(first, line) } else if isLine { open?.reply += first + [0x0D] }
        for part in parts {
            end()
            if part.contains(where: { $0 != 0x20 && $0 != 0 }) { begin(part, line) }
        }
    }

    mutating func end() {
        guard let (line, request, reply) = open else { return }
        exchanges.append(OBDTranscript.Exchange(line: line, request: request, reply: reply))
        open = nil
    }

    private mutating func begin(_ text: ArraySlice<UInt8>, _ line: Int) {
        open = (line, TranscriptReader.trimmed(text), [])
    }

    private mutating func pair(_ request: ArraySlice<UInt8>, _ reply: ArraySlice<UInt8>, _ line: Int) {
        guard isRequest(request) else { return }  // The heading.
        let text = String(decoding: reply, as: UTF8.self).replacing("\\r", with: "\r").replacing("\\n", with: "\r")
        exchanges.append(
            OBDTranscript.Exchange(
                line: line, request: TranscriptReader.trimmed(request), reply: Array(text.utf8)))
    }

    /// Before the first prompt there may be anything.
    private func isRequest(_ text: ArraySlice<UInt8>) -> Bool {
        let request = TranscriptReader.trimmed(text).uppercased()
        return OBDRequest(text: request.utf8) != nil || request.hasPrefix("AT") || request.hasPrefix("ST")
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> String {
        let kept = text.filter { $0 != 0 }.map { (0x20...0x7E).contains($0) ? $0 : 0x2E }
        let front = kept.drop { $0 == 0x20 }
        return String(decoding: front[..<((front.lastIndex { $0 != 0x20 } ?? front.startIndex - 1) + 1)], as: UTF8.self)
    }
}
