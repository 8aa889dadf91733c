import Embedded
import Foundation
import Postgres
import Reports

/// So many made-up sightings in the tables as they are: how long loading takes, and each ready query of Queries/sightings, median
/// of five, by an analyst's login. The baseline of a query is its first run, with whatever is cached after loading.
struct SightingsBench {
    private static let years = 2006...2025
    private static let sightingsOfSurvey = 20
    private static let sites = 2_000
    private static let runs = 5
    private static let asked = [
        "species": "Species 30", "site": "site-77", "year": "2015", "from": "2015-05-01", "to": "2015-05-31",
        "latitude": "17.005", "longitude": "28.005", "km": "5", "month": "6", "limit": "100",
    ]

    let records: Int

    func run() throws -> [Figure] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "drover-bench-\(getpid())").path
        // A leftover in the temporary folder hurts nobody.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let embedded = try EmbeddedServers.start(EmbeddedSettings(dataDirectory: folder, log: { Out.note($0) }))
        defer { embedded.stop() }
        _ = try Command.migrate(embedded.conninfo(user: "drover_owner"))
        try embedded.grantRoles()
        let owner = try Connection(conninfo: embedded.conninfo(user: "drover_owner"))
        var figures = [try load(owner)]
        // Of the role drover_reader.
        let analyst = try Connection(conninfo: embedded.conninfo(user: "drover_web"))
        for query in try Home.readyQueries() where query.name.hasPrefix("sightings/") {
            figures.append(try measure(query, analyst))
        }
        return figures
    }

    private func load(_ owner: Connection) throws -> Figure {
        let years = SightingsBench.years
        let surveys = max(1, records / years.count / SightingsBench.sightingsOfSurvey)
        let statements = try ["surveys", "sightings", "weeks"].map { try Home.benchQuery($0) }
        let began = ContinuousClock.now
        var count = 0
        for year in years {
            try owner.query("SELECT drover.make_sighting_year($1)", [.int4(Int32(year))])
            let values: [Parameter] = [.int4(Int32(year)), .int8(Int64(surveys)), .int4(Int32(SightingsBench.sites))]
            try owner.query(statements[0], values)
            count += try owner.query(statements[1], [values[0]]).rowsChanged
            try owner.query(statements[2], [values[0]])
            Out.note("\(count) sightings loaded, \(Int(SightingsBench.ms(ContinuousClock.now - began) / 1_000)) s")
        }
        try owner.execute("VACUUM ANALYZE drover.survey, drover.sighting, drover.sighting_week")
        let seconds = SightingsBench.ms(ContinuousClock.now - began) / 1_000
        return Figure(name: "sightings_load", value: Double(count) / seconds, unit: "records/s", baseline: nil)
    }

    private func measure(_ query: ReadyQuery, _ analyst: Connection) throws -> Figure {
        let values = try query.values(
            SightingsBench.asked.filter { asked in query.parameters.contains { $0.name == asked.key } })
        var ms: [Double] = []
        for _ in 0..<SightingsBench.runs {
            let began = ContinuousClock.now
            _ = try query.run(values, timeoutMs: 600_000, on: analyst)
            ms.append(SightingsBench.ms(ContinuousClock.now - began))
        }
        let plan = try query.explained().run(values, timeoutMs: 600_000, on: analyst)
        Out.note("\(query.name)\n" + plan.table.text())
        return Figure(
            name: query.name.replacing("/", with: "_"), value: ms.sorted()[ms.count / 2], unit: "ms", baseline: ms[0])
    }

    private static func ms(_ duration: Duration) -> Double { duration / .milliseconds(1) }
}
