package import Postgres

/// A day of campuses: rides by state, waiting and riding, and how often what riders were told was changed, by hour.
package struct DispatchDay: Sendable {
    private let day: ZonedDay
    private let output: QueryOutput

    package static func read(
        _ day: ZonedDay, campus: String, queries: ReportQueries, on connection: Connection
    ) throws -> DispatchDay {
        let rows = try connection.query(
            queries["dispatch_day"],
            [.timestampMs(day.fromMs), .timestampMs(day.toMs), .text(campus), .text(day.zone)])
        return DispatchDay(day: day, output: try QueryOutput(rows))
    }

    package func text() -> String { output.table.text() }
    package func csv() -> String { output.table.csv() }
    package func json() -> String { output.json }

    package func html() -> String {
        let table = output.table
        let names = table.headers.map { $0.replacing("_", with: " ") }
        let headers = names.enumerated().map { $0 < 2 ? HTMLText.Header.word($1) : HTMLText.Header.number($1) }
        // The last row of a campus is its day.
        let rows = table.rows.map { row in
            row.enumerated().map { index, cell in index == 1 ? cell ?? "whole day" : cell }
        }
        let title = "Dispatch on \(day.date)"
        return HTMLText.page(
            title: title,
            body: "<h1>\(HTMLText.escaped(title))</h1>\n<p class=\"soft\">Hours of \(HTMLText.escaped(day.zone))</p>\n"
                + HTMLText.table(
                    caption: "Rides by hour", headers: headers, rows: rows, empty: "Nobody asked for a ride that day."))
    }
}
