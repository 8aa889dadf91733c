internal import Postgres
internal import Reports

/// People as pages name them: by the name that they gave, where they gave one and the reader may know it (`drover.names_of`); else by the
/// account's id, which stands in what the reader sees. Files and the API have ids.
extension PageCaller {
    private static let namesMax = 500

    /// The same reader, who knows what these people are called.
    func knowing(
        _ accounts: some Sequence<String?>, _ queries: ReportQueries, on connection: Connection
    ) throws -> PageCaller {
        let new = Set(accounts.compactMap { $0 }).subtracting(names.keys).sorted().prefix(PageCaller.namesMax)
        guard !new.isEmpty else { return self }
        var knowing = self
        for row in try connection.query(queries["people_names"], [.textArray(Array(new))]) {
            knowing.names[try row.text("account")!] = try row.text("name")!
        }
        return knowing
    }

    func person(_ account: String) -> String { names[account] ?? account }
}
