internal import Basics

/// Times of rule tests: counted from the test's start (`+5m`, `-2d`, `+1h30m`, `+300s1ms`), or with a date and a zone.
package enum RuleTestTime {
    static let accepted = "a time like +5m, -2d, +1h30m, +90s or 2026-10-25T02:59:00+02:00"
    private static let units: [(name: String, ms: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Nil when the text is no such time, or one that no reading has.
    package static func parse(_ text: String, from startMs: Int64) -> Int64? {
        guard let first = text.first, first == "+" || first == "-" else { return UTC.parse(text) }
        guard let span = span(text.dropFirst()) else { return nil }
        let ms = startMs + (first == "+" ? span : -span)
        return UTC.plausible.contains(ms) ? ms : nil
    }

    private static func span(_ text: Substring) -> Int64? {
        var (rest, sum): (Substring, Int64) = (text, 0)
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            let name = rest[digits.endIndex...].prefix { $0.isLetter }
            // Ten digits of days do not overflow.
            guard let count = Int64(digits), digits.count <= 10, let unit = units.first(where: { $0.name == name })
            else { return nil }
            sum += count * unit.ms
            rest = rest[name.endIndex...]
        }
        return sum
    }

    /// The one text of a time: `+1h30m`.
    package static func text(_ ms: Int64, from startMs: Int64) -> String {
        var (rest, text) = ((ms - startMs).magnitude, ms < startMs ? "-" : "+")
        if rest == 0 { return "+0s" }
        for unit in units {
            let count = rest / UInt64(unit.ms)
            if count > 0 { text += "\(count)\(unit.name)" }
            rest %= UInt64(unit.ms)
        }
        return text
    }
}
