internal import PDF
internal import Presentation

/// A table laid out for a width of paper: what is to stay in one piece is, and texts wrap.
final class PDFTable {
    private static let padPt = 3.0
    /// A column of sentences takes no more than this when others need room.
    private static let proseMaxPt = 240.0
    /// Column widths are measured over this many rows; later rows wrap where they are wider.
    private static let measuredMax = 2_000
    private static let cellMax = 1_500

    private let table: ReportTable
    private let font, bold: Canvas.Font
    private let widths: [Double]
    private let heads: [String]
    let headPt: Double
    let heights: [Double]

    init(_ table: ReportTable, _ canvas: Canvas, widthPt: Double) {
        self.table = table
        var needs: [(least: Double, whole: Double)] = []
        var sizePt = 8.0
        for size in [8.0, 7, 6, 5] {
            sizePt = size
            needs = PDFTable.needs(table, Canvas.Font(size), Canvas.Font(size, bold: true), canvas)
            if needs.map(\.least).reduce(0, +) <= widthPt { break }
        }
        font = Canvas.Font(sizePt)
        bold = Canvas.Font(sizePt, bold: true)
        let widths = PDFTable.shared(needs, widthPt)
        self.widths = widths
        func height(_ cells: [String], _ font: Canvas.Font) -> Double {
            2 * PDFTable.padPt
                + zip(cells, widths).map { cell, width in
                    canvas.size(cell, font, withinPt: width - 2 * PDFTable.padPt).heightPt
                }.max()!
        }
        let lineHeight = 2 * PDFTable.padPt + canvas.size("Ag", font).heightPt
        let (bold, inner) = (bold, widths.map { $0 - 2 * PDFTable.padPt })
        let heads = zip(table.headers, inner).map { PDFTable.lines($0.text, bold, canvas, within: $1) }
        self.heads = heads
        headPt = height(heads, bold)
        let plain = font
        heights = table.rows.enumerated().map { index, row in
            let cells = row.map(PDFTable.text)
            if table.hasSums, index == table.rows.count - 1 { return height(cells, bold) }
            // No letter is wider than it is high: most rows need no measuring.
            let isOneLine = zip(cells, widths).allSatisfy { cell, width in
                Double(cell.utf8.count) * sizePt <= width - 2 * PDFTable.padPt
                    && cell.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            }
            return isOneLine ? lineHeight : height(cells, plain)
        }
    }

    private static func text(_ cell: String?) -> String {
        guard let cell else { return "–" }
        return cell.count > cellMax ? cell.prefix(cellMax - 1) + "…" : cell
    }

    /// Broken between words only: `km/h` is none that may be broken.
    private static func lines(_ text: String, _ font: Canvas.Font, _ canvas: Canvas, within widthPt: Double) -> String {
        var lines: [String] = []
        for word in text.split(separator: " ").map(String.init) {
            if let last = lines.last, canvas.size("\(last) \(word)", font).widthPt <= widthPt {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(word)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The width that each column needs at least, and without wrapping.
    private static func needs(
        _ table: ReportTable, _ font: Canvas.Font, _ bold: Canvas.Font, _ canvas: Canvas
    ) -> [(least: Double, whole: Double)] {
        var known: [String: Double] = [:]
        func width(_ text: String, _ font: Canvas.Font) -> Double {
            // Width is asked once for each word of a column.
            if font == bold { return canvas.size(text, bold).widthPt }
            if let width = known[text] { return width }
            let width = canvas.size(text, font).widthPt
            known[text] = width
            return width
        }
        func longestWord(_ text: String, _ font: Canvas.Font) -> Double {
            text.split(separator: " ").map { width(String($0), font) }.max() ?? 0
        }
        return table.headers.indices.map { column in
            let header = table.headers[column]
            let cells = Set(table.rows.prefix(measuredMax).map { text($0[column]) })
            // Sums stand in bold, which is wider.
            let sum = table.hasSums ? table.rows.last.map { width(text($0[column]), bold) } ?? 0 : 0
            let whole = max(cells.map { width($0, font) }.max() ?? 0, sum)
            let word = header.wraps ? cells.map { longestWord($0, font) }.max() ?? 0 : whole
            let head = longestWord(header.text, bold)
            let pad = 2 * padPt + 0.5
            return (max(min(word, proseMaxPt), head) + pad, max(whole, head, min(width(header.text, bold), 70)) + pad)
        }
    }

    /// Spare width goes to columns that want more; a shortage is shared equally.
    private static func shared(_ needs: [(least: Double, whole: Double)], _ widthPt: Double) -> [Double] {
        let (least, whole) = (needs.map(\.least).reduce(0, +), needs.map(\.whole).reduce(0, +))
        if whole <= widthPt { return needs.map(\.whole) }
        if least >= widthPt { return needs.map { $0.least * widthPt / least } }
        return needs.map { $0.least + ($0.whole - $0.least) * (widthPt - least) / (whole - least) }
    }

    private var wholePt: Double { widths.reduce(0, +) }

    func drawHead(_ canvas: Canvas, x: Double, y: Double) {
        canvas.fill(x: x, y: y, widthPt: wholePt, heightPt: headPt, .band)
        put(heads, bold, canvas, x, y, headPt)
    }

    func draw(_ row: Int, _ canvas: Canvas, x: Double, y: Double) {
        let isSum = table.hasSums && row == table.rows.count - 1
        put(table.rows[row].map(PDFTable.text), isSum ? bold : font, canvas, x, y, heights[row])
    }

    private func put(
        _ cells: [String], _ font: Canvas.Font, _ canvas: Canvas, _ x: Double, _ y: Double, _ heightPt: Double
    ) {
        var at = x
        for (index, cell) in cells.enumerated() {
            canvas.draw(
                cell, font, x: at + PDFTable.padPt, y: y + PDFTable.padPt,
                widthPt: widths[index] - 2 * PDFTable.padPt, table.headers[index].isNumber ? .right : .left)
            at += widths[index]
        }
        canvas.line([(x, y + heightPt), (x + wholePt, y + heightPt)], widthPt: 0.5, .line)
    }
}
