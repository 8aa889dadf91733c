internal import Basics
internal import Codecs
internal import Foundation
internal import Postgres
internal import Reports
internal import Storage

/// So many made-up sightings in the tables as they are: how long loading takes; each ready query of Queries/sightings, median of
/// five, by an analyst's login (its baseline is its first run, with whatever is cached after loading); and exports, beside `psql`
/// that copies the same rows to a file; the archive's rate is in sightings, its compression included.
package struct SightingsBench {
    private static let years = 2006...2025
    private static let sightingsOfSurvey = 20
    private static let sites = 2_000
    private static let runs = 5
    private static let recordsOfTwoRounds = 5_000_000
    private static let asked = [
        "species": "Species 30", "site": "site-77", "year": "2015", "from": "2015-05-01", "to": "2015-05-31",
        "latitude": "17.005", "longitude": "28.005", "km": "5", "month": "6", "limit": "100",
    ]

    private let records: Int
    private let stand: BenchEnvironment

    package init(records: Int, on stand: BenchEnvironment) {
        self.records = records
        self.stand = stand
    }

    package func run() throws -> [Figure] { try stand.servers(nil) { try measure($0) } }

    private func measure(_ servers: BenchServers) throws -> [Figure] {
        let folder = servers.folder
        let owner = try Connection(conninfo: servers.conninfo("drover_owner"))
        var figures = [try load(owner)]
        // Of the role drover_reader.
        let analyst = try Connection(conninfo: servers.conninfo("drover_web"))
        for query in try stand.readyQueries() where query.name.hasPrefix("sightings/") {
            figures.append(try measure(query, analyst))
        }
        var oneYear = SightingExport(sight: [])
        oneYear.species = ["Species 30"]
        oneYear.fromMs = UTC.parse("2015-01-01")
        oneYear.toMs = UTC.parse("2016-01-01")
        let conninfo = servers.conninfo("drover_web")
        figures += try export(
            "species_year", oneYear, ["--species", "Species 30", "--from", "2015-01-01", "--to", "2016-01-01"], folder,
            conninfo, analyst)
        let (all, rounds) = (SightingExport(sight: []), records > SightingsBench.recordsOfTwoRounds ? 1 : 2)
        figures += try export("all", all, [], folder, conninfo, analyst, rounds: rounds)
        return figures
            + (try export("archive", all, ["--format", "dwca"], folder, conninfo, analyst, rounds: rounds))
    }

    private func export(
        _ name: String, _ export: SightingExport, _ options: [String], _ folder: String, _ conninfo: String,
        _ analyst: Connection, rounds: Int = 2
    ) throws -> [Figure] {
        // An archive copies its tables one after the other; what measurements are made of, as it stands.
        let shapes =
            name == "archive"
            ? [export.events, export.occurrences, export.walkMeasurements, export.sightingMeasurements]
            : [export.wholeRows]
        let windows = try export.windows(on: analyst)
        let statements = try shapes.flatMap { shape in
            try windows.map { try export.statement(shape, window: $0, .csv, on: analyst) + ";\n" }
        }
        let (script, theirs, ours) = (folder + "/copy.sql", folder + "/psql.csv", folder + "/ours")
        try Data(statements.joined().utf8).write(to: URL(fileURLWithPath: script))
        var (copied, exported) = ((seconds: 0.0, peakMiB: 0.0), (seconds: 0.0, peakMiB: 0.0))
        // Whoever is second finds warm caches: the first round is not counted, or where that takes too long psql is second.
        for _ in 0..<rounds {
            exported = try timed(
                CommandLine.arguments[0],
                ["export", "sightings", "--out", ours, "--set", "postgres.reader_url=\(conninfo)"] + options)
            copied = try timed("psql", ["-X", "-q", "-d", conninfo, "-f", script, "-o", theirs])
        }
        stand.note(
            "\(name): ours \(Int(exported.seconds)) s and \(Int(exported.peakMiB)) MiB, psql \(Int(copied.seconds)) s")
        let rows: Int
        if name == "archive" {
            rows = try analyst.query(stand.query("sightings_shown"))[0].int(0)!
        } else {
            rows = try lines(ours) - 1
            guard try lines(theirs) == rows else {
                throw BenchFailure("the export \(name) and psql do not have the same number of lines")
            }
        }
        return [
            Figure(
                name: "export_\(name)", value: Double(rows) / exported.seconds, unit: "rows/s",
                baseline: Double(rows) / copied.seconds),
            Figure(
                name: "export_\(name)_peak_memory", value: exported.peakMiB, unit: "MiB", baseline: copied.peakMiB),
        ]
    }

    private func lines(_ path: String) throws -> Int {
        guard let file = FileHandle(forReadingAtPath: path) else { throw BenchFailure("\(path) is not there") }
        var count = 0
        while let bytes = try file.read(upToCount: 1 << 20), !bytes.isEmpty { count += bytes.count { $0 == 0x0A } }
        return count
    }

    private func timed(_ program: String, _ arguments: [String]) throws -> (seconds: Double, peakMiB: Double) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = FileHandle.nullDevice
        let began = ContinuousClock.now
        try process.run()
        var peakKiB = 0
        while process.isRunning {
            let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
            let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            peakKiB = max(peakKiB, line.flatMap { Int($0.filter(\.isNumber)) } ?? 0)
            Thread.sleep(forTimeInterval: 0.005)
        }
        guard process.terminationStatus == 0 else {
            throw BenchFailure("\(program) ended with \(process.terminationStatus)")
        }
        return (SightingsBench.ms(ContinuousClock.now - began) / 1_000, Double(peakKiB) / 1_024)
    }

    private func load(_ owner: Connection) throws -> Figure {
        let years = SightingsBench.years
        let surveys = max(1, records / years.count / SightingsBench.sightingsOfSurvey)
        let statements = try ["surveys", "sightings", "weeks", "year"].map { try stand.query($0) }
        let began = ContinuousClock.now
        // As for any load of this size: what is looked things up by is made behind it.
        let indexes = try owner.query(stand.query("indexes")).map {
            (name: try $0.text(0)!, statement: try $0.text(1)!)
        }
        for index in indexes { try owner.execute("DROP INDEX drover.\(index.name)") }
        var count = 0
        for year in years {
            try owner.query(statements[3], [.int4(Int32(year))])
            let values: [Parameter] = [.int4(Int32(year)), .int8(Int64(surveys)), .int4(Int32(SightingsBench.sites))]
            try owner.query(statements[0], values)
            count += try owner.query(statements[1], [values[0]]).rowsChanged
            try owner.query(statements[2], [values[0]])
            stand.note("\(count) sightings loaded, \(Int(SightingsBench.ms(ContinuousClock.now - began) / 1_000)) s")
        }
        for index in indexes {
            try owner.execute(index.statement.replacing(" ON ONLY ", with: " ON "))
            stand.note("\(index.name), \(Int(SightingsBench.ms(ContinuousClock.now - began) / 1_000)) s")
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
        stand.note("\(query.name)\n" + plan.table.text())
        return Figure(
            name: query.name.replacing("/", with: "_"), value: ms.sorted()[ms.count / 2], unit: "ms", baseline: ms[0])
    }

    private static func ms(_ duration: Duration) -> Double { duration / .milliseconds(1) }
}
