internal import PDF

/// Charts on paper, as `SpeedChart` and `BarChart` draw them on a page.
struct PDFChart {
    static let speedPt = 96.0
    static let barsPt = 130.0
    /// Few bars stay bars.
    private static let barMaxPt = 36.0
    private static let (left, right, top, bottom) = (34.0, 6.0, 4.0, 16.0)

    let x, y, widthPt: Double

    private var innerPt: Double { widthPt - PDFChart.left - PDFChart.right }

    func draw(_ line: SpeedLine, _ canvas: Canvas) {
        func across(_ ts: Int64) -> Double {
            x + PDFChart.left + innerPt * Double(ts - line.fromMs) / Double(line.toMs - line.fromMs)
        }
        let up = grid(canvas, [0, line.peakKmh / 2, line.peakKmh], most: line.peakKmh, heightPt: PDFChart.speedPt)
        for minute in line.minutes {
            mark("\(Int(minute)) min", canvas, at: across(line.fromMs + Int64(minute * 60_000)), PDFChart.speedPt)
        }
        for run in line.runs {
            canvas.line(run.map { (across($0.ts), up($0.kmh)) }, widthPt: 0.9, .accent)
        }
    }

    func draw(_ bars: ReportBars, _ canvas: Canvas) {
        let scale = bars.scale
        let up = grid(canvas, scale.marks, most: scale.most, heightPt: PDFChart.barsPt)
        let step = innerPt / Double(max(1, bars.bars.count))
        let barPt = min(step * 0.7, PDFChart.barMaxPt)
        for (index, bar) in bars.bars.enumerated() where bar.value > 0 {
            canvas.fill(
                x: x + PDFChart.left + step * (Double(index) + 0.5) - barPt / 2, y: up(bar.value), widthPt: barPt,
                heightPt: up(0) - up(bar.value), .accent)
        }
        for index in bars.labelled(most: Int(innerPt / 34)) {
            mark(
                bars.bars[index].label, canvas, at: x + PDFChart.left + step * (Double(index) + 0.5),
                PDFChart.barsPt)
        }
    }

    /// Lines across, with their values. Returns where a value lies.
    private func grid(_ canvas: Canvas, _ marks: [Double], most: Double, heightPt: Double) -> (Double) -> Double {
        func up(_ value: Double) -> Double {
            y + heightPt - PDFChart.bottom - (heightPt - PDFChart.bottom - PDFChart.top) * value / most
        }
        for value in marks {
            canvas.line(
                [(x + PDFChart.left, up(value)), (x + PDFChart.left + innerPt, up(value))], widthPt: 0.5, .line)
            canvas.draw(
                SpeedChart.text(value), PDFFont.axis, x: x, y: up(value) - 4.5, widthPt: PDFChart.left - 4, .right,
                .soft)
        }
        return up
    }

    /// Below a place, and within the chart.
    private func mark(_ text: String, _ canvas: Canvas, at: Double, _ heightPt: Double) {
        let from = min(max(at - 20, x), x + widthPt - 40)
        let align = from < at - 20.5 ? Canvas.Align.right : .middle
        canvas.draw(text, PDFFont.axis, x: from, y: y + heightPt - 12, widthPt: 40, align, .soft)
    }
}
