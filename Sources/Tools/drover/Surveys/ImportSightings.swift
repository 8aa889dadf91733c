import App
import Basics
import Codecs
import Fleet
import Foundation
import Surveys
import Telemetry

internal import Formats
import Foundation
internal import Ingest
import Surveys
import Telemetry

extension Command {
    static let importSightings = Command(
        name: "import sightings", operands: "FOLDER|FILE… [options]",
        summary: "Brings surveys in: a folder of Darwin Core or rbms tables, or JSON surveys. Twice changes nothing.",
        options: [
            .init("--offset", "+HH:MM", "what the clocks of the tables were ahead of UTC; tables have no zone"),
            .init("--site", "ID", "the site of all surveys; of rbms tables what its number is put behind"),
            .init("--protocol", "NAME", "how they were made, as pollard-walk (default: as the tables say)"),
            .init("--account", "ID", "whose surveys they are (default import)"),
            .init("--by", "NAME", "who brings them in (default: the login's name, or operator)"),
        ] + SettingsSource.options,
        example: "drover import sightings sightings-arocha-butterflies --offset +03:00 --site watamu",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let account = arguments.text("--account") ?? "import"
            guard VehicleID.isValid(account.utf8) else {
                throw UsageError("--account \(account): must be 1 to 64 letters, digits, -, _ or .")
            }
            let by = try ActionPush.head(arguments).by
            let ok = try ImportJob(settings, topic: Topic.sightings).run(arguments.files()) { path, importer in
                let surveys = try SurveySource.read(path, arguments)
                let records = try surveys.map { try record($0, account: account, by: by, path) }
                let progress = Progress(path, total: records.count)
                for (index, (site, json)) in records.enumerated() {
                    try importer.push(site: site, json: json)
                    progress.step(index)
                }
                progress.end()
                let sightings = surveys.reduce(0) { $0 + $1.sightings.count }
                return "\(surveys.count) surveys with \(sightings) sightings of "
                    + "\(Set(surveys.map(\.site)).count) sites"
            }
            return ok ? .done : .failed
        })

    /// By the rules of what apps hand in. An id that follows from the contents: the same file brings the same records.
    private static func record(
        _ survey: Survey, account: String, by: String, _ path: String
    ) throws -> (site: VehicleID, json: [UInt8]) {
        let text = SurveyText.encode(survey).rendered()
        guard text.utf8.count <= SurveyText.bytesMax else {
            throw Failure("survey \(survey.survey): \(text.utf8.count) bytes, at most \(SurveyText.bytesMax) are taken")
        }
        do throws(SurveyText.Faults) { _ = try SurveyText.decode(Array(text.utf8)) } catch {
            throw Failure("survey \(survey.survey): \(error)")
        }
        let nowMs = Clock.nowMs()
        guard survey.startMs <= nowMs + UTC.msPerDay else {
            throw Failure("survey \(survey.survey): start: lies more than a day ahead of now")
        }
        let record = SurveyRecord(
            id: "i-" + SubmissionID.of(text), site: survey.site, ts: nowMs, account: account, by: by,
            kind: .submitted(survey))
        return (VehicleID(survey.site)!, SurveyRecords.encode(record))
    }
}

/// Finds out what a path holds, and reads it.
private enum SurveySource {
    static func read(_ path: String, _ arguments: Arguments) throws -> [Survey] {
        var isFolder: ObjCBool = false
        guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return try json(path)
        }
        let names = try Set(Files.list(path))
        func rows(_ name: String) throws -> NamedRows {
            let bytes = try Files.read(path + "/" + name)
            do throws(NamedRows.Fault) { return try NamedRows(bytes) } catch {
                throw Failure("\(name): \(error)")
            }
        }
        let choices = try choices(arguments)
        if names.isSuperset(of: ["events.csv", "occurrences.csv"]) {
            let way =
                names.contains("transect.geojson")
                ? try SurveyFiles.way(Files.read(path + "/transect.geojson")) : []
            return try SurveyFiles.darwinCore(
                events: rows("events.csv"), occurrences: rows("occurrences.csv"), way: way, choices)
        }
        if names.isSuperset(of: ["m_visit.csv", "m_count.csv"]) {
            return try SurveyFiles.visits(rows("m_visit.csv"), counts: rows("m_count.csv"), choices)
        }
        throw Failure("holds neither events.csv and occurrences.csv nor m_visit.csv and m_count.csv")
    }

    private static func choices(_ arguments: Arguments) throws -> SurveyFiles.Choices {
        guard let text = arguments.text("--offset"), let time = UTC.parseLocal("2000-01-01T00:00:00" + text) else {
            throw UsageError("say what the tables' clocks were ahead of UTC: --offset +03:00")
        }
        let site = arguments.text("--site")
        guard site.map({ VehicleID.isValid($0.utf8) }) ?? true else {
            throw UsageError("--site \(site ?? ""): must be 1 to 64 letters, digits, -, _ or .")
        }
        return SurveyFiles.Choices(
            site: site, offsetMin: time.offsetMin, surveyProtocol: arguments.text("--protocol"))
    }

    /// One survey, or one a line.
    private static func json(_ path: String) throws -> [Survey] {
        let bytes = try Files.read(path)
        if let survey = try? SurveyText.decode(bytes) { return [survey] }
        return try bytes.split(separator: 0x0A).enumerated().map { index, line in
            do throws(SurveyText.Faults) { return try SurveyText.decode(Array(line)) } catch {
                throw Failure("line \(index + 1): \(error)")
            }
        }
    }
}
