internal import CQrencode

/// A QR code (ISO/IEC 18004) of a text, as a square of dark and light modules. Level M: it is read with 15 % of it lost, which a sticker on a
/// machine needs.
package struct QRCode: Sendable, Equatable {
    /// Light modules around it, which readers need.
    package static let quiet = 4
    /// Modules of a side, without the quiet zone.
    package let side: Int
    private let modules: [UInt8]

    /// Nil: the text is empty, has a NUL, or is too long.
    package init?(_ text: String) {
        guard !text.isEmpty, !text.utf8.contains(0) else { return nil }
        // Byte mode: what is encoded is the text, byte for byte.
        guard let code = unsafe QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { unsafe QRcode_free(code) }

        side = Int(unsafe code.pointee.width)
        modules = unsafe Array(UnsafeBufferPointer(start: code.pointee.data, count: side * side))
    }

    /// The lowest bit of a module is its colour; the others are the encoder's own.
    package func isDark(row: Int, column: Int) -> Bool { modules[row * side + column] & 1 == 1 }

    /// Dark modules that lie side by side.
    package var runs: [(row: Int, columns: Range<Int>)] {
        (0..<side).flatMap { row -> [(row: Int, columns: Range<Int>)] in
            var (runs, from): ([(row: Int, columns: Range<Int>)], Int?) = ([], nil)
            for column in 0...side {
                let isDark = column < side && isDark(row: row, column: column)
                if isDark, from == nil { from = column }
                if !isDark, let start = from {
                    runs.append((row, start..<column))
                    from = nil
                }
            }
            return runs
        }
    }
}

extension Canvas {
    /// - Parameters:
    ///   - x, y: of the code's own corner; the quiet zone lies outside.
    package func draw(_ code: QRCode, x: Double, y: Double, sidePt: Double) {
        let module = sidePt / Double(code.side)
        fill(
            code.runs.map { run in
                Box(
                    x: x + Double(run.columns.lowerBound) * module, y: y + Double(run.row) * module,
                    widthPt: Double(run.columns.count) * module, heightPt: module)
            }, .ink)
    }
}
