import Postgres
import Reports
import Testing

struct ReadyQueryTests {
    private static let text = """
        -- Question: How many?
        -- Parameter: species text: its accepted name
        -- Parameter: year integer = 2020: of the calendar
        -- Parameter: site text = : empty for all
        -- Parameter: from date = 2020-01-01: the first day
        -- Plan: sighting_by_species
        SELECT $1, $2, $3, $4
        """

    @Test("The head says what it asks for") func head() throws {
        let query = try ReadyQuery(name: "a/b", text: Self.text)
        #expect(query.question == "How many?" && query.plan == "sighting_by_species")
        #expect(query.parameters.map(\.name) == ["species", "year", "site", "from"])
        #expect(query.parameters.map(\.standard) == [nil, "2020", "", "2020-01-01"])
        #expect(query.parameters[1].meaning == "of the calendar")
        #expect(try query.explained().sql.hasSuffix("EXPLAIN (ANALYZE, BUFFERS, SUMMARY)\nSELECT $1, $2, $3, $4"))
    }

    @Test("The head says what stands above the rows") func figures() throws {
        let head = "-- Question: How many?\n-- Chart: km by vehicle\n-- Totals: km fuel_l\n"
        let query = try ReadyQuery(name: "a/b", text: head + "SELECT 1")
        #expect(query.chart?.value == "km" && query.chart?.label == "vehicle" && query.totals == ["km", "fuel_l"])
        let plain = try ReadyQuery(name: "a/b", text: Self.text)
        #expect(plain.chart == nil && plain.totals.isEmpty)
    }

    @Test("Values come in their order; all that is wrong is said at once") func values() throws {
        let query = try ReadyQuery(name: "a/b", text: Self.text)
        #expect(
            try query.values(["species": "x'; --", "site": "s"])
                == ["x'; --", "2020", "s", "2020-01-01"].map { .text($0) })
        let fault = #expect(throws: ReadyQuery.Fault.self) {
            try query.values(["year": "1e3", "from": "2020-02-30", "what": "1"])
        }
        #expect(
            fault?.description == "what is none of its parameters; species is missing: its accepted name; "
                + "year=1e3: must be a whole number; from=2020-02-30: must be a day, like 2026-11-22")
    }

    @Test(
        "A head that says it wrongly is refused",
        arguments: [
            "SELECT 1", "-- Question: a?\n-- Parameter: x\nSELECT 1",
            "-- Question: a?\n-- Parameter: x kind: y\nSELECT 1", "-- Question: a?\n-- Chart: km\nSELECT 1",
        ])
    func faults(text: String) { #expect(throws: ReadyQuery.Fault.self) { try ReadyQuery(name: "a/b", text: text) } }
}
