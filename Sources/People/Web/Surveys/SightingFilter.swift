internal import Basics
internal import Codecs
internal import Reports
internal import Storage

/// The filter of sightings in an address, shared by the API's export, the page and the page's exports.
enum SightingFilter {
    typealias Item = (name: String, value: String)

    struct Fault: Error { let detail: String }

    private static let names: Set = [
        "format", "rows", "taxon", "species", "site", "behaviour", "surveyor", "near", "box", "from", "to", "after",
    ]

    /// The format of an export, and the meaning of its rows.
    static func form(_ items: [Item]) throws(Fault) -> (SightingExporter.Format, SightingExport.Rows) {
        let query = first(items)
        guard let format = SightingExporter.Format(rawValue: query["format"] ?? "csv") else {
            throw Fault(detail: "`format` must be csv, geojson or dwca.")
        }
        guard let rows = SightingExport.Rows(rawValue: query["rows"] ?? "sightings"),
            format != .dwca || query["rows"] == nil
        else { throw Fault(detail: "`rows` must be sightings or surveys; an archive has both.") }
        return (format, rows)
    }

    static func read(
        _ items: [Item], _ sight: SightingExport.Sight, _ format: SightingExporter.Format = .csv,
        _ rows: SightingExport.Rows = .sightings
    ) throws(Fault) -> SightingExport {
        if let unknown = items.first(where: { !names.contains($0.name) }) {
            throw Fault(
                detail:
                    "`\(unknown.name.prefix(60))` is not known here: choose \(names.sorted().joined(separator: ", ")).")
        }
        let query = first(items)
        func time(_ name: String) throws(Fault) -> Int64? {
            guard let text = query[name] else { return nil }
            guard let ms = UTC.parse(text), SurveyText.times.contains(ms) else {
                throw Fault(detail: "`\(name)` must be a time like 2026-05-01 or 2026-05-01T08:00:00Z.")
            }
            return ms
        }
        var export = SightingExport(sight: sight)
        export.species = items.filter { $0.name == "species" }.map(\.value)
        export.taxon = query["taxon"]
        export.site = query["site"]
        export.behaviour = query["behaviour"]
        export.surveyor = query["surveyor"]
        guard export.surveyor == nil || sight.contains(.people) else {
            throw Fault(detail: "`surveyor` is for those who may see people; a token needs the scope export-people.")
        }
        export.fromMs = try time("from")
        export.toMs = try time("to")
        if let text = query["near"] {
            guard let circle = SightingExport.Circle(text) else {
                throw Fault(detail: "`near` must be LAT,LON,KM, at most 2000 km.")
            }
            export.circle = circle
        }
        if let text = query["box"] {
            guard let box = SightingExport.Box(text) else {
                throw Fault(detail: "`box` must be SOUTH,WEST,NORTH,EAST in degrees.")
            }
            export.box = box
        }
        if let text = query["after"] {
            guard format != .dwca, let after = SightingExport.After(text, rows) else {
                throw Fault(detail: "`after` must be \(rows.afterForm) of a row, or a time; an archive has none.")
            }
            export.after = after
        }
        return export
    }

    private static func first(_ items: [Item]) -> [String: String] {
        Dictionary(items.map { ($0.name, $0.value) }) { first, _ in first }
    }
}
