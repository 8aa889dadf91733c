internal import Basics
public import Fleet
public import Formats

extension SurveyText {
    /// Canonical: equal surveys make equal bytes, and `decode` makes the same survey of them.
    public static func encode(_ survey: Survey) -> JSONValue {
        let offsetMin = survey.offsetMin
        let head: [(String, JSONValue?)] = [
            ("schema", .integer(1)), ("survey", .text(survey.survey)), ("site", .text(survey.site)),
            ("site_name", text(survey.siteName)), ("route", text(survey.route)),
            ("start", time(survey.startMs, offsetMin)), ("stop", time(survey.stopMs, offsetMin)),
        ]
        let what: [(String, JSONValue?)] = [
            ("waypoints", list(survey.waypoints) { encode($0, offsetMin) }),
            ("sections", list(survey.sections, encode)), ("surveyors", list(survey.surveyors, encode)),
            ("observers", whole(survey.observers)), ("protocol", text(survey.surveyProtocol)),
            ("upland", survey.isUpland ? .bool(true) : nil), ("comments", text(survey.comments)),
            ("forward_to", text(survey.forwardTo)), ("weather", encode(survey.weather)),
            ("sightings", .list(survey.sightings.map { encode($0, offsetMin) })),
        ]
        return object(head + place(survey.place) + what, survey.others)
    }

    /// Weather that people measured themselves; nil for none.
    public static func encode(_ weather: Survey.OwnWeather) -> JSONValue? {
        guard !weather.isEmpty else { return nil }
        let fields: [(String, JSONValue?)] = [
            ("temperature_c", number(weather.temperatureC)), ("wind_speed_mps", number(weather.windSpeedMps)),
            ("wind_beaufort", whole(weather.windBeaufort)),
            ("wind_direction_deg", number(weather.windDirectionDeg)),
            ("cloud_cover_pct", number(weather.cloudCoverPct)), ("sun_pct", number(weather.sunPct)),
            ("rain", weather.isRaining.map { .bool($0) }),
        ]
        return object(fields, weather.others)
    }

    /// Fields of unknown names as one object.
    public static func encode(_ others: [Survey.OtherField]) -> JSONValue { object([], others) }

    private static func encode(_ waypoint: Survey.Waypoint, _ offsetMin: Int) -> JSONValue {
        object(place(waypoint.place) + [("time", waypoint.atMs.map { time($0, offsetMin) })], waypoint.others)
    }

    private static func encode(_ section: Survey.Section) -> JSONValue {
        let fields: [(String, JSONValue?)] = [
            ("section", .text(section.section)), ("distance_m", number(section.distanceMm)),
            ("habitat", text(section.habitat)),
        ]
        return object(fields, section.others)
    }

    private static func encode(_ surveyor: Survey.Surveyor) -> JSONValue {
        let fields: [(String, JSONValue?)] = [
            ("name", .text(surveyor.name)), ("role", .text(surveyor.role.rawValue)),
            ("expertise", text(surveyor.expertise)), ("mail", text(surveyor.mail)), ("phone", text(surveyor.phone)),
        ]
        return object(fields, surveyor.others)
    }

    private static func encode(_ sighting: Sighting, _ offsetMin: Int) -> JSONValue {
        let what: [(String, JSONValue?)] = [
            ("species", .text(sighting.species)), ("count", .integer(Int64(sighting.count))),
            ("time", sighting.atMs.map { time($0, offsetMin) }),
        ]
        let how: [(String, JSONValue?)] = [
            ("uncertainty_m", whole(sighting.uncertaintyM)), ("section", text(sighting.section)),
            ("habitat", text(sighting.habitat)), ("conditions", text(sighting.conditions)),
            ("behaviour", text(sighting.behaviour)), ("certainty", text(sighting.certainty?.rawValue)),
            ("life_stage", text(sighting.lifeStage)), ("sex", text(sighting.sex)), ("mark", text(sighting.mark)),
            ("light_lux", sighting.lightLux.map { .integer($0) }),
            ("photos", list(sighting.photos) { .text($0) }), ("animals", text(sighting.animals)),
            ("plants", text(sighting.plants)), ("comments", text(sighting.comments)),
            ("weather", encode(sighting.weather)),
        ]
        return object(what + place(sighting.place) + how, sighting.others)
    }

    // MARK: Pieces

    private static func object(_ fields: [(String, JSONValue?)], _ others: [Survey.OtherField]) -> JSONValue {
        // A JSON text stands in the output as it is, like the text of a number.
        .object(
            fields.compactMap { key, value in value.map { (key, $0) } }
                + others.map { ($0.key, JSONValue.number($0.json)) })
    }

    private static func list<Item>(_ items: [Item], _ encode: (Item) -> JSONValue) -> JSONValue? {
        items.isEmpty ? nil : .list(items.map(encode))
    }

    private static func text(_ text: String?) -> JSONValue? { text.map { .text($0) } }
    private static func whole(_ value: Int?) -> JSONValue? { value.map { .integer(Int64($0)) } }
    private static func number(_ thousandths: Int64?) -> JSONValue? {
        thousandths.map { .number(Decimal.text($0, decimals: 3)) }
    }
    private static func time(_ ts: Int64, _ offsetMin: Int) -> JSONValue {
        .text(UTC.localText(ts, offsetMin: offsetMin))
    }

    private static func place(_ place: Position?) -> [(String, JSONValue?)] {
        guard let place else { return [] }
        return [
            ("latitude", .number(Decimal.text(Int64(place.latitude), decimals: 7))),
            ("longitude", .number(Decimal.text(Int64(place.longitude), decimals: 7))),
        ]
    }
}
