/// Small pictures of figures for tables and tiles: no script, no axes, drawn in the colours of the page's tokens. The words beside them say
/// what they show, so that screen readers pass them over.
extension HTML {
    /// The ink of a small picture, named as the token is.
    package enum Tone: String, Sendable {
        case accent, critical, warning, ok
        case quiet = "quiet-solid"

        var ink: String { "var(--\(rawValue))" }
    }

    /// A limit that a sparkline is seen against.
    package struct SparkLimit: Sendable {
        package let value: Double
        /// Wrong is below it, not above.
        package let isLeast: Bool

        package init(_ value: Double, isLeast: Bool = false) {
            self.value = value
            self.isLeast = isLeast
        }

        func isBeyond(_ other: Double) -> Bool { isLeast ? other < value : other > value }
    }

    /// Values over time: a line with a soft area, the last one as a dot. Nil is a gap and stays one. What lies beyond the limit is red.
    package static func sparkline(
        values: [Double?], limit: SparkLimit? = nil, tone: Tone = .accent, width: Int = 110, height: Int = 34
    ) -> HTML {
        guard let plot = SparkPlot(values, limit, width: width, height: height) else { return "" }
        let lines = plot.runs.map { line($0, ink: tone.ink) }.joined()
        let areas = plot.runs.map { run -> HTML in
            let points =
                "\(point(run[0].x, Double(height))) \(text(run)) \(point(run[run.count - 1].x, Double(height)))"
            return "<polygon points=\"\(points)\" fill=\"\(tone.ink)\" opacity=\".09\"/>"
        }.joined()
        let end = plot.runs[plot.runs.count - 1].last!
        let endInk = plot.isLastBeyond ? Tone.critical.ink : tone.ink
        return frame(
            "spark", width, height,
            "\(areas)\(lines)\(plot.limitY.map { limitLine($0, width) })\(plot.beyond.map { line($0, ink: Tone.critical.ink) }.joined())<circle cx=\"\(tenths(end.x))\" cy=\"\(tenths(end.y))\" r=\"2.5\" fill=\"\(endInk)\"/>"
        )
    }

    /// Counts of days, say: one bar each, the last one full.
    package static func bars(values: [Double], tone: Tone = .accent, width: Int = 110, height: Int = 28) -> HTML {
        guard let most = values.max() else { return "" }
        let scale = most > 0 ? most : 1
        let step = Double(width) / Double(values.count)
        let bars = values.indices.map { at -> HTML in
            let tall = max(1.5, values[at] / scale * (Double(height) - 2))
            let ink = values[at] > 0 ? tone.ink : "var(--line-strong)"
            return
                "<rect x=\"\(tenths(Double(at) * step + 0.75))\" y=\"\(tenths(Double(height) - tall))\" width=\"\(tenths(max(0.5, step - 1.5)))\" height=\"\(tenths(tall))\" rx=\"1\" fill=\"\(ink)\"\(" opacity=\".55\"", if: at < values.count - 1)/>"
        }
        return frame("spark", width, height, bars.joined())
    }

    /// The outline of a trip, north up: its start is hollow, its end full.
    package static func miniTrack(
        _ path: [(latitudeDeg: Double, longitudeDeg: Double)], tone: Tone = .accent, width: Int = 64, height: Int = 40
    ) -> HTML {
        guard let outline = TrackPlot(path, width: Double(width), height: Double(height)) else { return "" }
        let (start, end) = (outline.points[0], outline.points[outline.points.count - 1])
        return frame(
            "mini", width, height,
            "\(line(outline.points, ink: tone.ink, thick: "2"))<circle cx=\"\(tenths(start.x))\" cy=\"\(tenths(start.y))\" r=\"2.6\" fill=\"var(--card)\" stroke=\"var(--ink-2)\" stroke-width=\"1.5\"/><circle cx=\"\(tenths(end.x))\" cy=\"\(tenths(end.y))\" r=\"3\" fill=\"var(--ink)\"/>"
        )
    }

    private static func frame(_ name: String, _ width: Int, _ height: Int, _ content: HTML) -> HTML {
        "<svg class=\"\(name)\" width=\"\(width)\" height=\"\(height)\" viewBox=\"0 0 \(width) \(height)\" aria-hidden=\"true\">\(content)</svg>"
    }

    private static func line(_ run: [SparkPoint], ink: String, thick: String = "1.75") -> HTML {
        "<polyline points=\"\(text(run))\" fill=\"none\" stroke=\"\(ink)\" stroke-width=\"\(thick)\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>"
    }

    private static func limitLine(_ y: Double, _ width: Int) -> HTML {
        "<line x1=\"0\" x2=\"\(width)\" y1=\"\(tenths(y))\" y2=\"\(tenths(y))\" stroke=\"var(--critical)\" stroke-dasharray=\"3 3\" opacity=\".7\"/>"
    }

    private static func text(_ run: [SparkPoint]) -> String { run.map { point($0.x, $0.y) }.joined(separator: " ") }

    private static func point(_ x: Double, _ y: Double) -> String { "\(tenths(x)),\(tenths(y))" }

    /// `12.5`, `12`: a tenth of a pixel is more than is seen.
    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}

