internal import Alerts
internal import Basics
internal import Postgres
internal import Presentation
internal import Reports

/// The rows of a ready query for a reader: what they add up to and a chart on top, then a table in the reader's units with things by
/// their names.
struct QueryAnswer {
    /// More bars say less.
    private static let barsMax = 20
    /// Labels that have an order of their own.
    private static let ordinals: Set = [
        "month", "day", "hour", "weekday", "iso_week", "year", "from_km", "from_days", "from_temperature_c",
    ]

    let query: ReadyQuery
    let output: QueryOutput
    let caller: PageCaller
    let nowMs: Int64
    /// Of vehicles, by id; those without a name are not there.
    let vehicles: [String: String]
    /// Of fleets, by id.
    let fleets: [String: String]

    /// Places of the columns that are shown.
    private var shown: [Int] {
        let names = output.columns
        // The vehicle stands there by its name, and consumption in the reader's units.
        let doubled = [("name", "vehicle"), ("mpg_us", "l_per_100km")].filter { names.contains($0.1) }.map(\.0)
        return names.indices.filter { !doubled.contains(names[$0]) }
    }

    private func column(_ index: Int) -> QueryColumn { QueryColumn(output.columns[index], caller.units) }

    // MARK: On top

    /// Of all rows; whoever shows only the first ones leaves it out.
    var figures: HTML { output.count < 2 ? "" : "\(tiles)\(chart)" }

    private var tiles: HTML {
        let tiles = query.totals.compactMap { name -> HTML? in
            guard let index = output.columns.firstIndex(of: name) else { return nil }
            let column = column(index)
            let values = output.rows.compactMap { column.number($0[index]) }
            guard !values.isEmpty else { return nil }
            return
                "<li>\(QueryWords.title(column.name))<b>\(QueryWords.number(values.reduce(0, +), column))<small class=\"u\"> \(column.unit)</small></b></li>"
        }
        return tiles.isEmpty ? "" : "<ul class=\"tiles\">\(tiles.joined())</ul>\n"
    }

    private var chart: HTML {
        guard let chart = query.chart, let value = output.columns.firstIndex(of: chart.value),
            let label = output.columns.firstIndex(of: chart.label)
        else { return "" }
        let column = column(value)
        let bars = bars(column, value: value, label: label)
        let most = bars.map(\.value).max() ?? 0
        guard bars.count > 1, most > 0 else { return "" }
        let items: [HTML] = bars.prefix(QueryAnswer.barsMax).map { bar in
            let width = Decimal.text(Decimal.scaled(max(0, bar.value) / most * 100, decimals: 1) ?? 0, decimals: 1)
            return """
                <li><span class="ell" title="\(bar.label)">\(bar.label)</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">\
                <rect width="\(width)" height="10"/></svg><b class="num">\(QueryWords.number(bar.value, column))</b></li>
                """
        }
        let isCut = bars.count > QueryAnswer.barsMax
        let title = QueryWords.header(column)
        return """
            <section class="card" aria-labelledby="chart"><header><h2 id="chart">\(title)</h2>\
            <span class="soft">\(isCut ? t("The first \(QueryAnswer.barsMax) of \(bars.count)") : "")</span></header>
            <ul class="bars-by">
            \(items.joined(separator: "\n"))
            </ul></section>

            """
    }

    /// A bar for each label: rows of the same one are added up.
    private func bars(_ column: QueryColumn, value: Int, label: Int) -> [(label: String, value: Double)] {
        var (order, sums): ([String], [String: (value: Double, first: FieldValue)]) = ([], [:])
        for row in output.rows {
            guard let number = column.number(row[value]) else { continue }
            let name = text(row[label], label) ?? "–"
            if sums[name] == nil { order.append(name) }
            sums[name, default: (0, row[label])].value += number
        }
        let bars = order.map { (label: $0, value: sums[$0]!.value) }
        if QueryAnswer.ordinals.contains(output.columns[label]) {
            return bars.enumerated().sorted { a, b in
                QueryAnswer.isBefore(sums[a.element.label]!.first, sums[b.element.label]!.first)
            }.map(\.element)
        }
        // In the order of the answer where each has one row: what it is ordered by is a part of the answer.
        guard bars.count < output.count else { return bars }
        return bars.sorted { ($1.value, $0.label) < ($0.value, $1.label) }
    }

