internal import Basics
internal import Presentation

/// Speed over time as inline SVG: no script, no image file.
enum SpeedChart {
    private static let (width, height) = (800.0, 160.0)
    private static let (left, right, top, bottom) = (38.0, 8.0, 8.0, 22.0)

    /// Nil: no speed was read.
    static func svg(_ line: SpeedLine) -> HTML? {
        guard !line.runs.isEmpty else { return nil }
        func x(_ ts: Int64) -> Double {
            left + (width - left - right) * Double(ts - line.fromMs) / Double(line.toMs - line.fromMs)
        }
        func y(_ kmh: Double) -> Double { height - bottom - (height - top - bottom) * kmh / line.peakKmh }
        let path = line.runs.map { run in
            run.enumerated().map { "\($0 == 0 ? "M" : "L")\(text(x($1.ts))) \(text(y($1.kmh)))" }.joined()
        }.joined()
        return """
            <svg viewBox="0 0 \(Int(width)) \(Int(height))" role="img" aria-label="\(line.title)">
            \(grid(line.peakKmh, y))\(minutes(line, x))<path class="speed" d="\(path)"/>
            </svg>
            """
    }

    private static func grid(_ peak: Double, _ y: (Double) -> Double) -> HTML {
        [0, peak / 2, peak].map { kmh in
            "<line class=\"axis\" x1=\"\(text(left))\" x2=\"\(text(width - right))\" y1=\"\(text(y(kmh)))\" y2=\"\(text(y(kmh)))\"/><text x=\"\(text(left - 6))\" y=\"\(text(y(kmh) + 4))\" text-anchor=\"end\">\(Int(kmh))</text>"
        }.joined()
    }

    private static func minutes(_ line: SpeedLine, _ x: (Int64) -> Double) -> HTML {
        line.minutes.map { minute in
            let at = x(line.fromMs + Int64(minute * 60_000))
            // A label at the edge would be cut in half.
            let anchor = at > width - right - 24 ? "end" : "middle"
            return
                "<text x=\"\(text(at))\" y=\"\(text(height - 6))\" text-anchor=\"\(anchor)\">\(Int(minute)) min</text>"
        }.joined()
    }

    static func text(_ value: Double) -> String {
        Decimal.text(Decimal.scaled(value, decimals: 1) ?? 0, decimals: 1)
    }
}

/// Bars by day or hour as inline SVG.
enum BarChart {
    private static let (width, height) = (800.0, 180.0)
    private static let (left, right, top, bottom) = (48.0, 8.0, 8.0, 22.0)
    private static let labelsMax = 12
    /// Few bars stay bars.
    private static let barMax = 48.0

    static func svg(_ chart: ReportBars) -> HTML {
        let scale = chart.scale
        let step = (width - left - right) / Double(max(1, chart.bars.count))
        func y(_ value: Double) -> Double { height - bottom - (height - top - bottom) * value / scale.most }
        let grid: [HTML] = scale.marks.map { mark in
            "<line class=\"axis\" x1=\"\(Int(left))\" x2=\"\(Int(width - right))\" y1=\"\(SpeedChart.text(y(mark)))\" y2=\"\(SpeedChart.text(y(mark)))\"/><text x=\"\(Int(left) - 6)\" y=\"\(SpeedChart.text(y(mark) + 4))\" text-anchor=\"end\">\(SpeedChart.text(mark))</text>"
        }
        let wide = min(step * 0.7, barMax)
        let bars: [HTML] = chart.bars.enumerated().filter { $0.element.value > 0 }.map { index, bar in
            "<rect class=\"bar\" x=\"\(SpeedChart.text(left + step * (Double(index) + 0.5) - wide / 2))\" y=\"\(SpeedChart.text(y(bar.value)))\" width=\"\(SpeedChart.text(wide))\" height=\"\(SpeedChart.text(height - bottom - y(bar.value)))\"/>"
        }
        let labels: [HTML] = chart.labelled(most: labelsMax).map { index in
            "<text x=\"\(SpeedChart.text(left + step * (Double(index) + 0.5)))\" y=\"\(Int(height) - 6)\" text-anchor=\"middle\">\(chart.bars[index].label)</text>"
        }
        return """
            <svg viewBox="0 0 \(Int(width)) \(Int(height))" role="img" aria-label="\(chart.title); the figures are in the table">
            \(grid.joined())\(bars.joined())\(labels.joined())
            </svg>
            """
    }
}
