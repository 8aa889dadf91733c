internal import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats
internal import Postgres
internal import Presentation

/// A report that is one table: rows as a question of the database gives them, in the reader's units, and what they add up to.
struct ReportRows: ReportOutput {
    private struct Column {
        let key, title: String
        let unit: ReportUnit
    }

    let title: String
    private let name: String
    private let span: ReportSpan
    private let units: DriverSettings.Units
    private let empty: String
    private let columns: [Column]
    private let rows: [[FieldValue]]
    private let sums: [FieldValue]?
    private let blanks: [String: String]
    private let drawn: [ReportFigure]
    private let said: [String]
    private let leading: [ReportBlock]
    private let named: [String: String]

    /// - Parameters:
    ///   - columns: names that end in the unit of their values.
    ///   - blanks: what people read where a column says nothing.
    ///   - adds: names of the columns that are added up.
    ///   - others: what stands below other columns, by their names.
    ///   - drawn: its charts.
    ///   - said: sentences below the rows.
    ///   - named: what people call vehicles, by their ids. Files for programs have the ids.
    ///   - leading: what people read before the rows: sums. Files for programs have the rows alone.
    init(
        _ report: Report, _ ask: ReportParameters, columns: [String], rows: [[FieldValue]], adds: Set<String>,
        others: [String: FieldValue] = [:], blanks: [String: String] = [:], drawn: [ReportFigure] = [],
        said: [String] = [], named: [String: String] = [:], leading: [ReportBlock] = []
    ) {
        self.blanks = blanks
        self.leading = leading
        self.named = named
        self.drawn = drawn
        self.said = said
        name = report.name
        span = ask.span
        units = ask.units
        empty = report.empty
        title = "\(report.title) \(ask.span.text)" + (ask.narrowed.isEmpty ? "" : ", \(ask.narrowed)")
        let shown = columns.map { ReportUnit.of($0, ask.units) }
        self.columns = shown.map { column in
            let words = column.name.replacing("_", with: " ")
            let title = words.prefix(1).uppercased() + words.dropFirst()
            return Column(
                key: column.key, title: column.unit.text.isEmpty ? title : "\(title), \(column.unit.text)",
                unit: column.unit)
        }
        func converted(_ value: FieldValue, _ index: Int) -> FieldValue {
            guard case .number(let number) = value else { return value }
            return .number(shown[index].unit.convert(number))
        }
        self.rows = ReportRows.inUnits(rows, columns, ask.units).map { row in
            row.indices.map { converted(row[$0], $0) }
        }
        sums =
            adds.isEmpty || rows.isEmpty
            ? nil
            : columns.indices.map { index in
                let column = columns[index]
                if let other = others[column] { return converted(other, index) }
                return adds.contains(column) ? converted(ReportRows.sum(rows.map { $0[index] }), index) : .null
            }
    }

    /// Unknown ones are left out; a sum of nothing is unknown.
    private static func sum(_ values: [FieldValue]) -> FieldValue {
        var (whole, sum, isWhole, isKnown) = (0, 0.0, true, false)
        for value in values {
            switch value {
            case .integer(let count): (whole, sum, isKnown) = (whole + count, sum + Double(count), true)
            case .number(let number): (sum, isWhole, isKnown) = (sum + number, false, true)
            case .null, .text, .bool, .timestampMs, .texts: continue
            }
        }
        return !isKnown ? .null : isWhole ? .integer(whole) : .number(sum)
    }

    /// Rows that have a column `unit` say what their values are in: of parameters of different kinds.
    private static func inUnits(
        _ rows: [[FieldValue]], _ columns: [String], _ units: DriverSettings.Units
    ) -> [[FieldValue]] {
        guard let place = columns.firstIndex(of: "unit") else { return rows }
        let values = columns.indices.filter { ["threshold", "worst_value"].contains(columns[$0]) }
        return rows.map { row in
            guard case .text(let unit) = row[place] else { return row }
            var row = row
            for index in values {
                if case .number(let number) = row[index] {
                    row[index] = .number(ShownValue(number, unit: unit, in: units).value)
                }
            }
            row[place] = .text(ShownValue(0, unit: unit, in: units).unit)
            return row
        }
    }

    var untilMs: Int64 { span.toMs }
    var count: Int { rows.count }

    // MARK: Formats

    /// A millionth is finer than anything is measured.
    private static func exact(_ value: FieldValue) -> FieldValue {
        guard case .number(let number) = value else { return value }
        return .number((number * 1e6).rounded() / 1e6)
    }

    func csv() -> String {
        var table = Table(columns.map(\.key))
        table.rows = rows.map { $0.map { QueryOutput.cell(ReportRows.exact($0)) } }
        return table.csv()
    }

    func json() -> String {
        func object(_ row: [FieldValue]) -> JSONValue {
            .object(zip(columns, row).map { ($0.key, QueryOutput.json(ReportRows.exact($1))) })
        }
        return JSONValue.object([
            ("report", .text(name)), ("date", .text(span.date)), ("zone", .text(span.zone)),
            ("from", .text(UTC.text(span.fromMs))), ("to", .text(UTC.text(span.toMs))),
            ("units", .text(units.rawValue)), ("rows", .list(rows.map(object))),
            ("sums", sums.map(object) ?? .null),
        ]).rendered(indent: true)
    }

