import App
import Codecs
import Fleet
import Postgres
import Settings
import Storage
import Telemetry

internal import Ingest
import Postgres
import Settings
import Storage
import Telemetry

extension Command {
    static let importDispatch = Command(
        name: "import dispatch", operands: "FILE… [options]",
        summary: "Brings campus days in: JSON lines as on \(Topic.dispatch), or CSV of rides. Twice changes nothing.",
        options: [
            .init("--campus", "ID", "whose rides a CSV file has"),
            .init("--now", nil, "into a campus that does not go by its records' times: all of it happens at once, now"),
        ] + SettingsSource.options,
        example: "drover import dispatch rides-2026-11-20.csv --campus north-archive",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let campus = try arguments.text("--campus").map(campusID)
            var requests: [String: Set<String>] = [:]
            let ok = try ImportJob(settings, topic: Topic.dispatch).run(arguments.files()) { path, importer in
                let records = try dayRecords(path, campus: campus)
                try checkCampuses(records, settings, isNow: arguments.has("--now"))
                let progress = Progress(path, total: records.count)
                for (index, record) in records.enumerated() {
                    try importer.push(campus: VehicleID(record.campus)!, json: RideRecords.encode(record))
                    if case .pickup(let pickup) = record.kind {
                        requests[record.campus, default: []].insert(pickup.request)
                    }
                    progress.step(index)
                }
                progress.end()
                return "\(records.count) records of " + Set(records.map(\.campus)).sorted().joined(separator: ", ")
            }
            for (campus, wanted) in requests.sorted(by: { $0.key < $1.key }) {
                try sayTaken(wanted, of: campus, settings)
            }
            return ok ? .done : .failed
        })

    /// The whole file is checked before any of it goes out.
    private static func dayRecords(_ path: String, campus: String?) throws -> [RideRecord] {
        switch RideFile.read(try Files.read(path), campus: campus) {
        case .success(let records): return records
        case .failure(let faults):
            let shown = 100
            for fault in faults.all.prefix(shown) { Out.note("\(path): \(fault)") }
            if faults.all.count > shown { Out.note("\(path): and \(faults.all.count - shown) more") }
            throw Failure("nothing of it was brought in; see above")
        }
    }

    private static func checkCampuses(_ records: [RideRecord], _ settings: Settings, isNow: Bool) throws {
        var byRecordTime = try CampusQueries.goByRecordTime(on: Connection(conninfo: settings.readerConninfo))
        for record in records {
            if case .campus(let said) = record.kind { byRecordTime[record.campus] = said.goesByRecordTime }
            guard let flag = byRecordTime[record.campus] else {
                throw Failure("\(record.campus) is not published: `drover campus publish \(record.campus) FILE` first")
            }
            guard flag || isNow else {
                throw Failure(
                    "\(record.campus) goes by its clock: all of the file would happen at once, now. Publish a campus "
                        + "of its own with \"record_time\": 1 for days from files, or say --now")
            }
        }
    }

    /// Says how many of the requests the workers have taken; waits a little for them.
    private static func sayTaken(_ requests: Set<String>, of campus: String, _ settings: Settings) throws {
        let connection = try Connection(conninfo: settings.readerConninfo)
        var taken = 0
        let patience = Stopwatch()
        repeat {
            taken = try CampusQueries.count(Array(requests), of: campus, on: connection)
            if taken == requests.count { break }
            _ = StopFlag.wait(timeoutMs: 100)
        } while patience.seconds < 10 && !StopFlag.isSet
        Out.note(
            taken == requests.count
                ? "all \(taken) requests of \(campus) are in the tables"
                : "\(taken) of \(requests.count) requests of \(campus) are in the tables. The rest waits for a worker, or is "
                    + "older than what the campus has taken: its time does not go back")
    }
}
