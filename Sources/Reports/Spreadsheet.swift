internal import Fleet
internal import Zip

/// Spreadsheets (ECMA-376-1, SpreadsheetML): texts in place, so that none is ever taken for a formula.
enum Spreadsheet {
    private static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    private static let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    private static let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    private static let packages = "http://schemas.openxmlformats.org/package/2006"

    static func file(_ sheets: [ReportSheet]) -> [UInt8] {
        var bytes: [UInt8] = []
        var zip = ZipWriter { bytes += $0 }
        do {
            for (name, text) in parts(sheets) {
                try zip.begin(name)
                try zip.add(Array((head + text).utf8))
                try zip.end()
            }
            try zip.finish()
        } catch {
            preconditionFailure("an archive in memory is written without an error: \(error)")
        }
        return bytes
    }

    private static func parts(_ sheets: [ReportSheet]) -> [(name: String, text: String)] {
        let numbers = sheets.indices.map { $0 + 1 }
        let types = numbers.map {
            "<Override PartName=\"/xl/worksheets/sheet\($0).xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>"
        }.joined()
        let names = zip(numbers, sheets).map {
            "<sheet name=\"\(escaped($1.name))\" sheetId=\"\($0)\" r:id=\"rId\($0)\"/>"
        }.joined()
        let links = numbers.map {
            "<Relationship Id=\"rId\($0)\" Type=\"\(relations)/worksheet\" Target=\"worksheets/sheet\($0).xml\"/>"
        }.joined()
        let workbook = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        return [
            (
                "[Content_Types].xml",
                "<Types xmlns=\"\(packages)/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/><Override PartName=\"/xl/workbook.xml\" ContentType=\"\(workbook).sheet.main+xml\"/><Override PartName=\"/xl/styles.xml\" ContentType=\"\(workbook).styles+xml\"/>\(types)</Types>"
            ),
            (
                "_rels/.rels",
                "<Relationships xmlns=\"\(packages)/relationships\"><Relationship Id=\"rId1\" Type=\"\(relations)/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
            (
                "xl/workbook.xml",
                "<workbook xmlns=\"\(main)\" xmlns:r=\"\(relations)\"><sheets>\(names)</sheets></workbook>"
            ),
            (
                "xl/_rels/workbook.xml.rels",
                "<Relationships xmlns=\"\(packages)/relationships\">\(links)<Relationship Id=\"rId\(sheets.count + 1)\" Type=\"\(relations)/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
            ("xl/styles.xml", styles),
        ] + zip(numbers, sheets).map { ("xl/worksheets/sheet\($0).xml", sheet($1)) }
    }

    /// 0: plain, 1: bold, 2: a time.
    private static let styles =
        "<styleSheet xmlns=\"\(main)\"><numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\\ hh:mm\"/></numFmts><fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font><font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts><fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/></fill></fills><borders count=\"1\"><border/></borders><cellStyleXfs count=\"1\"><xf/></cellStyleXfs><cellXfs count=\"3\"><xf xfId=\"0\"/><xf xfId=\"0\" fontId=\"1\" applyFont=\"1\"/><xf xfId=\"0\" numFmtId=\"164\" applyNumberFormat=\"1\"/></cellXfs></styleSheet>"

    private static func sheet(_ sheet: ReportSheet) -> String {
        var rows = [row(1, sheet.headers.map { .text($0) }, style: 1)]
        for (index, cells) in sheet.rows.enumerated() { rows.append(row(index + 2, cells, style: 0)) }
        if let sums = sheet.sums { rows.append(row(sheet.rows.count + 2, sums, style: 1)) }
        // The first row stays in sight.
        return
            "<worksheet xmlns=\"\(main)\"><sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight=\"15\"/><cols><col min=\"1\" max=\"\(max(1, sheet.headers.count))\" width=\"18\" customWidth=\"1\"/></cols><sheetData>\(rows.joined())</sheetData></worksheet>"
    }

    private static func row(_ number: Int, _ cells: [ReportSheet.Cell], style: Int) -> String {
        let texts = cells.enumerated().map { index, cell -> String in
            let place = "r=\"\(column(index))\(number)\""
            let bold = style == 0 ? "" : " s=\"\(style)\""
            switch cell {
            case .empty: return ""
            case .text(let text):
                return "<c \(place)\(bold) t=\"inlineStr\"><is><t xml:space=\"preserve\">\(escaped(text))</t></is></c>"
            case .number(let text): return "<c \(place)\(bold)><v>\(text)</v></c>"
            case .time(let text):
                guard let day = serial(text) else { return "" }
                return "<c \(place) s=\"2\"><v>\(day)</v></c>"
            }
        }
        return "<row r=\"\(number)\">\(texts.joined())</row>"
    }

    /// `A`, `Z`, `AA`.
    private static func column(_ index: Int) -> String {
        let letter = String(UnicodeScalar(UInt8(65 + index % 26)))
        return index < 26 ? letter : column(index / 26 - 1) + letter
    }

    /// Days since 1899-12-30 (18.17.4.1), which is how spreadsheets count.
    private static func serial(_ minute: String) -> String? {
        let parts = minute.split { "- :".contains($0) }.compactMap { Int64($0) }
        guard parts.count == 5 else { return nil }
        let minutes = UTC.days(year: parts[0], month: parts[1], day: parts[2]) * 1_440 + parts[3] * 60 + parts[4]
        return String(Double(minutes) / 1_440 + 25_569)
    }

    /// XML 1.0, 2.2: what may not stand in it at all is left out.
    private static func escaped(_ text: String) -> String {
        HTMLText.escaped(
            String(text.unicodeScalars.filter { $0.value >= 0x20 || "\t\n\r".unicodeScalars.contains($0) }))
    }
}
