import App
import Basics
import Codecs
import Fleet
import Foundation
import Postgres
import Reports
import Settings
import Storage
import Surveys
import Telemetry

extension Command {
    static let export = Command(
        name: "export sightings", operands: "[options]",
        summary:
            "Sightings or walks as CSV, GeoJSON or a Darwin Core Archive, streamed from PostgreSQL. Sensitive species are "
            + "blurred and nobody is named unless asked for, which the database login must be allowed.",
        options: [
            .init("--format", "F", "csv (default), geojson or dwca"),
            .init(
                "--rows", "R", "csv, geojson: sightings (default), or surveys: a row a walk, also of those without any"),
            .init("--out", "FILE", "into a file, which has its name when it is whole (default: standard output)"),
            .init("--resume", nil, "go on with FILE where an export was cut off; csv and geojson"),
            .init(
                "--after", "WHERE",
                "only behind a row, STARTED_AT/SITE/SURVEY/SIGHTING (a walk: without its end), or from a time on; no header"
            ),
            .init("--species", "NAME", "accepted name; several times for several"),
            .init("--taxon", "NAME", "a species, genus or family by any of its names: with all below it"),
            .init("--from", "TIME", "seen at or after (2026-05-01)"), .init("--to", "TIME", "seen before"),
            .init("--site", "ID", "of one site"), .init("--behaviour", "B", "mating, nectaring, …"),
            .init("--near", "LAT,LON,KM", "within so many kilometres"),
            .init("--box", "S,W,N,E", "between these latitudes and longitudes"),
            .init("--surveyor", "NAME", "of one surveyor; with --people"),
            .init("--people", nil, "with names, mail and phone of surveyors (role drover_researcher)"),
            .init("--places", nil, "sensitive species as they were found (role drover_researcher)"),
            .init("--title", "TEXT", "dwca: what the data set is called"),
            .init("--creator", "TEXT", "dwca: the organisation that hands it out"),
            .init("--rights", "TEXT", "dwca: what others may do with it"),
        ] + SettingsSource.options,
        example:
            "drover export sightings --species 'Danaus plexippus' --from 2026-01-01 --format dwca --out danaus.zip",
        run: { arguments in
            guard arguments.operands.isEmpty else { throw UsageError("there is nothing to name but options") }
            let formats = Dictionary(uniqueKeysWithValues: SightingExporter.Format.allCases.map { ($0.rawValue, $0) })
            let format = try arguments.one("--format", of: formats, standard: "csv")
            let kinds = Dictionary(uniqueKeysWithValues: SightingExport.Rows.allCases.map { ($0.rawValue, $0) })
            let kind = try arguments.one("--rows", of: kinds, standard: "sightings")
            guard format != .dwca || kind == .sightings else {
                throw UsageError("an archive has walks and sightings: leave --rows out")
            }
            var filter = try sightingFilter(arguments, kind)
            let file = try arguments.text("--out").map {
                try ExportFile(
                    $0, isResumed: arguments.has("--resume"), contents: "\(format)-\(kind)", isMarked: format != .dwca)
            }
            guard file != nil || !arguments.has("--resume") else { throw UsageError("--resume goes with --out FILE") }
            guard format != .dwca || (filter.after == nil && !arguments.has("--resume")) else {
                throw UsageError("an archive is made in one go: leave --after and --resume out")
            }
            if let nextMs = file?.nextMs { filter.after = SightingExport.After(startMs: nextMs) }
            let settings = try SettingsSource.load(arguments)
            let dataset = DarwinCore.Dataset(
                title: arguments.text("--title") ?? "Sightings of butterflies",
                creator: arguments.text("--creator") ?? "not named", rights: arguments.text("--rights") ?? "not stated")
            let connection = try Connection(conninfo: settings.readerConninfo)
            try CommandAudit.noteTaken(
                .exportTaken, about: filter.surveyor,
                [
                    ("format", "\(format)"), ("rows", "\(kind)"), ("species", filter.species.joined(separator: " ")),
                    ("site", filter.site ?? ""), ("people", arguments.has("--people") ? "1" : ""),
                    ("places", arguments.has("--places") ? "1" : ""),
                ], on: connection)
            let begun = Clock.steadyMs()
            var toldMs = begun
            let exporter = SightingExporter(
                filter, format, rows: kind, dataset: dataset, today: UTC.dateText(Clock.nowMs()))
            let rows = try exporter.run(on: connection) { progress in
                try file?.mark(nextMs: progress.nextMs)
                guard Clock.steadyMs() - toldMs >= 2_000 else { return }
                toldMs = Clock.steadyMs()
                Out.note(
                    "\(progress.rows) rows, \(progress.windowsDone) of \(progress.windows) months"
                        + (format == .dwca ? "" : "; whole to --after \(UTC.text(progress.nextMs))"))
            } write: { bytes in
                if let file { try file.write(bytes) } else { Out.result(bytes) }
            }
            try file?.finish()
            Out.note("\(rows) \(kind) in \((Clock.steadyMs() - begun) / 1_000) s")
            return .done
        })

