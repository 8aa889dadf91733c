/// A column of an export: its name there, and where it comes from.
public struct SightingColumn: Sendable {
    public enum Kind: Sendable {
        /// What somebody typed: spreadsheets must not take it for a formula.
        case typed
        /// Made by us or by a closed list.
        case text
        /// Numbers, objects, true and false.
        case json
    }

    public let name: String
    public let kind: Kind
    /// Over a view of sightings called `e`.
    let sql: String

    init(_ name: String, _ kind: Kind, _ sql: String? = nil) {
        (self.name, self.kind, self.sql) = (name, kind, sql ?? "e.\(name)")
    }

    /// As a cell of a CSV file: a text that begins like a formula gets an apostrophe in front (OWASP, "CSV Injection").
    var cell: String {
        kind == .typed ? "CASE WHEN \(sql) ~ '^[=+@\\t\\r-]' THEN '''' || (\(sql)) ELSE \(sql) END" : sql
    }
}

extension SightingExport {
    private static func local(_ column: String) -> String { "drover.local_time(e.\(column), e.utc_offset_min)" }

    private static let recordedBy = SightingColumn(
        "recorded_by", .typed,
        """
        (SELECT string_agg(p.name, ' | ' ORDER BY p.surveyor) FROM drover.surveyor p
            WHERE p.site = e.site AND p.survey = e.survey)
        """)
    private static let surveyors = SightingColumn(
        "surveyors", .json,
        """
        (SELECT json_agg(json_strip_nulls(json_build_object('name', p.name, 'role', p.role, 'expertise', p.expertise,
            'mail', p.mail, 'phone', p.phone)) ORDER BY p.surveyor)::text FROM drover.surveyor p
            WHERE p.site = e.site AND p.survey = e.survey)
        """)

    /// Each sighting as it stands in the view; for CSV and GeoJSON.
    public var wholeRows: Shape {
        let columns = [
            SightingColumn("latitude_deg", .json), SightingColumn("longitude_deg", .json),
            SightingColumn("occurrence", .text), SightingColumn("event", .text), SightingColumn("site", .text),
            SightingColumn("site_name", .typed), SightingColumn("route", .typed), SightingColumn("survey", .text),
            SightingColumn("version", .json), SightingColumn("sighting", .json),
            SightingColumn("seen_at", .text, SightingExport.local("seen_at")),
            SightingColumn("started_at", .text, SightingExport.local("started_at")),
            SightingColumn("stopped_at", .text, SightingExport.local("stopped_at")),
            SightingColumn("species", .typed), SightingColumn("given_name", .typed), SightingColumn("taxon", .text),
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
            columns: columns + (sight.contains(.people) ? [SightingExport.recordedBy, SightingExport.surveyors] : []))
    }

    private static let withheld = SightingColumn(
        "informationWithheld", .text,
        "CASE WHEN e.generalization IS NOT NULL THEN 'Names of places, sections, photos and comments.' END")
    private static func datum(_ column: String) -> SightingColumn {
        SightingColumn("geodeticDatum", .text, "CASE WHEN e.\(column) IS NOT NULL THEN 'EPSG:4326' END")
    }

    /// In the order of `DarwinCore.events`.
    public var events: Shape {
        Shape(
            columns: [
                SightingColumn("eventID", .text, "e.event"),
                SightingColumn(
                    "eventDate", .text,
                    SightingExport.local("started_at") + " || '/' || " + SightingExport.local("stopped_at")),
                SightingColumn("locationID", .text, "e.site"), SightingColumn("locality", .typed, "e.site_name"),
                SightingColumn("verbatimLocality", .typed, "e.route"),
                SightingColumn("decimalLatitude", .json, "e.event_latitude_deg"),
                SightingColumn("decimalLongitude", .json, "e.event_longitude_deg"),
                SightingExport.datum("event_latitude_deg"), SightingColumn("samplingProtocol", .typed, "e.protocol"),
                SightingColumn(
                    "samplingEffort", .text,
                    """
                    round(extract(epoch FROM e.stopped_at - e.started_at) / 60) || ' min'
                        || coalesce('; ' || e.observers || ' observers', '')
                    """),
                SightingColumn("sampleSizeValue", .json, "e.distance_m"),
                SightingColumn("sampleSizeUnit", .text, "CASE WHEN e.distance_m IS NOT NULL THEN 'metre' END"),
                SightingColumn("eventRemarks", .typed, "e.event_comments"),
                SightingColumn("dataGeneralizations", .text, "e.generalization"), SightingExport.withheld,
                SightingColumn("dynamicProperties", .json, "nullif(e.event_others::text, '{}')"),
            ], isOfEvents: true)
    }

