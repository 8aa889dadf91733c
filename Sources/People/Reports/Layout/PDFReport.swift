internal import Basics
internal import PDF

/// A report on paper: A4, tables over several pages with their head on each, charts, page numbers.
struct PDFReport {
    static let margin = 36.0
    /// A day of a large fleet has more trips than anybody turns pages for.
    private static let chartsMax = 120
    private static let (short, long) = (595.28, 841.89)
    /// Wider tables lie on the paper's side.
    private static let uprightColumnsMax = 8

    private let title: String
    private let blocks: [ReportBlock]

    init(title: String, _ blocks: [ReportBlock]) { (self.title, self.blocks) = (title, blocks) }

    /// The same bytes for the same blocks: it is made when the span ended, as it says.
    func file(untilMs: Int64) throws -> [UInt8] {
        let isWide = blocks.contains { block in
            if case .table(let table) = block { return table.headers.count > PDFReport.uprightColumnsMax }
            return false
        }
        let (width, height) = isWide ? (PDFReport.long, PDFReport.short) : (PDFReport.short, PDFReport.long)
        let canvas = Canvas(widthPt: width, heightPt: height, title: title, madeAt: UTC.text(untilMs))
        let inner = width - 2 * PDFReport.margin
        var pages = PDFPagination(heightPt: height - 2 * PDFReport.margin - PDFPagination.footPt)
        for piece in pieces(canvas, inner) { pages.add(piece) }
        for (number, page) in pages.pages.enumerated() {
            for (y, piece) in page {
                piece.draw(canvas, x: PDFReport.margin, y: PDFReport.margin + y, widthPt: inner)
            }
            let foot = height - PDFReport.margin - 8
            canvas.draw(title, PDFFont.foot, x: PDFReport.margin, y: foot, widthPt: inner * 0.75, .left, .soft)
            canvas.draw(
                "Page \(number + 1) of \(pages.pages.count)", PDFFont.foot, x: PDFReport.margin, y: foot,
                widthPt: inner, .right, .soft)
            canvas.nextPage()
        }
        return try canvas.finish()
    }

    private func pieces(_ canvas: Canvas, _ widthPt: Double) -> [PDFBlock] {
        var pieces = [PDFBlock.text(title, PDFFont.title, .ink, canvas, widthPt, before: 0)]
        var charts = 0
        for block in blocks {
            switch block {
            case .note(let text): pieces.append(.text(text, PDFFont.body, .soft, canvas, widthPt, before: 4))
            case .sentence(let text): pieces.append(.text(text, PDFFont.body, .ink, canvas, widthPt, before: 4))
            case .heading(let text): pieces.append(heading(text, canvas, widthPt))
            case .figures(let figures): pieces.append(.figures(figures))
            case .table(let table):
                pieces.append(heading(table.caption, canvas, widthPt))
                guard !table.rows.isEmpty else {
                    pieces.append(.text(table.empty, PDFFont.body, .soft, canvas, widthPt, before: 2))
                    continue
                }
                let layout = PDFTable(table, canvas, widthPt: widthPt)
                pieces += table.rows.indices.map { .row(layout, $0) }
            case .bars(let bars):
                pieces.append(heading(bars.title, canvas, widthPt))
                pieces.append(.bars(bars))
            case .speed(let line):
                charts += 1
                guard charts <= PDFReport.chartsMax else { continue }
                pieces.append(.text(line.title, PDFFont.strong, .ink, canvas, widthPt, before: 8, keepPt: 100))
                pieces.append(
                    line.runs.isEmpty
                        ? .text(SpeedLine.empty, PDFFont.body, .soft, canvas, widthPt, before: 2) : .speed(line))
            }
        }
        if charts > PDFReport.chartsMax {
            pieces.append(
                .text(
                    "\(charts - PDFReport.chartsMax) more trips are drawn in the report's page only.", PDFFont.body,
                    .soft,
                    canvas, widthPt, before: 8))
        }
        return pieces
    }

    private func heading(_ text: String, _ canvas: Canvas, _ widthPt: Double) -> PDFBlock {
        .text(text, PDFFont.heading, .ink, canvas, widthPt, before: 14, keepPt: 60)
    }
}

