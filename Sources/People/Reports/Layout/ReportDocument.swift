internal import Fleet
internal import Presentation

/// A block of a report, for the page and the PDF alike.
package enum ReportBlock {
    /// Beside the matter.
    case note(String)
    case sentence(String)
    case heading(String)
    case figures([(name: String, text: String)])
    case table(ReportTable)
    case speed(SpeedLine)
    case bars(ReportBars)

    var html: HTML {
        switch self {
        case .note(let text): "<p class=\"soft\">\(text)</p>\n"
        case .sentence(let text): "<p>\(text)</p>\n"
        case .heading(let text): "<h2>\(text)</h2>\n"
        case .figures(let figures):
            "<ul class=\"tiles\">\(figures.map { "<li>\($0.name)<b>\($0.text)</b></li>" }.joined())</ul>\n"
        case .table(let table): "\(table.html)\n"
        case .speed(let line):
            "<h3>\(line.title)</h3>\n\(SpeedChart.svg(line) ?? "<p class=\"empty\">\(SpeedLine.empty)</p>")\n"
        case .bars(let bars): "<h2>\(bars.title)</h2>\n\(BarChart.svg(bars))\n"
        }
    }
}

/// A table for readers.
package struct ReportTable {
    let caption: String
    let headers: [HTML.Header]
    let rows: [[String?]]
    /// The text for no rows.
    let empty: String
    /// A column whose words are classes of the style as well: severities.
    var classes: Int?
    /// The last row is what the others add up to.
    var hasSums = false

    var html: HTML {
        var headers = headers
        if let classes { headers[classes] = .word(headers[classes].text) }
        let cells = rows.map { row in row.enumerated().map { index, text in cell(text, index) } }
        return .table(caption: caption, headers: headers, rows: cells, empty: empty)
    }

    private func cell(_ text: String?, _ column: Int) -> HTML? {
        guard let text else { return nil }
        return column == classes ? "<span class=\"\(text)\">\(text)</span>" : HTML(text)
    }
}

/// A figure by day or by hour: one bar each, also for those with nothing.
package struct ReportBars: Sendable {
    let title: String
    let bars: [(label: String, value: Double)]

    /// From nothing to the next round value above the highest.
    var scale: LineChart.Scale { LineChart.Scale(0, max(bars.map(\.value).max() ?? 0, 1e-3)) }

    /// The bars with labels, where this many have room.
    func labelled(most: Int) -> [Int] {
        let step = max(1, (bars.count + most - 1) / max(1, most))
        return Array(stride(from: 0, to: bars.count, by: step))
    }
}

/// The speed over a trip: runs of readings without a hole.
package struct SpeedLine {
    static let empty = "No speed was read on this trip."
    /// More points than pixels show nothing more.
    private static let pointsMax = 700

    let title: String
    /// Empty: no speed was read.
    let runs: [[(ts: Int64, kmh: Double)]]
    let fromMs: Int64
    let toMs: Int64
    /// The top of the axis.
    let peakKmh: Double

    init(_ readings: [CarReading], gapMs: Int64, title: String) {
        self.title = title
        let speeds = readings.compactMap { reading in
            reading[.speed].map { (ts: reading.ts, kmh: Double($0) / 1_000) }
        }
        guard let first = speeds.first, let last = speeds.last, last.ts > first.ts else {
            runs = []
            fromMs = 0
            toMs = 0
            peakKmh = 0
            return
        }
        fromMs = first.ts
        toMs = last.ts
        peakKmh = max(10, (speeds.map(\.kmh).max()! / 20).rounded(.up) * 20)
        let breakMs = max(gapMs, (last.ts - first.ts) / Int64(SpeedLine.pointsMax) * 3)
        var runs: [[(ts: Int64, kmh: Double)]] = []
        var before: Int64?
        for point in SpeedLine.thinned(speeds) {
            // A hole stays a hole: the line is broken where readings are missing.
            if before.map({ point.ts - $0 > breakMs }) ?? true {
                runs.append([point])
            } else {
                runs[runs.count - 1].append(point)
            }
            before = point.ts
        }
        self.runs = runs
    }

    /// The highest reading of each pixel column: peaks must not vanish.
    private static func thinned(_ speeds: [(ts: Int64, kmh: Double)]) -> [(ts: Int64, kmh: Double)] {
        let group = max(1, speeds.count / pointsMax)
        return stride(from: 0, to: speeds.count, by: group).map { start in
            speeds[start..<min(start + group, speeds.count)].max { $0.kmh < $1.kmh }!
        }
    }

    /// Marks of the time axis: minutes since the start.
    var minutes: [Double] {
        let total = Double(toMs - fromMs) / 60_000
        let step = [1.0, 2, 5, 10, 15, 30, 60, 120, 240, 480].first { total / $0 <= 10 } ?? 1_440
        return Array(stride(from: 0, through: total, by: step))
    }
}