    /// In the order of `DarwinCore.occurrences`.
    public var occurrences: Shape {
        Shape(columns: [
            SightingColumn("eventID", .text, "e.event"), SightingColumn("occurrenceID", .text, "e.occurrence"),
            SightingColumn("basisOfRecord", .text, "'HumanObservation'"),
            SightingColumn("eventDate", .text, SightingExport.local("seen_at")),
            SightingColumn("scientificName", .typed, "e.species"), SightingColumn("taxonID", .text, "e.taxon"),
            SightingColumn("verbatimIdentification", .typed, "e.given_name"),
            SightingColumn("individualCount", .json, "e.individuals"),
            // As GBIF's checks of archives know it; the term's newer examples are detected and notDetected.
            SightingColumn("occurrenceStatus", .text, "CASE WHEN e.individuals > 0 THEN 'present' ELSE 'absent' END"),
            SightingColumn("decimalLatitude", .json, "e.latitude_deg"),
            SightingColumn("decimalLongitude", .json, "e.longitude_deg"), SightingExport.datum("latitude_deg"),
            SightingColumn("coordinateUncertaintyInMeters", .json, "e.uncertainty_m"),
            SightingColumn(
                "recordedBy", .typed, sight.contains(.people) ? SightingExport.recordedBy.sql : "NULL::text"),
            SightingColumn("lifeStage", .typed, "e.life_stage"), SightingColumn("sex", .typed),
            SightingColumn("behavior", .typed, "e.behaviour"),
            SightingColumn("identificationRemarks", .text, "e.certainty"), SightingColumn("habitat", .typed),
            SightingColumn("occurrenceRemarks", .typed, "e.comments"),
            SightingColumn("associatedMedia", .typed, "nullif(array_to_string(e.photos, ' | '), '')"),
            SightingColumn("associatedTaxa", .typed, "e.plants"),
            SightingColumn("dataGeneralizations", .text, "e.generalization"), SightingExport.withheld,
            SightingColumn("dynamicProperties", .json, "nullif(e.others::text, '{}')"),
        ])
    }

    /// In the order of `DarwinCore.measurements`: what a service says of the weather, what surveyors measured, light.
    public var measurements: Shape {
        Shape(
            columns: [
                SightingColumn("eventID", .text, "e.event"),
                SightingColumn("measurementID", .text, "e.occurrence || ':' || m.id"),
                SightingColumn("occurrenceID", .text, "e.occurrence"),
                SightingColumn("measurementType", .text, "m.type"),
                SightingColumn("measurementValue", .text, "m.value"),
                SightingColumn("measurementUnit", .text, "m.unit"),
                SightingColumn("measurementMethod", .text, "m.method"),
                SightingColumn("measurementDeterminedDate", .text, "m.determined"),
            ],
            from: """
                CROSS JOIN LATERAL (SELECT \(SightingExport.local("weather_at")) AS told,
                    \(SightingExport.local("seen_at")) AS seen) t
                CROSS JOIN LATERAL (VALUES
                    ('temperature', 'air temperature', e.temperature_c::text, '°C', e.weather_source, t.told),
                    ('wind-speed', 'wind speed', e.wind_speed_mps::text, 'm/s', e.weather_source, t.told),
                    ('wind-direction', 'wind direction', e.wind_direction_deg::text, '°', e.weather_source, t.told),
                    ('cloud-cover', 'cloud cover', e.cloud_cover_pct::text, '%', e.weather_source, t.told),
                    ('own-temperature', 'air temperature', e.own_weather->>'temperature_c', '°C', 'surveyor', t.seen),
                    ('own-wind-speed', 'wind speed', e.own_weather->>'wind_speed_mps', 'm/s', 'surveyor', t.seen),
                    ('own-wind-force', 'wind force', e.own_weather->>'wind_beaufort', 'Beaufort', 'surveyor', t.seen),
                    ('own-wind-direction', 'wind direction', e.own_weather->>'wind_direction_deg', '°', 'surveyor', t.seen),
                    ('own-cloud-cover', 'cloud cover', e.own_weather->>'cloud_cover_pct', '%', 'surveyor', t.seen),
                    ('own-sun', 'sunshine', e.own_weather->>'sun_pct', '%', 'surveyor', t.seen),
                    ('light', 'illuminance', e.light_lux::text, 'lx', 'surveyor', t.seen)
                ) m (id, type, value, unit, method, determined)
                """, isWhere: "m.value IS NOT NULL")
    }
}
