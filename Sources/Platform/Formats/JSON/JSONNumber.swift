/// Numbers from outside that are kept as written, also under unknown names. JSON bounds none of them, and a reader that meets one too
/// large fails with everything beside it, so they are refused at the entrance.
public enum JSONNumber {
    /// For messages about numbers.
    static let rule =
        "of more than \(bytesMax) signs, or beyond what a double holds (2.2e-308 to 1.8e308, exponents up to \(exponentMax))"
    static let bytesMax = 400
    static let exponentMax = 400

    /// Whether Swift, and PostgreSQL's `jsonb`, `numeric` and `double precision`, take it. PostgreSQL refuses what is too near
    /// to zero, too, and a zero of too many places (numeric.c, NUMERIC_DSCALE_MAX: 16,383). Precondition: a number of JSON.
    public static func isReadable(_ text: String) -> Bool {
        let (digits, exponent) = parts(text)
        guard text.utf8.count <= bytesMax, exponent.map({ $0.magnitude <= exponentMax }) ?? false,
            let value = Double(text), value.isFinite
        else { return false }
        return value.isNormal || !digits.contains { (0x31...0x39).contains($0) }
    }

    /// The mantissa, and the exponent: 0 when there is none, nil when it has too many digits.
    private static func parts(_ text: String) -> (Substring.UTF8View, Int?) {
        guard let sign = text.utf8.firstIndex(where: { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) else {
            return (text[...].utf8, 0)
        }
        return (text[..<sign].utf8, Int(text[text.utf8.index(after: sign)...]))
    }
}
