internal import CPango

/// A PDF file (ISO 32000-1) that is drawn page by page. Lengths are points, 1/72 inch, from the upper left corner.
/// The same calls make the same bytes: it holds no time but the one it is told.
@safe
package final class Canvas {
    package enum Colour: Sendable {
        case ink, soft, line, band, accent

        /// Red, green and blue; on paper, as `HTML.style` has them in light.
        var parts: (Double, Double, Double) {
            switch self {
            case .ink: (0x1b / 255, 0x1f / 255, 0x23 / 255)
            case .soft: (0x57 / 255, 0x60 / 255, 0x6a / 255)
            case .line: (0xd0 / 255, 0xd7 / 255, 0xde / 255)
            case .band: (0xf6 / 255, 0xf8 / 255, 0xfa / 255)
            case .accent: (0x0b / 255, 0x5c / 255, 0x8a / 255)
            }
        }
    }

    package enum Align: Sendable { case left, middle, right }

    package struct Font: Sendable, Hashable {
        package let sizePt: Double
        package let isBold: Bool
        package init(_ sizePt: Double, bold: Bool = false) { (self.sizePt, isBold) = (sizePt, bold) }
    }

    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// Shapes all scripts; what it lacks comes from the other fonts of the system.
    private static let family = "DejaVu Sans"

    private let sink = Sink()
    private let surface: OpaquePointer
    private let cairo: OpaquePointer
    private let layout: OpaquePointer
    private var font: Font?

    /// - Parameter madeAt: what the file says when it was made: `2026-11-22T00:00:00Z`.
    package init(widthPt: Double, heightPt: Double, title: String, madeAt: String) {
        // `sink` outlives the surface: deinit destroys it first, then properties die.
        unsafe surface = cairo_pdf_surface_create_for_stream(
            write, Unmanaged.passUnretained(sink).toOpaque(), widthPt, heightPt)!
        unsafe cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title)
        unsafe cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, madeAt)
        unsafe cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_MOD_DATE, madeAt)
        unsafe cairo = cairo_create(surface)!
        unsafe layout = pango_cairo_create_layout(cairo)!
        // An id that is broken in two must not get a sign that is not its own.
        let attributes = unsafe pango_attr_list_new()
        unsafe pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(0))
        unsafe pango_layout_set_attributes(layout, attributes)
        unsafe pango_attr_list_unref(attributes)
    }

    deinit {
        unsafe drover_pango_free(layout)
        unsafe cairo_destroy(cairo)
        unsafe cairo_surface_destroy(surface)
    }

    /// Width and height of a text, broken into lines where it is wider than `withinPt`.
    package func size(_ text: String, _ font: Font, withinPt: Double? = nil) -> (widthPt: Double, heightPt: Double) {
        set(text, font, withinPt, .left)
        var (width, height): (Int32, Int32) = (0, 0)
        unsafe pango_layout_get_size(layout, &width, &height)
        return (Double(width) / Double(PANGO_SCALE), Double(height) / Double(PANGO_SCALE))
    }

    /// - Parameter x: of the left edge of the text's box.
    package func draw(
        _ text: String, _ font: Font, x: Double, y: Double, widthPt: Double, _ align: Align = .left,
        _ colour: Colour = .ink
    ) {
        set(text, font, widthPt, align)
        pick(colour)
        unsafe cairo_move_to(cairo, x, y)
        unsafe pango_cairo_show_layout(cairo, layout)
    }

    package func fill(x: Double, y: Double, widthPt: Double, heightPt: Double, _ colour: Colour) {
        pick(colour)
        unsafe cairo_rectangle(cairo, x, y, widthPt, heightPt)
        unsafe cairo_fill(cairo)
    }

    package struct Box: Sendable {
        let x, y, widthPt, heightPt: Double
    }

    /// As one shape: between boxes that touch no line shows.
    package func fill(_ boxes: [Box], _ colour: Colour) {
        pick(colour)
        for box in boxes { unsafe cairo_rectangle(cairo, box.x, box.y, box.widthPt, box.heightPt) }
        unsafe cairo_fill(cairo)
    }

    package func line(_ points: [(x: Double, y: Double)], widthPt: Double, _ colour: Colour) {
        guard let first = points.first else { return }
        pick(colour)
        unsafe cairo_set_line_width(cairo, widthPt)
        unsafe cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
        unsafe cairo_move_to(cairo, first.x, first.y)
        for point in points.dropFirst() { unsafe cairo_line_to(cairo, point.x, point.y) }
        unsafe cairo_stroke(cairo)
    }

    package func nextPage() { unsafe cairo_show_page(cairo) }

    /// The file. Nothing is drawn afterwards.
    package func finish() throws(Fault) -> [UInt8] {
        unsafe cairo_surface_finish(surface)
        let status = unsafe cairo_surface_status(surface)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw Fault(
                description: "the PDF could not be made: \(unsafe String(cString: cairo_status_to_string(status)))")
        }
        return sink.bytes
    }

    private func pick(_ colour: Colour) {
        let (red, green, blue) = colour.parts
        unsafe cairo_set_source_rgb(cairo, red, green, blue)
    }

    private func set(_ text: String, _ font: Font, _ widthPt: Double?, _ align: Align) {
        if self.font != font {
            let description = unsafe pango_font_description_new()
            defer { unsafe pango_font_description_free(description) }

            unsafe pango_font_description_set_family(description, Canvas.family)
            unsafe pango_font_description_set_weight(description, font.isBold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL)
            unsafe pango_font_description_set_absolute_size(description, font.sizePt * Double(PANGO_SCALE))
            unsafe pango_layout_set_font_description(layout, description)
            self.font = font
        }
        unsafe pango_layout_set_width(layout, widthPt.map { Int32($0 * Double(PANGO_SCALE)) } ?? -1)
        unsafe pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        switch align {
        case .left: unsafe pango_layout_set_alignment(layout, PANGO_ALIGN_LEFT)
        case .middle: unsafe pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER)
        case .right: unsafe pango_layout_set_alignment(layout, PANGO_ALIGN_RIGHT)
        }
        // A NUL would end the text where C reads it.
        let text = text.utf8.contains(0) ? text.replacing("\0", with: " ") : text
        unsafe pango_layout_set_text(layout, text, Int32(text.utf8.count))
    }
}

/// Takes the file's bytes.
private final class Sink {
    var bytes: [UInt8] = []
}

private let write: cairo_write_func_t = { context, bytes, count in
    guard let context = unsafe context, let bytes = unsafe bytes else { return CAIRO_STATUS_WRITE_ERROR }
    let sink = unsafe Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue()
    unsafe sink.bytes.append(contentsOf: UnsafeBufferPointer(start: bytes, count: Int(count)))
    return CAIRO_STATUS_SUCCESS
}
