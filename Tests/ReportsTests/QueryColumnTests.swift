import Alerts
import Basics
import Postgres
import Reports
import Testing

struct QueryColumnTests {
    struct Case: Sendable {
        let column: String
        let units: DriverSettings.Units
        let value: FieldValue
        let name, unit: String
        /// Nil: it is no number.
        let text: String?
    }

    @Test(
        "A column is shown by its name, in the reader's unit",
        arguments: [
            Case(column: "km", units: .metric, value: .number(12.34), name: "distance", unit: "km", text: "12.3"),
            Case(column: "empty_km", units: .us, value: .number(16.09344), name: "empty", unit: "mi", text: "10"),
            Case(
                column: "mpg_us", units: .metric, value: .number(30), name: "consumption", unit: "L/100 km", text: "7.8"
            ),
            Case(column: "before_mpg_us", units: .us, value: .number(30), name: "before", unit: "MPG", text: "30"),
            Case(column: "filled_gal", units: .metric, value: .number(10), name: "filled", unit: "L", text: "37.9"),
            Case(column: "from_c", units: .us, value: .integer(10), name: "from_temperature", unit: "°F", text: "50"),
            Case(
                column: "from_temperature_c", units: .metric, value: .text("20"), name: "from_temperature", unit: "°C",
                text: "20"),
            Case(column: "individuals", units: .us, value: .integer(7), name: "individuals", unit: "", text: "7"),
            Case(column: "vehicle", units: .metric, value: .text("20"), name: "vehicle", unit: "", text: nil),
            Case(column: "idle_h", units: .metric, value: .null, name: "idle", unit: "h", text: nil),
        ])
    func shown(_ c: Case) {
        let column = QueryColumn(c.column, c.units)
        #expect(column.name == c.name && column.unit == c.unit)
        let decimals = column.decimals
        let text = column.number(c.value).flatMap { Decimal.scaled($0, decimals: decimals) }.map {
            Decimal.text($0, decimals: decimals)
        }
        #expect(text == c.text)
    }
}
