internal import Basics

/// The value after `key=` on a log line, from a literal, an interpolation or a number.
public struct LogValue: Sendable, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral
{
    let text: String
    /// A number or a boolean, written in JSON as it is. Decided by the type in the source, not by the text: a key always has one kind.
    let isBare: Bool

    public init(_ value: some BinaryInteger) { (text, isBare) = (String(value), true) }
    public init(_ value: String) { (text, isBare) = (value, false) }
    public init(_ value: Bool) { (text, isBare) = (value ? "true" : "false", true) }
    public init(_ value: Double) { (text, isBare) = (String(value), value.isFinite) }
    /// An error in its own words.
    public init(_ error: any Error) { (text, isBare) = (String(describing: error), false) }

    public init(stringLiteral value: String) { self.init(value) }
    public init(stringInterpolation value: Interpolation) {
        text = value.text
        isBare = value.isBare && value.parts == 1
    }
    public init(integerLiteral value: Int) { self.init(value) }
    public init(booleanLiteral value: Bool) { self.init(value) }
    public init(floatLiteral value: Double) { self.init(value) }

    /// Text with values in it; nothing but one whole number is that number.
    public struct Interpolation: StringInterpolationProtocol {
        var text = ""
        var parts = 0
        var isBare = false

        public init(literalCapacity: Int, interpolationCount: Int) {}

        public mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { append(literal) } }
        public mutating func appendInterpolation(_ value: some BinaryInteger) {
            append(String(value))
            isBare = true
        }
        public mutating func appendInterpolation(_ value: some Any) { append(String(describing: value)) }

        private mutating func append(_ more: String) {
            text += more
            parts += 1
        }
    }

    /// Longer values are cut: a line must stay something a person can read and a collector will take.
    static let scalarsMax = 2000

    func appendJSON(to line: inout String) {
        if isBare { line += text } else { LogValue.appendJSON(text, to: &line) }
    }

    static func appendJSON(_ text: String, to line: inout String) {
        JSONString.append(cut(text), to: &line) { isControl($0) ? JSONString.escape($0) : nil }
    }

    private static func cut(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: scalarsMax, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }

    /// Appends the value, in quotes when a reader of `key=value` could be misled without them.
    func append(to line: inout String) {
        if text.isEmpty || text.unicodeScalars.contains(where: LogValue.needsQuotes) {
            LogValue.appendQuoted(text, to: &line)
        } else {
            line += text
        }
    }

    private static func needsQuotes(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value <= 0x20 || scalar == "\"" || scalar == "=" || scalar == "\\" || scalar.value >= 0x7F
    }

    /// Control characters and the separators that some viewers take for line ends become escapes, so that no value
    /// can begin a line of its own or drive a terminal.
    static func appendQuoted(_ text: String, to line: inout String) {
        JSONString.append(cut(text), to: &line) {
            isControl($0) ? "\\u{" + String($0.value, radix: 16) + "}" : nil
        }
    }

    /// C0, C1, delete, line and paragraph separators, and the marks that reorder text to the right or left.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