enum PDFFont {
    static let title = Canvas.Font(16, bold: true)
    static let heading = Canvas.Font(11, bold: true)
    static let strong = Canvas.Font(9, bold: true)
    static let body = Canvas.Font(9)
    static let foot = Canvas.Font(7.5)
    static let axis = Canvas.Font(7)
}

/// A block that is never split over pages.
struct PDFBlock {
    private enum Content {
        case text(String, Canvas.Font, Canvas.Colour)
        case figures([(name: String, text: String)])
        case head(PDFTable)
        case row(PDFTable, Int)
        case speed(SpeedLine)
        case bars(ReportBars)
    }

    private let content: Content
    let heightPt: Double
    /// Room above it, and below it for what belongs to it.
    var beforePt = 0.0
    var keepPt = 0.0
    /// The heading above it when it is the first on a page, or of its table.
    var head: (of: PDFTable, isFirst: Bool)?

    static func text(
        _ text: String, _ font: Canvas.Font, _ colour: Canvas.Colour, _ canvas: Canvas, _ widthPt: Double,
        before: Double, keepPt: Double = 0
    ) -> PDFBlock {
        PDFBlock(
            content: .text(text, font, colour), heightPt: canvas.size(text, font, withinPt: widthPt).heightPt,
            beforePt: before, keepPt: keepPt)
    }

    static func figures(_ figures: [(name: String, text: String)]) -> PDFBlock {
        PDFBlock(content: .figures(figures), heightPt: 34, beforePt: 10)
    }

    static func row(_ table: PDFTable, _ row: Int) -> PDFBlock {
        PDFBlock(content: .row(table, row), heightPt: table.heights[row], head: (table, row == 0))
    }

    static func head(_ table: PDFTable) -> PDFBlock {
        PDFBlock(content: .head(table), heightPt: table.headPt, beforePt: 4)
    }

    static func speed(_ line: SpeedLine) -> PDFBlock {
        PDFBlock(content: .speed(line), heightPt: PDFChart.speedPt, beforePt: 2)
    }

    static func bars(_ bars: ReportBars) -> PDFBlock {
        PDFBlock(content: .bars(bars), heightPt: PDFChart.barsPt, beforePt: 2)
    }

    func draw(_ canvas: Canvas, x: Double, y: Double, widthPt: Double) {
        switch content {
        case .text(let text, let font, let colour): canvas.draw(text, font, x: x, y: y, widthPt: widthPt, .left, colour)
        case .figures(let figures):
            let step = widthPt / Double(max(1, figures.count))
            for (index, figure) in figures.enumerated() {
                let at = x + step * Double(index)
                canvas.fill(x: at, y: y, widthPt: step - 6, heightPt: heightPt, .band)
                canvas.draw(figure.name, PDFFont.foot, x: at + 5, y: y + 4, widthPt: step - 12, .left, .soft)
                canvas.draw(figure.text, PDFFont.strong, x: at + 5, y: y + 17, widthPt: step - 12)
            }
        case .head(let table): table.drawHead(canvas, x: x, y: y)
        case .row(let table, let row): table.draw(row, canvas, x: x, y: y)
        case .speed(let line): PDFChart(x: x, y: y, widthPt: widthPt).draw(line, canvas)
        case .bars(let bars): PDFChart(x: x, y: y, widthPt: widthPt).draw(bars, canvas)
        }
    }
}

/// Pieces from top to bottom, and over to the next page where one is full. Pure.
struct PDFPagination {
    /// Below all, for the page's number.
    static let footPt = 18.0

    let heightPt: Double
    private(set) var pages: [[(y: Double, piece: PDFBlock)]] = [[]]
    private var y = 0.0

    init(heightPt: Double) { self.heightPt = heightPt }

    mutating func add(_ piece: PDFBlock) {
        let isTop = pages[pages.count - 1].isEmpty
        let headPt = piece.head.map { $0.isFirst ? $0.of.headPt + 4 : 0 } ?? 0
        if !isTop, y + headPt + piece.beforePt + piece.heightPt + piece.keepPt > heightPt {
            pages.append([])
            y = 0
        }
        if let head = piece.head, head.isFirst || pages[pages.count - 1].isEmpty { put(.head(head.of)) }
        put(piece)
    }

    private mutating func put(_ piece: PDFBlock) {
        if !pages[pages.count - 1].isEmpty { y += piece.beforePt }
        pages[pages.count - 1].append((y, piece))
        y += piece.heightPt
    }
}
