internal import Basics
internal import Codecs
package import Formats
package import Reports

/// A figure that a bench has measured.
package struct Figure {
    let name: String
    let value: Double
    let unit: String
    /// The figure that the same run reached at the limit that `value` is held against.
    let baseline: Double?

    package var json: JSONValue {
        .object([
            ("name", .text(name)), ("value", .number(text(value))), ("unit", .text(unit)),
            ("baseline", .number(baseline.map(text))),
            ("ratio", .number(baseline.map { text(value / $0) })),
        ])
    }

    var line: String { "\(name): \(text(value)) \(unit)" }

    private func text(_ value: Double) -> String { Decimal.text(Decimal.scaled(value, decimals: 3) ?? 0, decimals: 3) }

    package static func table(_ figures: [Figure]) -> Table {
        var table = Table(["name", "value", "unit", "baseline", "ratio"])
        table.rows = figures.map {
            [
                $0.name, $0.text($0.value), $0.unit, $0.baseline.map($0.text),
                $0.baseline.map { [f = $0] in f.text(f.value / $0) },
            ]
        }
        return table
    }
}
