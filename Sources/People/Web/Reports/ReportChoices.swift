internal import Postgres
internal import Reports

/// What the forms of reports offer to choose from. A form without its fleets is still a form: who waits for it is not kept waiting.
enum ReportChoices {
    private static let fleetsMax: Int64 = 500
    private static let patienceMs = 3_000

    static func fleets(_ queries: ReportQueries, on connection: Connection) throws -> [ReportView.Fleet] {
        try connection.inTime(ms: patienceMs) {
            try connection.query(queries["fleets_seen"], [.int8(fleetsMax)])
                .map { ReportView.Fleet(id: try $0.text("fleet")!, name: try $0.text("name")!) }
        } ?? []
    }
}
