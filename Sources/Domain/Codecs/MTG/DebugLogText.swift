internal import Basics
internal import Fleet

/// A box's debug log: lines, most with a time and a level in front (`2026-11-21T08:00:00Z WARN modem: no carrier`). Its
/// makers promise no form: what is not recognised is a line without time and of no known level.
public struct DebugLogText {
    public enum Level: String, CaseIterable, Sendable { case error, warning, info, debug, other }

    public struct Line: Equatable {
        /// From 1.
        public let number: Int
        /// Without control characters: a box must not drive a terminal.
        public let text: String
        public let level: Level
        /// Epoch milliseconds.
        public let ts: Int64?
    }

    private static let levels: [String: Level] = [
        "EMERG": .error, "ALERT": .error, "CRIT": .error, "CRITICAL": .error, "FATAL": .error, "PANIC": .error,
        "ERR": .error, "ERROR": .error, "WARN": .warning, "WARNING": .warning, "NOTICE": .info, "INFO": .info,
        "DEBUG": .debug, "TRACE": .debug, "VERBOSE": .debug,
    ]

    public let lines: [Line]

    public init(_ log: [UInt8]) {
        var lines: [Line] = []
        for bytes in log.split(separator: 0x0A, omittingEmptySubsequences: false) {
            lines.append(Line(number: lines.count + 1, bytes.last == 0x0D ? bytes.dropLast() : bytes))
        }
        if lines.last?.text.isEmpty == true { lines.removeLast() }
        self.lines = lines
    }

    public func count(_ level: Level) -> Int { lines.count { $0.level == level } }

    /// The least and the greatest time of its lines: clocks are set back now and then.
    public var span: ClosedRange<Int64>? {
        let times = lines.compactMap(\.ts)
        guard let first = times.min(), let last = times.max() else { return nil }
        return first...last
    }

    fileprivate static func level(_ word: Substring?) -> Level {
        word.flatMap { levels[$0.uppercased().filter(\.isLetter)] } ?? .other
    }
}

extension DebugLogText.Line {
    fileprivate init(number: Int, _ bytes: ArraySlice<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        self.text = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    scalar.properties.generalCategory == .control && scalar != "\t" ? "\u{FFFD}" : scalar
                }))
        self.number = number
        let words = text.split(separator: " ", maxSplits: 3)
        // Between date and time there is a `T` or a blank.
        let times = [1, 2].map { words.prefix($0).joined(separator: " ") }
        let length = times.firstIndex { text in
            text.contains(":") && UTC.parse(text).map(UTC.plausible.contains) == true
        }
        ts = length.flatMap { UTC.parse(times[$0]) }
        level = DebugLogText.level(words.dropFirst(length.map { $0 + 1 } ?? 0).first)
    }
}
