internal import Basics
internal import Fleet
package import Presentation

/// Values over time as inline SVG, with the limits that they are judged by: no script, and the same in print. Small, so that
/// its text can be read on a phone; pages put several side by side.
package struct LineChart {
    /// The range of readings in one span of time; both values are equal for a single reading. Peaks do not vanish.
    package struct Point: Sendable {
        package let ms: Int64
        package let least, most, mean: Double

        /// - Parameter mean: nil: amid both.
        package init(ms: Int64, least: Double, most: Double, mean: Double? = nil) {
            (self.ms, self.least, self.most) = (ms, least, most)
            self.mean = mean ?? (least + most) / 2
        }
    }

    package struct Limit: Sendable {
        package enum Kind: String, Sendable { case warning, critical, recommended }
        package let value: Double
        package let kind: Kind
        package init(_ value: Double, _ kind: Kind) { (self.value, self.kind) = (value, kind) }
    }

    private static let (width, height) = (440.0, 190.0)
    private static let (left, right, top, bottom) = (46.0, 10.0, 16.0, 24.0)

    /// With its unit, for headings.
    package let title: String
    package let points: [Point]
    package let limits: [Limit]
    package let span: Range<Int64>
    /// Without readings for longer the line is broken.
    package let gapMs: Int64
    /// A time at the axis.
    package let clock: (Int64) -> String

    package init(
        title: String, points: [Point], limits: [Limit], span: Range<Int64>, gapMs: Int64,
        clock: @escaping (Int64) -> String
    ) {
        self.title = title
        self.points = points
        self.limits = limits
        self.span = span
        self.gapMs = gapMs
        self.clock = clock
    }

    /// Nil: there is nothing to draw.
    package var svg: HTML? {
        guard let least = points.map(\.least).min(), let most = points.map(\.most).max(), !span.isEmpty else {
            return nil
        }
        let all = [least, most] + limits.map(\.value)
        let scale = Scale(all.min()!, all.max()!)
        let y = { (value: Double) in
            LineChart.height - LineChart.bottom
                - (LineChart.height - LineChart.top - LineChart.bottom) * (value - scale.least)
                / (scale.most - scale.least)
        }
        return """
            <svg class="chart" viewBox="0 0 \(Int(LineChart.width)) \(Int(LineChart.height))" role="img" aria-label="\(label(least, most))">
            \(grid(scale, y))\(times)\(limits.map { limit($0, y) }.joined())<path class="speed" d="\(path(y))"/>\(dots(y))
            </svg>
            """
    }

    /// The chart for who does not see it.
    private func label(_ least: Double, _ most: Double) -> String {
        let limits = limits.map { limit -> String in
            let value = LineChart.text(limit.value)
            switch limit.kind {
            case .warning: return t("warning at \(value)")
            case .critical: return t("critical at \(value)")
            case .recommended: return t("recommended at \(value)")
            }
        }
        let (low, high, last) = (LineChart.text(least), LineChart.text(most), LineChart.text(points.last!.most))
        let (from, until) = (clock(span.lowerBound), clock(span.upperBound))
        return ([t("\(title), \(from) to \(until): from \(low) to \(high), last \(last)")] + limits)
            .joined(separator: ", ")
    }

    private func x(_ ms: Int64) -> Double {
        LineChart.left + (LineChart.width - LineChart.left - LineChart.right)
            * Double(ms - span.lowerBound) / Double(span.upperBound - span.lowerBound)
    }

    private func path(_ y: (Double) -> Double) -> String {
        var path = ""
        var before: Int64?
        for point in points {
            let isBroken = before.map { point.ms - $0 > gapMs } ?? true
            let at = LineChart.text(x(point.ms))
            path += "\(isBroken ? "M" : "L")\(at) \(LineChart.text(y(point.most)))"
            if point.least < point.most { path += "L\(at) \(LineChart.text(y(point.least)))" }
            before = point.ms
        }
        return path
    }

    /// Readings that stand alone have no line.
    private func dots(_ y: (Double) -> Double) -> HTML {
        points.indices.filter { at in
            let isFirst = at == 0 || points[at].ms - points[at - 1].ms > gapMs
            return isFirst && (at == points.count - 1 || points[at + 1].ms - points[at].ms > gapMs)
        }.map { at in
            "<circle class=\"dot\" cx=\"\(LineChart.text(x(points[at].ms)))\" cy=\"\(LineChart.text(y(points[at].most)))\" r=\"2.5\"/>"
        }.joined()
    }

    private func grid(_ scale: Scale, _ y: (Double) -> Double) -> HTML {
        scale.marks.map { mark in
            let at = LineChart.text(y(mark))
            return
                "<line class=\"axis\" x1=\"\(Int(LineChart.left))\" x2=\"\(Int(LineChart.width - LineChart.right))\" y1=\"\(at)\" y2=\"\(at)\"/><text x=\"\(Int(LineChart.left) - 6)\" y=\"\(LineChart.text(y(mark) + 4))\" text-anchor=\"end\">\(LineChart.text(mark))</text>"
        }.joined()
    }

    private func words(_ limit: Limit) -> String {
        let value = LineChart.text(limit.value)
        switch limit.kind {
        case .warning: return t("warning \(value)")
        case .critical: return t("critical \(value)")
        case .recommended: return t("recommended \(value)")
        }
    }

    private func limit(_ limit: Limit, _ y: (Double) -> Double) -> HTML {
        let at = LineChart.text(y(limit.value))
        return
            "<line class=\"limit \(limit.kind.rawValue)\" x1=\"\(Int(LineChart.left))\" x2=\"\(Int(LineChart.width - LineChart.right))\" y1=\"\(at)\" y2=\"\(at)\"/><text class=\"\(limit.kind.rawValue)\" x=\"\(Int(LineChart.width - LineChart.right))\" y=\"\(LineChart.text(y(limit.value) - 3))\" text-anchor=\"end\">\(words(limit))</text>"
    }

    private var times: HTML {
        (0...2).map { third in
            let ms = span.lowerBound + (span.upperBound - span.lowerBound) * Int64(third) / 2
            let anchor = ["start", "middle", "end"][third]
            return
                "<text x=\"\(LineChart.text(x(ms)))\" y=\"\(Int(LineChart.height) - 6)\" text-anchor=\"\(anchor)\">\(clock(ms))</text>"
        }.joined()
    }

    private static func text(_ value: Double) -> String {
        Decimal.text(Decimal.scaled(value, decimals: 1) ?? 0, decimals: 1)
    }

    /// Marks of an axis at round values: 1, 2 or 5 times a power of ten apart, about four of them.
    package struct Scale {
        package let least, most: Double
        package let marks: [Double]

        package init(_ low: Double, _ high: Double) {
            // Values that hardly change are not drawn as if they did.
            let range = max(high - low, abs(high) * 0.02, 0.4)
            var (power, step) = (1e-3, 1e-3)
            search: while true {
                for factor in [1.0, 2, 5] where range / (power * factor) <= 5 {
                    step = power * factor
                    break search
                }
                power *= 10
            }
            least = (low / step).rounded(.down) * step
            let top = (high / step).rounded(.up) * step
            most = top > least ? top : least + step
            let count = Int(((most - least) / step).rounded())
            marks = (0...count).map { [least] in least + Double($0) * step }
        }
    }
}
