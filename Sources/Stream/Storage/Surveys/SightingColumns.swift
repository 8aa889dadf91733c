/// A column of an export: its name there, and where it comes from.
package struct SightingColumn: Sendable {
    package enum Kind: Sendable {
        /// Text that somebody typed: spreadsheets must not take it for a formula.
        case typed
        /// Made by us or by a closed list.
        case text
        /// Numbers, objects, true and false.
        case json
    }

    package let name: String
    package let kind: Kind
    /// Over a view of sightings or walks called `e`.
    let sql: String

    init(_ name: String, _ kind: Kind, _ sql: String? = nil) {
        self.name = name
        self.kind = kind
        self.sql = sql ?? "e.\(name)"
    }

    /// `=`, `+`, `-`, `@`, also in full width, tab and line ends: spreadsheets take them for the begin of a formula.
    private static let formulaSigns = "9, 10, 13, 43, 45, 61, 64, 65291, 65293, 65309, 65312"

    /// As a cell of a CSV file: a text that begins like a formula gets an apostrophe in front (OWASP, "CSV Injection").
    var cell: String {
        guard kind == .typed else { return sql }
        return "CASE WHEN ascii(\(sql)) IN (\(SightingColumn.formulaSigns)) THEN '''' || (\(sql)) ELSE \(sql) END"
    }
}

extension SightingExport {
    static func local(_ column: String) -> String { "drover.local_time(e.\(column), e.utc_offset_min)" }

    var recordedBy: SightingColumn {
        SightingColumn(
            "recorded_by", .typed,
            """
            (SELECT string_agg(p.name, ' | ' ORDER BY p.surveyor) FROM \(surveyorView) p
                WHERE p.site = e.site AND p.survey = e.survey)
            """)
    }
    private var surveyors: SightingColumn {
        SightingColumn(
            "surveyors", .json,
            """
            (SELECT json_agg(json_strip_nulls(json_build_object('name', p.name, 'role', p.role, 'expertise', p.expertise,
                'mail', p.mail, 'phone', p.phone)) ORDER BY p.surveyor)::text FROM \(surveyorView) p
                WHERE p.site = e.site AND p.survey = e.survey)
            """)
    }

    /// Each sighting as it stands in the view; for CSV and GeoJSON.
    package var wholeRows: Shape {
        let columns = [
            SightingColumn("latitude_deg", .json), SightingColumn("longitude_deg", .json),
            SightingColumn("occurrence", .text), SightingColumn("event", .text), SightingColumn("site", .text),
            SightingColumn("site_name", .typed), SightingColumn("route", .typed), SightingColumn("survey", .text),
            SightingColumn("version", .json), SightingColumn("sighting", .json),
            SightingColumn("seen_at", .text, SightingExport.local("seen_at")),
            SightingColumn("started_at", .text, SightingExport.local("started_at")),
            SightingColumn("stopped_at", .text, SightingExport.local("stopped_at")),
            SightingColumn("species", .typed), SightingColumn("given_name", .typed), SightingColumn("taxon", .typed),
            SightingColumn("individuals", .json), SightingColumn("uncertainty_m", .json),
            SightingColumn("generalization", .text), SightingColumn("section", .typed),
            SightingColumn("habitat", .typed), SightingColumn("conditions", .typed),
            SightingColumn("behaviour", .typed), SightingColumn("certainty", .text),
            SightingColumn("life_stage", .typed), SightingColumn("sex", .typed), SightingColumn("mark", .typed),
            SightingColumn("light_lux", .json),
            SightingColumn("photos", .typed, "nullif(array_to_string(e.photos, ' '), '')"),
            SightingColumn("animals", .typed), SightingColumn("plants", .typed), SightingColumn("comments", .typed),
            SightingColumn("own_weather", .json, "nullif(e.own_weather::text, '{}')"),
            SightingColumn("temperature_c", .json), SightingColumn("wind_speed_mps", .json),
            SightingColumn("wind_direction_deg", .json), SightingColumn("cloud_cover_pct", .json),
            SightingColumn("weather_at", .text, SightingExport.local("weather_at")),
            SightingColumn("weather_source", .text), SightingColumn("protocol", .typed), SightingColumn("gate", .text),
            SightingColumn("observers", .json), SightingColumn("distance_m", .json),
            SightingColumn("others", .json, "nullif(e.others::text, '{}')"),
        ]
        return Shape(
            kind: .sightings,
            columns: columns + (sight.contains(.people) ? [recordedBy, surveyors] : []))
    }

    /// Each walk as it stands in the view; for CSV, and with its line for GeoJSON.
    package func wholeWalks(hasLine: Bool) -> Shape {
        let columns =
            [SightingColumn("latitude_deg", .json), SightingColumn("longitude_deg", .json)]
            + (hasLine ? [SightingColumn("line", .text)] : [])
            + [
                SightingColumn("event", .text), SightingColumn("site", .text), SightingColumn("site_name", .typed),
                SightingColumn("route", .typed), SightingColumn("survey", .text), SightingColumn("version", .json),
                SightingColumn("started_at", .text, SightingExport.local("started_at")),
                SightingColumn("stopped_at", .text, SightingExport.local("stopped_at")),
                SightingColumn("sightings", .json), SightingColumn("individuals", .json),
                SightingColumn("uncertainty_m", .json), SightingColumn("generalization", .text),
                SightingColumn("distance_m", .json), SightingColumn("pace_mps", .json),
                SightingColumn("protocol", .typed), SightingColumn("gate", .text),
                SightingColumn("gate_reasons", .text, "nullif(array_to_string(e.gate_reasons, ' | '), '')"),
                SightingColumn("observers", .json), SightingColumn("expertise", .typed),
                SightingColumn("own_weather", .json, "nullif(e.own_weather::text, '{}')"),
                SightingColumn("service_weather", .json, "nullif(e.service_weather::text, '[]')"),
                SightingColumn("weather_missing", .json), SightingColumn("comments", .typed),
                SightingColumn("others", .json, "nullif(e.others::text, '{}')"),
            ]
        return Shape(
            kind: .walks,
            columns: columns + (sight.contains(.people) ? [recordedBy, surveyors] : []))
    }
}