    private static func isBefore(_ a: FieldValue, _ b: FieldValue) -> Bool {
        switch (a, b) {
        case (.text(let a), .text(let b)): a < b
        case (.integer(let a), .integer(let b)): a < b
        case (.null, _): false
        case (.text, _), (.integer, _), (.bool, _), (.number, _), (.timestampMs, _), (.texts, _): b == .null
        }
    }

    // MARK: The table

    var table: HTML {
        let columns = shown.map { (index: $0, column: column($0), isNumber: isNumber($0)) }
        let heads: [HTML] = columns.map { _, column, isNumber in
            "<th scope=\"col\"\(" class=\"num\"", if: isNumber)>\(QueryWords.header(column))</th>"
        }
        let body: [HTML] = output.rows.prefix(QueryView.rowsMax).map { row in
            "<tr>\(columns.map { index, _, isNumber in cell(row[index], index, isNumber) }.joined())</tr>"
        }
        return
            "<table class=\"table\">\n<thead><tr>\(heads.joined())</tr></thead>\n<tbody>\n\(body.joined(separator: "\n"))\n</tbody></table>"
    }

    /// Numbers that count or measure, not those that name a week or an hour.
    private func isNumber(_ index: Int) -> Bool {
        guard !["hour", "weekday", "year", "iso_week"].contains(output.columns[index]) else { return false }
        let column = column(index)
        return output.rows.contains { row in
            switch row[index] {
            case .integer, .number: true
            case .text: column.number(row[index]) != nil
            case .null, .bool, .timestampMs, .texts: false
            }
        }
    }

    private func cell(_ value: FieldValue, _ index: Int, _ isNumber: Bool) -> HTML {
        if case .timestampMs(let ms) = value {
            let exact = "\(caller.clock.minute(ms)) (\(caller.clock.zone))"
            return
                "<td class=\"nowrap\"><time datetime=\"\(caller.clock.machine(ms))\" title=\"\(exact)\">\(caller.words.moment(ms, nowMs: nowMs, caller.clock))</time></td>"
        }
        let text = text(value, index) ?? "–"
        if isNumber { return "<td class=\"num\">\(text)</td>" }
        // The id for who points at a name.
        if case .text(let id) = value, id != text { return "<td title=\"\(id)\">\(text)</td>" }
        return "<td>\(text)</td>"
    }

    /// Nil: unknown.
    private func text(_ value: FieldValue, _ index: Int) -> String? {
        let name = output.columns[index]
        switch value {
        case .null: return nil
        case .bool(let flag): return flag ? t("Yes") : t("No")
        case .text(let text): return number(value, index) ?? self.name(text, name)
        case .timestampMs(let ms): return caller.clock.minute(ms)
        case .texts(let texts): return texts.compactMap { $0 }.joined(separator: ", ")
        case .integer(let number) where name == "weekday": return QueryWords.weekday(number)
        case .integer(let number) where name == "hour": return "\(UTC.two(Int64(number))):00"
        case .integer(let number) where ["year", "iso_week"].contains(name): return String(number)
        case .integer, .number: return number(value, index)
        }
    }

    private func number(_ value: FieldValue, _ index: Int) -> String? {
        let column = column(index)
        return column.number(value).map { QueryWords.number($0, column) }
    }

    /// Columns that name what an id stands for.
    private enum Named: String {
        case vehicle, fleet, driver, severity
    }

    private func name(_ id: String, _ column: String) -> String? {
        switch Named(rawValue: column) {
        case .vehicle: vehicles[id] ?? id
        case .fleet: id.isEmpty ? t("No fleet") : fleets[id] ?? id
        case .driver: id.isEmpty ? t("No driver known") : caller.person(id)
        case .severity: Episode.Severity(rawValue: id).map { caller.words.severity($0) } ?? id
        case nil: id.isEmpty ? nil : id
        }
    }
}
