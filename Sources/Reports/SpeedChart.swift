internal import Fleet

/// Speed over time as inline SVG: no script, no image file.
enum SpeedChart {
    private static let (width, height) = (800.0, 160.0)
    private static let (left, right, top, bottom) = (38.0, 8.0, 8.0, 22.0)
    /// More points than pixels show nothing more.
    private static let pointsMax = 700

    static func svg(_ readings: [CarReading], gapMs: Int64, label: String) -> String? {
        let speeds = readings.compactMap { reading in reading[.speed].map { (ts: reading.ts, kmh: Double($0) / 1_000) }
        }
        guard let first = speeds.first, let last = speeds.last, last.ts > first.ts else { return nil }
        let peak = max(10, (speeds.map(\.kmh).max()! / 20).rounded(.up) * 20)
        func x(_ ts: Int64) -> Double {
            left + (width - left - right) * Double(ts - first.ts) / Double(last.ts - first.ts)
        }
        func y(_ kmh: Double) -> Double { height - bottom - (height - top - bottom) * kmh / peak }
        var path = ""
        var before: Int64?
        for point in thinned(speeds) {
            // A hole stays a hole: the line is broken where readings are missing.
            let isBroken =
                before.map { point.ts - $0 > max(gapMs, (last.ts - first.ts) / Int64(pointsMax) * 3) } ?? true
            path += "\(isBroken ? "M" : "L")\(text(x(point.ts))) \(text(y(point.kmh)))"
            before = point.ts
        }
        return """
            <svg viewBox="0 0 \(Int(width)) \(Int(height))" role="img" aria-label="\(HTMLText.escaped(label))">
            \(grid(peak, y))\(minutes(first.ts, last.ts, x))<path class="speed" d="\(path)"/>
            </svg>
            """
    }

    /// The highest reading of each pixel column: peaks must not vanish.
    private static func thinned(_ speeds: [(ts: Int64, kmh: Double)]) -> [(ts: Int64, kmh: Double)] {
        let group = max(1, speeds.count / pointsMax)
        return stride(from: 0, to: speeds.count, by: group).map { start in
            speeds[start..<min(start + group, speeds.count)].max { $0.kmh < $1.kmh }!
        }
    }

    private static func grid(_ peak: Double, _ y: (Double) -> Double) -> String {
        [0, peak / 2, peak].map { kmh in
            "<line class=\"axis\" x1=\"\(text(left))\" x2=\"\(text(width - right))\" y1=\"\(text(y(kmh)))\" y2=\"\(text(y(kmh)))\"/>"
                + "<text x=\"\(text(left - 6))\" y=\"\(text(y(kmh) + 4))\" text-anchor=\"end\">\(Int(kmh))</text>"
        }.joined()
    }

    private static func minutes(_ from: Int64, _ to: Int64, _ x: (Int64) -> Double) -> String {
        let total = Double(to - from) / 60_000
        let step = [1.0, 2, 5, 10, 15, 30, 60, 120, 240, 480].first { total / $0 <= 10 } ?? 1_440
        return stride(from: 0, through: total, by: step).map { minute in
            let at = x(from + Int64(minute * 60_000))
            // A label at the edge would be cut in half.
            let anchor = at > width - right - 24 ? "end" : "middle"
            return
                "<text x=\"\(text(at))\" y=\"\(text(height - 6))\" text-anchor=\"\(anchor)\">\(Int(minute)) min</text>"
        }.joined()
    }

    private static func text(_ value: Double) -> String {
        Decimal.text(Decimal.scaled(value, decimals: 1) ?? 0, decimals: 1)
    }
}
