internal import Alerts
internal import Basics
internal import Fleet
internal import HTTPServer
internal import Postgres
internal import Presentation
internal import Reports

/// A machine's readings, newest first, page by page.
struct ReadingsView {
    private let vehicle: VehicleID
    private let history: MachineDetail.History
    /// Nil: the newest.
    private let beforeMs: Int64?
    private let caller: PageCaller
    let choice: ColumnChoice

    init(
        _ request: Request, _ vehicle: VehicleID, _ history: MachineDetail.History, beforeMs: Int64?,
        _ caller: PageCaller
    ) {
        self.vehicle = vehicle
        self.history = history
        self.beforeMs = beforeMs
        self.caller = caller
        choice = ColumnChoice(
            request, "readings",
            [ColumnChoice.Column(key: "model", name: t("Model"))]
                + history.columns.map { ColumnChoice.Column(key: ReadingsView.key($0.name), name: $0.name) })
    }

    /// `engine-hours`
    private static func key(_ name: String) -> String {
        String(name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" })
    }

    private var place: String { "/vehicles/\(URLText.escaped(vehicle.text))/readings" }

    private func items(before: Int64?, columns: String, format: String = "") -> [(String, String)] {
        [("before", before.map(String.init) ?? ""), (ColumnChoice.parameter, columns), ("format", format)].filter {
            !$0.1.isEmpty
        }
    }

    private func address(before: Int64?, columns: String? = nil, format: String = "") -> String {
        let query = items(before: before, columns: columns ?? choice.text, format: format).map {
            "\($0.0)=\(URLText.escaped($0.1))"
        }
        return query.isEmpty ? place : "\(place)?\(query.joined(separator: "&"))"
    }

    /// This page as it is, for who is led there.
    var path: String { address(before: beforeMs) }

    var heading: PageHeading {
        PageHeading(
            t("Readings"), crumb: (vehicle.text, "/vehicles/\(URLText.escaped(vehicle.text))?kind=machine"),
            actions: """
                \(choice.menu(standard: "\(address(before: beforeMs, columns: ""))", style: "btn"))
                <a class="btn hide-phone" href="\(address(before: beforeMs, format: "csv"))" download>\(HTML.icon(.download))CSV</a>
                \(choice.form("\(place)", kept: items(before: beforeMs, columns: "")))
                """)
    }

    var html: HTML {
        let links: [HTML] =
            (beforeMs == nil ? [] : ["<a class=\"btn small\" href=\"\(address(before: nil))\">Newest</a>"])
            + (history.nextMs.map { ["<a class=\"btn small\" href=\"\(address(before: $0))\">Older</a>"] } ?? [])
        let turning: HTML = links.isEmpty ? "" : "<p class=\"row\">\(links.joined(separator: " "))</p>"
        return """
            <p class="soft small">Times in \(caller.clock.zone)</p>
            \(turning)
            \(table)
            \(turning)
            """
    }

    private var hasModel: Bool { choice.has("model") }

    /// The places of the chosen columns among all.
    private var shown: [Int] {
        history.columns.indices.filter { choice.has(ReadingsView.key(history.columns[$0].name)) }
    }

    private var table: HTML {
        HTML.table(
            caption: t("Newest first"),
            headers: [.word(t("Read"))] + (hasModel ? [.text(t("Model"))] : [])
                + shown.map { .number(history.columns[$0].name) },
            rows: history.readings.map { reading in
                [caller.clock.html(reading.readMs)] + (hasModel ? [.text(reading.model)] : [])
                    + shown.map {
                        let column = history.columns[$0]
                        return .text(
                            ShownField.text(reading.values[$0], unit: column.unit, of: column.parameter, caller))
                    }
            }, empty: t("No readings yet."))
    }

    /// What is shown, for a spreadsheet: times with their zone, numbers without their unit, which stands above them.
    var csvText: String {
        var table = Table(
            ["read_at"] + (hasModel ? ["model"] : [])
                + shown.map { at in
                    let (name, unit, _) = history.columns[at]
                    let shownUnit = ShownValue(0, unit: unit, in: caller.units).unit
                    return shownUnit.isEmpty ? name : "\(name), \(shownUnit)"
                })
        for reading in history.readings {
            table.rows.append(
                [caller.clock.machine(reading.readMs)] + (hasModel ? [reading.model] : [])
                    + shown.map {
                        ShownField.plain(reading.values[$0], of: history.columns[$0], caller)
                    })
        }
        return table.csv()
    }
}

/// A field of a reading as an account reads it.
enum ShownField {
    static func text(_ value: MachineDetail.Value, _ caller: PageCaller) -> String {
        text(value.value, unit: value.unit, of: value.parameter, caller)
    }

    /// - Parameter parameter: nil: a text, or a place.
    static func text(
        _ value: FieldValue, unit: String?, of parameter: MachineParameter?, _ caller: PageCaller
    ) -> String {
        if case .bool(let flag) = value {
            return parameter == .lastReprogrammingStatus
                ? (flag ? t("done") : t("failed")) : flag ? t("yes") : t("no")
        }
        return text(value, unit: unit, of: parameter, caller.units, caller.clock.minute)
    }

    /// For programs and files, too: in English.
    static func text(
        _ value: FieldValue, unit: String?, of parameter: MachineParameter?, _ units: DriverSettings.Units,
        _ time: (Int64) -> String
    ) -> String {
        switch value {
        case .null: "–"
        case .text(let text): text
        case .bool(let flag): parameter?.word(flag) ?? (flag ? "yes" : "no")
        case .integer(let count): ShownValue(Double(count), unit: unit, in: units).text
        case .number(let number): unit == "°" ? degrees(number) : ShownValue(number, unit: unit, in: units).text
        case .timestampMs(let ms): time(ms)
        case .texts(let texts): texts.compactMap { $0 }.joined(separator: ", ")
        }
    }

    /// Without the unit, and times for programs; nil: nothing was said.
    static func plain(
        _ value: FieldValue, of column: (name: String, unit: String?, parameter: MachineParameter?),
        _ caller: PageCaller
    ) -> String? {
        switch value {
        case .null: nil
        case .integer(let count): ShownValue(Double(count), unit: column.unit, in: caller.units).number
        case .number(let number):
            column.unit == "°"
                ? String(degrees(number).dropLast()) : ShownValue(number, unit: column.unit, in: caller.units).number
        case .text, .bool, .timestampMs, .texts:
            text(value, unit: column.unit, of: column.parameter, caller.units, caller.clock.machine)
        }
    }

    private static func degrees(_ number: Double) -> String {
        (short(Decimal.scaled(number, decimals: 5).map { Decimal.text($0, decimals: 5) }, 5) ?? "–") + "°"
    }
}
