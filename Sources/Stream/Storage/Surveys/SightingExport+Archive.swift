/// The tables of a Darwin Core Archive.
extension SightingExport {
    private static let withheld = SightingColumn(
        "informationWithheld", .text,
        "CASE WHEN e.generalization IS NOT NULL THEN 'Names of places, sections, photos and comments.' END")
    private static let locationWithheld = SightingColumn(
        "informationWithheld", .text, "CASE WHEN e.generalization IS NOT NULL THEN 'Name and way.' END")

    /// The reference of a place that may be missing.
    private static func datum(_ name: String, of column: String) -> SightingColumn {
        SightingColumn(name, .text, "CASE WHEN \(column) IS NOT NULL THEN 'EPSG:4326' END")
    }

    /// Walks, in the order of `DarwinCore.events`.
    package var events: Shape {
        Shape(
            kind: .walks,
            columns: [
                SightingColumn("eventID", .text, "e.event"), SightingColumn("parentEventID", .text, "e.site"),
                SightingColumn(
                    "eventDate", .text,
                    SightingExport.local("started_at") + " || '/' || " + SightingExport.local("stopped_at")),
                SightingColumn("locationID", .text, "e.site"), SightingColumn("locality", .typed, "e.site_name"),
                SightingColumn("verbatimLocality", .typed, "e.route"), SightingColumn("footprintWKT", .text, "e.line"),
                SightingExport.datum("footprintSRS", of: "e.line"),
                SightingColumn("decimalLatitude", .json, "e.latitude_deg"),
                SightingColumn("decimalLongitude", .json, "e.longitude_deg"),
                SightingExport.datum("geodeticDatum", of: "e.latitude_deg"),
                SightingColumn("coordinateUncertaintyInMeters", .json, "e.uncertainty_m"),
                SightingColumn("samplingProtocol", .typed, "e.protocol"),
                SightingColumn(
                    "samplingEffort", .text,
                    """
                    round(extract(epoch FROM e.stopped_at - e.started_at) / 60) || ' min'
                        || coalesce('; ' || e.observers || CASE e.observers WHEN 1 THEN ' observer' ELSE ' observers' END,
                        '')
                    """),
                SightingColumn("sampleSizeValue", .json, "e.distance_m"),
                SightingColumn("sampleSizeUnit", .text, "CASE WHEN e.distance_m IS NOT NULL THEN 'metre' END"),
                SightingColumn("eventRemarks", .typed, "e.comments"),
                SightingColumn("dataGeneralizations", .text, "e.generalization"), SightingExport.withheld,
                SightingColumn("dynamicProperties", .json, "nullif(e.others::text, '{}')"),
            ])
    }

    /// The sites of walks, in the order of `DarwinCore.events`: a site's id has no colon, so it is no walk's.
    package var sites: Shape {
        Shape(
            kind: .sites,
            columns: [
                SightingColumn("eventID", .text, "e.site"), SightingColumn("parentEventID", .text, "NULL::text"),
                SightingColumn("eventDate", .text, "e.first_on || '/' || e.last_on"),
                SightingColumn("locationID", .text, "e.site"), SightingColumn("locality", .typed, "named.site_name"),
                SightingColumn("verbatimLocality", .typed, "NULL::text"),
                SightingColumn("footprintWKT", .text, "placed.line"),
                SightingExport.datum("footprintSRS", of: "placed.line"),
                SightingColumn("decimalLatitude", .json, "placed.latitude_deg"),
                SightingColumn("decimalLongitude", .json, "placed.longitude_deg"),
                SightingExport.datum("geodeticDatum", of: "placed.latitude_deg"),
                SightingColumn("coordinateUncertaintyInMeters", .json, "placed.uncertainty_m"),
                SightingColumn("samplingProtocol", .typed, "NULL::text"),
                SightingColumn(
                    "samplingEffort", .text, "e.walks || CASE e.walks WHEN 1 THEN ' walk' ELSE ' walks' END"),
                SightingColumn("sampleSizeValue", .json, "NULL::text"),
                SightingColumn("sampleSizeUnit", .text, "NULL::text"),
                SightingColumn("eventRemarks", .typed, "NULL::text"),
                SightingColumn("dataGeneralizations", .text, "e.generalization"), SightingExport.locationWithheld,
                SightingColumn("dynamicProperties", .json, "NULL::text"),
            ])
    }

    /// In the order of `DarwinCore.occurrences`.
    package var occurrences: Shape {
        Shape(
            kind: .sightings,
            columns: [
                SightingColumn("eventID", .text, "e.event"), SightingColumn("occurrenceID", .text, "e.occurrence"),
                SightingColumn("basisOfRecord", .text, "'HumanObservation'"),
                SightingColumn("eventDate", .text, SightingExport.local("seen_at")),
                SightingColumn("scientificName", .typed, "e.species"), SightingColumn("taxonID", .text, "e.taxon"),
                SightingColumn("verbatimIdentification", .typed, "e.given_name"),
                SightingColumn("individualCount", .json, "e.individuals"),
                // As GBIF's checks of archives know it; the term's newer examples are detected and notDetected.
                SightingColumn(
                    "occurrenceStatus", .text, "CASE WHEN e.individuals > 0 THEN 'present' ELSE 'absent' END"),
                SightingColumn("decimalLatitude", .json, "e.latitude_deg"),
                SightingColumn("decimalLongitude", .json, "e.longitude_deg"),
                SightingExport.datum("geodeticDatum", of: "e.latitude_deg"),
                SightingColumn("coordinateUncertaintyInMeters", .json, "e.uncertainty_m"),
                SightingColumn(
                    "recordedBy", .typed, sight.contains(.people) ? recordedBy.sql : "NULL::text"),
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

    /// In the order that `Measurements` takes of walks.
    package var walkMeasurements: Shape {
        Shape(
            kind: .walks,
            columns: [
                SightingColumn("event", .text), SightingColumn("begin", .text, SightingExport.local("started_at")),
                SightingColumn("utc_offset_min", .json),
                SightingColumn("own_weather", .json, "nullif(e.own_weather::text, '{}')"),
                SightingColumn("service_weather", .json, "nullif(e.service_weather::text, '[]')"),
            ], isWhere: "(e.own_weather <> '{}' OR e.service_weather <> '[]')")
    }

    /// In the order that `Measurements` takes of sightings.
    package var sightingMeasurements: Shape {
        Shape(
            kind: .sightings,
            columns: [
                SightingColumn("event", .text), SightingColumn("occurrence", .text),
                SightingColumn("seen", .text, SightingExport.local("seen_at")),
                SightingColumn("own_weather", .json, "nullif(e.own_weather::text, '{}')"),
                SightingColumn("light_lux", .json),
            ], isWhere: "(e.own_weather <> '{}' OR e.light_lux IS NOT NULL)")
    }
}
