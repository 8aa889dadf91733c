internal import Alerts
internal import Basics
internal import Fleet
internal import Postgres
internal import Presentation
internal import Reports

/// A machine's readings, newest first, page by page.
struct ReadingsView {
    let vehicle: VehicleID
    let history: MachineDetail.History
    let isFirst: Bool
    let caller: PageCaller

    var html: HTML {
        let address = "/vehicles/\(URLText.escaped(vehicle.text))"
        let links: [HTML] =
            (isFirst ? [] : ["<a href=\"\(address)/readings\">The newest</a>"])
            + (history.nextMs.map { ["<a href=\"\(address)/readings?before=\($0)\">Older ones</a>"] } ?? [])
        let turning: HTML = links.isEmpty ? "" : "<p>\(links.joined(separator: ", "))</p>"
        return """
            <h1>Readings of \(vehicle.text)</h1>
            <p><a href="\(address)?kind=machine">Back to \(vehicle.text)</a>. <span class="soft">Times are \(caller.clock.zone).</span></p>
            \(turning)
            \(table)
            \(turning)
            """
    }

    private var table: HTML {
        HTML.table(
            caption: "Newest first",
            headers: [.word("Read"), .text("Model")] + history.columns.map { .number($0.name) },
            rows: history.readings.map { reading in
                [caller.clock.html(reading.readMs), .text(reading.model)]
                    + zip(history.columns, reading.values).map { .text(ShownField.text($1, unit: $0.unit, caller)) }
            }, empty: "It has not said anything yet.")
    }
}

/// A field of a reading as an account reads it.
enum ShownField {
    static func text(_ value: FieldValue, unit: String?, _ caller: PageCaller) -> String {
        text(value, unit: unit, caller.units, caller.clock.minute)
    }

    static func text(
        _ value: FieldValue, unit: String?, _ units: DriverSettings.Units, _ time: (Int64) -> String
    ) -> String {
        switch value {
        case .null: "–"
        case .text(let text): text
        case .bool(let flag): flag ? "yes" : "no"
        case .integer(let count): ShownValue(Double(count), unit: unit, in: units).text
        case .number(let number): unit == "°" ? degrees(number) : ShownValue(number, unit: unit, in: units).text
        case .timestampMs(let ms): time(ms)
        case .texts(let texts): texts.compactMap { $0 }.joined(separator: ", ")
        }
    }

    private static func degrees(_ number: Double) -> String {
        (short(Decimal.scaled(number, decimals: 5).map { Decimal.text($0, decimals: 5) }, 5) ?? "–") + "°"
    }
}
