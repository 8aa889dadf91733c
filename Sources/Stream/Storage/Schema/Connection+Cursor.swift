internal import Postgres

extension Connection {
    /// Lends the rows of a query one after the other, so many held at a time. Precondition: a transaction is open.
    func eachRow(
        _ sql: String, _ parameters: [Parameter] = [], atATime count: Int, _ take: (Row) throws -> Void
    ) throws {
        try query("DECLARE each_row NO SCROLL CURSOR FOR \(sql)", parameters)
        while true {
            let rows = try query("FETCH \(count) FROM each_row")
            for row in rows { try take(row) }
            if rows.count < count { break }
        }
        try execute("CLOSE each_row")
    }
}
