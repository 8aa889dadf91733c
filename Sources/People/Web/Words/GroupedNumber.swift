internal import Basics

/// Numbers as pages write them: a comma at thousands, a true minus.
enum GroupedNumber {
    /// `12,345`
    static func text(_ number: some BinaryInteger) -> String {
        (number < 0 ? "−" : "") + grouped(String(number.magnitude))
    }

    /// `1,284.50`: all decimals, so that columns stand under each other.
    static func text(_ value: Double, _ decimals: Int) -> String {
        parts(value, decimals).map { whole, rest in
            decimals > 0 ? "\(whole).\(rest)\(String(repeating: "0", count: decimals - rest.count))" : whole
        } ?? "–"
    }

    /// `1,284.5`: no decimals that say nothing.
    static func short(_ value: Double, _ decimals: Int) -> String {
        parts(value, decimals).map { whole, rest in rest.isEmpty ? whole : "\(whole).\(rest)" } ?? "–"
    }

    /// The decimals without zeros at their end; nil: no number that can be written.
    private static func parts(_ value: Double, _ decimals: Int) -> (whole: String, rest: Substring)? {
        guard let scaled = Decimal.scaled(value, decimals: decimals) else { return nil }
        let text = Decimal.text(scaled, decimals: decimals).drop { $0 == "-" }
        let parts = text.split(separator: ".", maxSplits: 1)
        return ((scaled < 0 ? "−" : "") + grouped(String(parts[0])), parts.count > 1 ? parts[1] : "")
    }

    private static func grouped(_ digits: String) -> String {
        var text = digits
        var place = text.count - 3
        while place > 0 {
            text.insert(",", at: text.index(text.startIndex, offsetBy: place))
            place -= 3
        }
        return text
    }
}
