/// What follows `key=` on a log line. Made from a literal, an interpolation or a number.
public struct LogValue: Sendable, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral
{
    let text: String

    public init(_ value: some BinaryInteger) { text = String(value) }
    public init(_ value: String) { text = value }
    public init(_ value: Bool) { text = value ? "true" : "false" }
    public init(_ value: Double) { text = String(value) }
    /// An error in its own words.
    public init(_ error: any Error) { text = String(describing: error) }

    public init(stringLiteral value: String) { text = value }
    public init(integerLiteral value: Int) { text = String(value) }
    public init(booleanLiteral value: Bool) { self.init(value) }
    public init(floatLiteral value: Double) { self.init(value) }

    /// Longer values are cut: a line must stay something a person can read and a collector will take.
    static let scalarsMax = 2000

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
        line += "\""
        var left = scalarsMax
        for scalar in text.unicodeScalars {
            guard left > 0 else {
                line += "…"
                break
            }
            left -= 1
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            default:
                if isControl(scalar) {
                    line += "\\u{" + String(scalar.value, radix: 16) + "}"
                } else {
                    line.unicodeScalars.append(scalar)
                }
            }
        }
        line += "\""
    }

    /// C0, C1, delete, line and paragraph separators, and the marks that reorder text to the right or left.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