private struct SparkPoint: Equatable {
    let x, y: Double
}

/// A sparkline's geometry in pixels.
private struct SparkPlot {
    private static let padding = 3.0

    /// Unbroken lines, none of them empty.
    let runs: [[SparkPoint]]
    /// The parts of them that lie beyond the limit.
    let beyond: [[SparkPoint]]
    let limitY: Double?
    let isLastBeyond: Bool

    /// Nil: there is no value.
    init?(_ values: [Double?], _ limit: HTML.SparkLimit?, width: Int, height: Int) {
        let known = values.compactMap { $0 }.filter(\.isFinite)
        let all = known + (limit.map { [$0.value] } ?? [])
        guard let last = known.last, let least = all.min(), let most = all.max() else { return nil }
        // Values that do not change are drawn in the middle.
        let (low, range) = least < most ? (least, most - least) : (least - 1, 2.0)
        let (across, down) = (Double(width) - 2 * SparkPlot.padding, Double(height) - 2 * SparkPlot.padding)
        func y(_ value: Double) -> Double { Double(height) - SparkPlot.padding - (value - low) / range * down }
        let step = across / Double(max(1, values.count - 1))
        var (runs, beyond): ([[SparkPoint]], [[SparkPoint]]) = ([[]], [[]])
        var before: (point: SparkPoint, isBeyond: Bool)?
        let limitY = limit.map { y($0.value) }
        for at in values.indices {
            guard let value = values[at], value.isFinite else {
                runs.append([])
                beyond.append([])
                before = nil
                continue
            }
            let point = SparkPoint(x: SparkPlot.padding + Double(at) * step, y: y(value))
            let isBeyond = limit?.isBeyond(value) ?? false
            runs[runs.count - 1].append(point)
            if let before, let limitY, before.isBeyond != isBeyond {
                beyond[beyond.count - 1].append(SparkPlot.crossing(before.point, point, limitY))
                if before.isBeyond { beyond.append([]) }
            }
            if isBeyond { beyond[beyond.count - 1].append(point) }
            before = (point, isBeyond)
        }
        self.runs = runs.filter { !$0.isEmpty }
        self.beyond = beyond.filter { $0.count > 1 }
        self.limitY = limitY
        isLastBeyond = limit?.isBeyond(last) ?? false
    }

    private static func crossing(_ from: SparkPoint, _ to: SparkPoint, _ y: Double) -> SparkPoint {
        guard from.y != to.y else { return to }
        return SparkPoint(x: from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y), y: y)
    }
}

/// A way's outline in pixels, with equal scales to the east and to the north.
private struct TrackPlot {
    private static let padding = 5.0

    let points: [SparkPoint]

    /// Nil: there is no place.
    init?(_ path: [(latitudeDeg: Double, longitudeDeg: Double)], width: Double, height: Double) {
        guard let first = path.first else { return nil }
        let shrink = TrackPlot.cosine(ofDegrees: first.latitudeDeg)
        let (xs, ys) = (path.map { $0.longitudeDeg * shrink }, path.map { -$0.latitudeDeg })
        guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else { return nil }
        let room = (across: width - 2 * TrackPlot.padding, down: height - 2 * TrackPlot.padding)
        // A vehicle that stood still is a dot in the middle.
        let scale = min(room.across / max(right - left, 1e-7), room.down / max(bottom - top, 1e-7))
        let (offsetX, offsetY) = ((width - (right - left) * scale) / 2, (height - (bottom - top) * scale) / 2)
        points = zip(xs, ys).map { SparkPoint(x: ($0 - left) * scale + offsetX, y: ($1 - top) * scale + offsetY) }
    }

    /// Bhaskara's approximation, right to two thousandths: enough for a picture of 64 pixels, and without a library for it.
    private static func cosine(ofDegrees degrees: Double) -> Double {
        let square = degrees * degrees
        return (32_400 - 4 * square) / (32_400 + square)
    }
}