    private static func sightingFilter(
        _ arguments: Arguments, _ rows: SightingExport.Rows
    ) throws -> SightingExport {
        func time(_ name: String) throws -> Int64? {
            try arguments.text(name).map { text in
                guard let ms = UTC.parse(text), SurveyText.times.contains(ms) else {
                    throw UsageError("\(name) \(text): must be a time like 2026-05-01 or 2026-05-01T08:00:00Z")
                }
                return ms
            }
        }
        var sight: SightingExport.Sight = []
        if arguments.has("--people") { sight.insert(.people) }
        if arguments.has("--places") { sight.insert(.places) }
        var filter = SightingExport(sight: sight)
        filter.species = arguments.texts("--species")
        filter.taxon = arguments.text("--taxon")
        filter.site = arguments.text("--site")
        filter.behaviour = arguments.text("--behaviour")
        filter.surveyor = arguments.text("--surveyor")
        guard filter.surveyor == nil || sight.contains(.people) else { throw UsageError("--surveyor takes --people") }
        filter.fromMs = try time("--from")
        filter.toMs = try time("--to")
        if let text = arguments.text("--near") {
            guard let circle = SightingExport.Circle(text) else {
                throw UsageError("--near \(text): must be LAT,LON,KM, at most 2000 km")
            }
            filter.circle = circle
        }
        if let text = arguments.text("--box") {
            guard let box = SightingExport.Box(text) else {
                throw UsageError("--box \(text): must be SOUTH,WEST,NORTH,EAST in degrees")
            }
            filter.box = box
        }
        if let text = arguments.text("--after") {
            guard let after = SightingExport.After(text, rows) else {
                throw UsageError("--after \(text): must be \(rows.afterForm) of a row, or a time")
            }
            filter.after = after
        }
        return filter
    }
}

/// An export's file: `FILE.part` until it is whole, with `FILE.part.at` that says how far it is whole.
final class ExportFile {
    private let path: String
    private let handle: FileHandle
    /// The contents of the export; one word.
    private let contents: String
    private let isMarked: Bool
    private var bytes: UInt64 = 0
    /// Where an export goes on that was cut off; nil: it begins.
    private(set) var nextMs: Int64?

    private var part: String { path + ".part" }
    private var place: String { part + ".at" }

    init(_ path: String, isResumed: Bool, contents: String, isMarked: Bool) throws {
        self.path = path
        self.contents = contents
        self.isMarked = isMarked
        let part = path + ".part"
        if isResumed {
            let said = String(decoding: try Files.read(part + ".at"), as: UTF8.self).split(separator: " ").map(
                String.init)
            guard said.count == 3, said[0] == contents, let bytes = UInt64(said[1]), let nextMs = Int64(said[2]) else {
                throw Failure("\(part).at: does not say where to go on. Begin anew without --resume")
            }
            self.bytes = bytes
            self.nextMs = nextMs
        } else if !FileManager.default.createFile(atPath: part, contents: nil) {
            throw Failure("\(part): cannot be written. Check the folder and its permissions")
        }
        guard let handle = FileHandle(forWritingAtPath: part) else {
            throw Failure("\(part): cannot be opened. Begin anew without --resume")
        }
        self.handle = handle
        // What was written behind the last mark comes again.
        try handle.truncate(atOffset: bytes)
        try handle.seek(toOffset: bytes)
    }

    func write(_ chunk: [UInt8]) throws {
        do { try handle.write(contentsOf: Data(chunk)) } catch { throw cannotWrite(error) }
        bytes += UInt64(chunk.count)
    }

    /// All before `nextMs` is written.
    func mark(nextMs: Int64) throws {
        guard isMarked else { return }
        do {
            try Data("\(contents) \(bytes) \(nextMs)".utf8).write(to: URL(filePath: place), options: .atomic)
        } catch { throw cannotWrite(error) }
    }

    private func cannotWrite(_ error: any Error) -> Failure {
        let system = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        let why = system.map { unsafe String(cString: strerror(Int32($0.code))) } ?? "\(error)"
        let next = isMarked ? "Make room and go on with --resume" : "Make room and begin anew"
        return Failure("\(part): cannot be written: \(why). \(next)")
    }

    func finish() throws {
        do {
            try handle.synchronize()
            try handle.close()
        } catch { throw cannotWrite(error) }
        guard unsafe rename(part, path) == 0 else { throw Failure("\(part): cannot be renamed to \(path)") }
        // Of no use any more; left behind, it does no harm.
        try? FileManager.default.removeItem(atPath: place)
    }
}
