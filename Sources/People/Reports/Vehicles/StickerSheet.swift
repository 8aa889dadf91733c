internal import Basics
internal import PDF

/// A sheet of stickers for machines: name, serial number, model and a QR code that opens the machine's field view. 24 on a page, three
/// beside eight; on A4 as labels of 70 by 37 mm lie.
package struct StickerSheet {
    package enum Paper: String, CaseIterable, Sendable {
        case a4, letter

        /// In points.
        var size: (width: Double, height: Double) {
            switch self {
            case .a4: (595.276, 841.89)
            case .letter: (612, 792)
            }
        }
        /// Above the first row; below the last it is what remains.
        var topPt: Double {
            switch self {
            case .a4: 1.417
            case .letter: 18
            }
        }
        var stickerPt: (width: Double, height: Double) {
            switch self {
            case .a4: (198.425, 104.882)
            case .letter: (204, 94.5)
            }
        }
    }

    package struct Sticker: Equatable, Sendable {
        let vehicle: String
        let name, model: String?
        /// What the code says.
        let address: String

        package init(vehicle: String, name: String?, model: String?, address: String) {
            self.vehicle = vehicle
            self.name = name
            self.model = model
            self.address = address
        }
    }

    package struct Fault: Error, CustomStringConvertible { package let description: String }

    package static let pageStickers = columns * rows
    /// 20 pages.
    package static let stickersMax = 480
    private static let (columns, rows) = (3, 8)
    /// Printers leave a margin.
    private static let padPt = 12.0
    private static let name = Canvas.Font(11, bold: true)
    /// Of a machine without a name.
    private static let serial = Canvas.Font(9, bold: true)
    private static let small = Canvas.Font(8)

    let stickers: [Sticker]
    let paper: Paper

    package init(_ stickers: [Sticker], on paper: Paper) { (self.stickers, self.paper) = (stickers, paper) }

    /// - Parameter madeMs: what the file says when it was made.
    package func file(madeMs: Int64) throws -> [UInt8] {
        let canvas = Canvas(
            widthPt: paper.size.width, heightPt: paper.size.height, title: "QR stickers", madeAt: UTC.text(madeMs))
        for start in stride(from: 0, to: stickers.count, by: StickerSheet.pageStickers) {
            for (place, sticker) in stickers[start...].prefix(StickerSheet.pageStickers).enumerated() {
                try draw(sticker, at: place, canvas)
            }
            canvas.nextPage()
        }
        return try canvas.finish()
    }

    private func draw(_ sticker: Sticker, at place: Int, _ canvas: Canvas) throws {
        guard let code = QRCode(sticker.address) else {
            throw Fault(description: "the address of \(sticker.vehicle) does not fit into a QR code")
        }
        let (width, height) = paper.stickerPt
        let x = Double(place % StickerSheet.columns) * width
        let y = paper.topPt + Double(place / StickerSheet.columns) * height
        // With its quiet zone it is as high as the sticker.
        let whole = height - StickerSheet.padPt
        let module = whole / Double(code.side + 2 * QRCode.quiet)
        let quiet = module * Double(QRCode.quiet)
        canvas.draw(
            code, x: x + StickerSheet.padPt / 2 + quiet, y: y + StickerSheet.padPt / 2 + quiet,
            sidePt: module * Double(code.side))
        write(sticker, canvas, x: x + StickerSheet.padPt / 2 + whole, y: y, widthPt: width - whole - StickerSheet.padPt)
    }

    /// Beside the code, in the middle of its height.
    private func write(_ sticker: Sticker, _ canvas: Canvas, x: Double, y: Double, widthPt: Double) {
        // Of a long name three lines are shown, of a model one; a serial number is whole.
        let named: [(String, Canvas.Font, Double)] =
            sticker.name.map { [($0, StickerSheet.name, 3), (sticker.vehicle, StickerSheet.small, 4)] }
            ?? [(sticker.vehicle, StickerSheet.serial, 5)]
        let lines = named + (sticker.model.map { [($0, StickerSheet.small, 1)] } ?? [])
        let texts = lines.map { text, font, linesMax in
            (StickerSheet.fitting(text, font, canvas, widthPt, linesMax), font)
        }
        let heights = texts.map { canvas.size($0.0, $0.1, withinPt: widthPt).heightPt }
        var top = y + max(2, (paper.stickerPt.height - heights.reduce(0, +)) / 2)
        for ((text, font), height) in zip(texts, heights) {
            canvas.draw(text, font, x: x, y: top, widthPt: widthPt, .left, font == StickerSheet.small ? .soft : .ink)
            top += height
        }
    }

    /// As much of a text as fits into so many lines, with a sign that there is more.
    private static func fitting(
        _ text: String, _ font: Canvas.Font, _ canvas: Canvas, _ widthPt: Double, _ linesMax: Double
    ) -> String {
        let mostPt = canvas.size("Ag", font).heightPt * linesMax + 0.5
        func fits(_ text: String) -> Bool { canvas.size(text, font, withinPt: widthPt).heightPt <= mostPt }
        let text = text.trimmed
        if fits(text) { return text }
        // The greatest beginning that fits.
        var (least, most) = (0, text.count)
        while least < most {
            let middle = (least + most + 1) / 2
            if fits(text.prefix(middle) + "…") { least = middle } else { most = middle - 1 }
        }
        return text.prefix(least) + "…"
    }
}
