package import Fleet
package import Pipeline
package import Postgres

/// Downloads and visits of tours. An event is a row by its id, and a day's number is counted from the rows. Decides nothing.
package enum TourEventStore {
    package static let event = StagedTable(
        name: "tour_event",
        columns: [
            "tour", "event", "kind", "waypoint", "version", "happened_at", "utc_offset_min", "local_date",
        ], key: ["tour", "event"])

    package static let tables = [event]

    /// Precondition: within the transaction that moves the partition on.
    static func write(_ changes: TourChanges, on connection: Connection) throws {
        guard !changes.events.isEmpty else { return }
        try event.write(changes.events, on: connection) { fill($0, &$1) }
        try count(Array(changes.days), on: connection)
    }

    private static func fill(_ event: TourEvent, _ copy: inout BinaryCopy) {
        copy.text(event.tour)
        copy.text(event.id)
        copy.text(event.word.rawValue)
        copy.text(event.waypoint ?? "")
        copy.int4(Int32(event.version))
        copy.timestampMs(event.ts)
        copy.int4(Int32(event.offsetMin))
        copy.date(days: Int(event.localDay))
    }

    /// Those of the events that there are.
    package static func known(_ keys: [TourFold.Key], on connection: Connection) throws -> [TourEvent] {
        try connection.query(
            """
            SELECT e.tour, e.event, e.kind, e.waypoint, e.version, e.happened_at, e.utc_offset_min FROM tour_event e
            JOIN unnest($1::text[], $2::text[]) AS key(tour, event) USING (tour, event)
            """, [.textArray(keys.map(\.tour)), .textArray(keys.map(\.event))]
        ).map { row in
            TourEvent(
                id: try row.text("event")!, tour: try row.text("tour")!, version: try row.int("version")!,
                ts: try row.timestampMs("happened_at")!, offsetMin: try row.int("utc_offset_min")!,
                kind: try kind(row))
        }
    }

    private static func kind(_ row: Row) throws -> TourEvent.Kind {
        switch try row.word("kind", of: TourEvent.Word.self)! {
        case .download: .download
        case .visit: .visit(waypoint: try row.text("waypoint")!)
        }
    }

    private static func count(_ days: [TourChanges.Day], on connection: Connection) throws {
        let columns: [Parameter] = [
            .textArray(days.map(\.tour)), .textArray(days.map(\.kind.rawValue)), .textArray(days.map(\.waypoint)),
            .int8Array(days.map(\.localDay)),
        ]
        let asked = """
            (SELECT tour, kind, waypoint, date '1970-01-01' + day::int AS local_date
            FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS given(tour, kind, waypoint, day)) AS day
            """
        try connection.query(
            """
            DELETE FROM tour_day d USING \(asked)
            WHERE d.tour = day.tour AND d.kind = day.kind AND d.waypoint = day.waypoint AND d.local_date = day.local_date
            """, columns)
        try connection.query(
            """
            INSERT INTO tour_day (tour, kind, waypoint, local_date, events)
            SELECT e.tour, e.kind, e.waypoint, e.local_date, count(*) FROM tour_event e
            JOIN \(asked) USING (tour, kind, waypoint, local_date) GROUP BY 1, 2, 3, 4
            """, columns)
    }

    // MARK: Reading

    package struct DayRow: Sendable {
        package let kind: TourEvent.Word
        package let waypoint, date: String
        package let events: Int
    }

    /// Days of a tour in the live tables, the newest first.
    package static func days(of tour: String, most: Int, on connection: Connection) throws -> [DayRow] {
        try connection.query(
            """
            SELECT kind, waypoint, local_date::text AS date, events FROM drover.tour_day
            WHERE tour = $1 ORDER BY local_date DESC, kind, waypoint LIMIT $2
            """, [.text(tour), .int8(most)]
        ).map {
            DayRow(
                kind: try $0.word("kind")!, waypoint: try $0.text("waypoint")!, date: try $0.text("date")!,
                events: try $0.int("events")!)
        }
    }
}