    func text() -> String {
        var table = Table(columns.map(\.title))
        table.rows = shownRows
        return "\(title), \(span.zone)\n" + (rows.isEmpty ? empty : table.text())
    }

    var sheets: [ReportSheet] {
        func cells(_ row: [FieldValue]) -> [ReportSheet.Cell] {
            row.map { value in
                switch ReportRows.exact(value) {
                case .null: .empty
                case .integer, .number: .number(QueryOutput.cell(ReportRows.exact(value))!)
                case .timestampMs(let ms): .time(span.minute(ms))
                case .text, .bool, .texts: .text(QueryOutput.cell(value) ?? "")
                }
            }
        }
        return [
            ReportSheet(
                name: String(name.prefix(31)), headers: columns.map(\.title), rows: rows.map(cells),
                sums: sums.map { cells($0) })
        ]
    }

    private var shownRows: [[String?]] {
        let cells = rows.map { row in zip(columns, row).map(shown) }
        guard let sums else { return cells }
        var last = zip(columns, sums).map(shown)
        if let first = last.indices.first, last[first] == nil { last[first] = "all" }
        return cells + [last]
    }

    private func shown(_ column: Column, _ value: FieldValue) -> String? {
        switch value {
        case .null: return blanks[column.key]
        case .number(let number):
            let decimals = column.unit.decimals ?? 2
            return short(
                Decimal.scaled(number, decimals: decimals).map { Decimal.text($0, decimals: decimals) }, decimals)
        case .timestampMs(let ms): return span.minute(ms)
        case .text, .bool, .integer, .texts: return QueryOutput.cell(value)
        }
    }

    var blocks: [ReportBlock] {
        let isNumber = columns.indices.map { index in
            !rows.isEmpty
                && rows.allSatisfy { row in
                    switch row[index] {
                    case .integer, .number, .null: true
                    case .text, .bool, .timestampMs, .texts: false
                    }
                }
        }
        let headers = columns.indices.map { index in
            isNumber[index]
                ? HTML.Header.number(columns[index].title)
                : columns[index].key == "advice" || columns[index].key == "note"
                    ? .prose(columns[index].title) : .word(columns[index].title)
        }
        let vehicle = columns.firstIndex { $0.key == "vehicle" }
        let shown = shownRows.map { row in
            guard let vehicle, let name = row[vehicle].flatMap({ named[$0] }) else { return row }
            var row = row
            row[vehicle] = name
            return row
        }
        let table = ReportTable(
            caption: "Rows: \(rows.count)", headers: headers, rows: shown, empty: empty, hasSums: sums != nil)
        return [.note("\(span.zone), \(span.hours) hours.")] + leading + [.table(table)] + notes.map { .note($0) }
            + bars.map { [.bars($0)] }.joined()
    }

    /// The notes below the rows.
    private var notes: [String] {
        guard let place = columns.firstIndex(where: { $0.key == "revised" }) else { return said }
        let revised = rows.filter { $0[place] != .null }.count
        return said + (revised == 0 ? [] : ["\(revised) of the rows were corrected by data that came late."])
    }

    private var bars: [ReportBars] {
        guard !rows.isEmpty else { return [] }
        return drawn.compactMap { figure in
            guard let by = columns.firstIndex(where: { $0.key == figure.by }),
                let of = figure.of.map({ of in columns.firstIndex { $0.key == ReportUnit.of(of, units).key } }) ?? 0
            else { return nil }
            var values: [String: Double] = [:]
            for row in rows {
                guard let label = label(row[by]) else { continue }
                values[label, default: 0] += figure.of == nil ? 1 : number(row[of])
            }
            let bars = figure.by == "hour" ? Self.hours(values) : span.bars(values)
            return ReportBars(
                title: figure.of == nil ? figure.title : "\(columns[of].title) by \(figure.by)", bars: bars)
        }
    }

    private static func hours(_ values: [String: Double]) -> [(label: String, value: Double)] {
        (0..<24).map { hour in
            let label = "\(UTC.two(Int64(hour))):00"
            return (label, values[label] ?? 0)
        }
    }

    private func label(_ value: FieldValue) -> String? {
        switch value {
        case .text(let text): text
        case .timestampMs(let ms): String(span.minute(ms).prefix(10))
        case .null, .bool, .integer, .number, .texts: nil
        }
    }

    private func number(_ value: FieldValue) -> Double {
        switch value {
        case .integer(let count): Double(count)
        case .number(let number): number
        case .null, .text, .bool, .timestampMs, .texts: 0
        }
    }
}

/// A chart of a table's rows: what it adds up, by day or by hour.
struct ReportFigure: Sendable {
    /// A column with days, times or hours.
    let by: String
    /// A column with numbers; nil: rows are counted.
    var of: String?
    /// Where rows are counted.
    var title = ""
}
