internal import Basics
internal import CXlsxwriter
internal import Fleet
internal import Glibc

/// Spreadsheets (ECMA-376-1, SpreadsheetML), written by libxlsxwriter row by row, in constant memory. Texts are stored as texts, so that
/// none is taken for a formula. The same sheets make the same bytes.
@safe
struct Spreadsheet: ~Copyable {
    struct Fault: Error, CustomStringConvertible { let description: String }

    /// More than this no cell takes (Excel, specifications and limits).
    private static let textCharactersMax = 32_767
    /// The first moment that a ZIP archive can tell: nobody wants to know when a file was made that is made anew each time.
    private static let madeS = 315_532_800
    /// 18 digits of the usual font.
    private static let columnPixels: UInt32 = 126

    // The library owns both formats: they go with the workbook, when it is closed.
    private let workbook: UnsafeMutablePointer<lxw_workbook>
    private let bold, time: UnsafeMutablePointer<lxw_format>

    static func file(_ sheets: [ReportSheet]) throws -> [UInt8] {
        // It writes to a named file only: this one is memory, and goes with its descriptor.
        let memory = unsafe drover_memory_file("spreadsheet")
        guard memory >= 0 else {
            throw Fault(description: "no memory for a spreadsheet: \(unsafe String(cString: strerror(errno)))")
        }
        defer { close(memory) }

        let book = try Spreadsheet("/proc/self/fd/\(memory)")
        var fault: (any Error)?
        do { for sheet in sheets { try book.add(sheet) } } catch { fault = error }
        // It frees what there is, written or not.
        try book.finish()
        if let fault { throw fault }
        return try contents(of: memory)
    }

    private init(_ path: String) throws {
        var options = unsafe lxw_workbook_options(constant_memory: 1, tmpdir: nil, use_zip64: 0)
        guard let workbook = unsafe workbook_new_opt(path, &options) else {
            throw Fault(description: "no memory for a spreadsheet")
        }
        unsafe (self.workbook, bold, time) = (workbook, workbook_add_format(workbook), workbook_add_format(workbook))
        unsafe format_set_bold(bold)
        unsafe format_set_num_format(time, "yyyy\\-mm\\-dd\\ hh:mm")
        var properties = unsafe lxw_doc_properties()
        unsafe properties.created = Spreadsheet.madeS
        unsafe workbook_set_properties(workbook, &properties)
    }

    private consuming func finish() throws { try Spreadsheet.check(unsafe workbook_close(workbook)) }

    private func add(_ sheet: ReportSheet) throws {
        guard let worksheet = unsafe workbook_add_worksheet(workbook, sheet.name) else {
            throw Fault(
                description:
                    "a spreadsheet takes no sheet named \(sheet.name), or there is no room for its temporary files")
        }
        // The first row stays in sight.
        unsafe worksheet_freeze_panes(worksheet, 1, 0)
        let last = lxw_col_t(clamping: max(1, sheet.headers.count) - 1)
        try Spreadsheet.check(unsafe worksheet_set_column_pixels(worksheet, 0, last, Spreadsheet.columnPixels, nil))

        try unsafe write(sheet.headers.map { .text($0) }, 0, to: worksheet, bold)
        for (index, cells) in sheet.rows.enumerated() { try unsafe write(cells, index + 1, to: worksheet, nil) }
        if let sums = sheet.sums { try unsafe write(sums, sheet.rows.count + 1, to: worksheet, bold) }
    }

    private func write(
        _ cells: [ReportSheet.Cell], _ row: Int, to sheet: UnsafeMutablePointer<lxw_worksheet>,
        _ format: UnsafeMutablePointer<lxw_format>?
    ) throws {
        for (index, cell) in cells.enumerated() {
            let (row, column) = (lxw_row_t(row), lxw_col_t(clamping: index))
            switch cell {
            case .empty: continue
            case .text(let text):
                try Spreadsheet.check(
                    unsafe worksheet_write_string(sheet, row, column, Spreadsheet.plain(text), format))
            case .number(let text):
                guard let number = Double(text), number.isFinite else {
                    try Spreadsheet.check(unsafe worksheet_write_string(sheet, row, column, text, format))
                    continue
                }
                try Spreadsheet.check(unsafe worksheet_write_number(sheet, row, column, number, format))
            case .time(let minute):
                guard let days = Spreadsheet.days(minute) else { continue }
                try Spreadsheet.check(unsafe worksheet_write_number(sheet, row, column, days, time))
            }
        }
    }

    private static func check(_ error: lxw_error) throws {
        guard error != LXW_NO_ERROR else { return }
        throw Fault(description: "a spreadsheet was not written: \(unsafe String(cString: lxw_strerror(error)))")
    }

    /// Days since 1899-12-30 (18.17.4.1), which is how spreadsheets count.
    private static func days(_ minute: String) -> Double? {
        let parts = minute.split { "- :".contains($0) }.compactMap { Int64($0) }
        guard parts.count == 5 else { return nil }
        let minutes = UTC.days(year: parts[0], month: parts[1], day: parts[2]) * 1_440 + parts[3] * 60 + parts[4]
        return Double(minutes) / 1_440 + 25_569
    }

    /// XML 1.0, 2.2 and 2.11: forbidden characters are left out, and lines end in a line feed. Text too long for a cell is cut.
    private static func plain(_ text: String) -> String {
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        let scalars = lines.unicodeScalars.filter { $0.value >= 0x20 || $0 == "\t" || $0 == "\n" }
        guard scalars.count > textCharactersMax else { return String(scalars) }
        return String(String.UnicodeScalarView(scalars.prefix(textCharactersMax - 1))) + "…"
    }

    private static func contents(of file: Int32) throws -> [UInt8] {
        let count = Int(lseek(file, 0, SEEK_END))
        let bytes = try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
            read = 0
            while read < count {
                let more = unsafe pread(file, buffer.baseAddress! + read, count - read, off_t(read))
                guard more > 0 else { throw Fault(description: "a spreadsheet cannot be read back") }
                read += more
            }
        }
        return bytes
    }
}
