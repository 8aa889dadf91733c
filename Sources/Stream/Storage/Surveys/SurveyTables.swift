internal import Codecs
internal import Fleet
internal import Formats
internal import Postgres
internal import Surveys

/// Tables that surveys are written to, and their rows.
enum SurveyTables {
    static let survey = StagedTable(
        name: "survey",
        columns: [
            "site", "survey", "version", "account", "submitted_by", "submitted_at", "site_name", "route", "started_at",
            "stopped_at", "utc_offset_min", "local_date", "latitude_deg", "longitude_deg", "line", "distance_m",
            "pace_mps", "protocol", "gate", "gate_reasons", "observers", "expertise", "comments", "forward_to",
            "own_weather", "service_weather", "weather_missing", "needs_review", "sightings", "individuals",
            "revised_at",
            "others", "topic_partition",
        ], key: ["site", "survey"])
    static let version = StagedTable(
        name: "survey_version",
        columns: [
            "site", "survey", "version", "record_id", "record_offset", "said_at", "account", "said_by", "note",
            "based_on",
            "body",
        ], key: ["site", "survey", "version"])
    static let waiting = StagedTable(
        name: "survey_waiting",
        columns: [
            "site", "survey", "based_on", "record_id", "record_offset", "said_at", "account", "said_by", "note", "body",
        ], key: ["site", "survey", "based_on"])
    static let weather = StagedTable(
        name: "survey_weather", columns: ["site", "survey", "hour_at", "answer"], key: ["site", "survey", "hour_at"])
    static let surveyor = StagedTable(
        name: "surveyor", columns: ["site", "survey", "surveyor", "role", "name", "expertise", "mail", "phone"],
        key: ["site", "survey", "surveyor"])
    static let sighting = StagedTable(
        name: "sighting",
        columns: [
            "site", "survey", "sighting", "seen_at", "local_date", "species", "given_name", "taxon", "individuals",
            "latitude_deg", "longitude_deg", "uncertainty_m", "section", "habitat", "conditions", "behaviour",
            "certainty",
            "life_stage", "sex", "mark", "light_lux", "photos", "animals", "plants", "comments", "own_weather",
            "temperature_c", "wind_speed_mps", "wind_direction_deg", "cloud_cover_pct", "weather_at", "weather_source",
            "is_sensitive", "is_blurred", "needs_review", "review_reason", "others",
        ], key: ["site", "survey", "sighting", "seen_at"])

    static let all = [survey, version, waiting, weather, surveyor, sighting]

    // MARK: Rows

    static func fill(_ folded: FoldedSurvey, partition: Int32, _ copy: inout BinaryCopy) {
        let survey = folded.survey
        copy.text(survey.site)
        copy.text(survey.survey)
        copy.int4(Int32(folded.version))
        copy.text(folded.submitted.account)
        copy.text(folded.submitted.by)
        copy.timestampMs(folded.submitted.saidMs)
        copy.text(survey.siteName)
        copy.text(survey.route)
        copy.timestampMs(survey.startMs)
        copy.timestampMs(survey.stopMs)
        copy.int4(Int32(survey.offsetMin))
        copy.date(days: Int(folded.localDay))
        fill(folded.walk.place, &copy)
        copy.text(folded.walk.line)
        copy.float8(folded.walk.distanceM)
        copy.float8(folded.walk.paceMps)
        copy.text(survey.surveyProtocol)
        copy.text(folded.gate?.verdict.rawValue)
        copy.textArray(folded.gate?.reasons ?? [])
        copy.int4(survey.observers.map { Int32($0) })
        copy.text(folded.expertise)
        copy.text(survey.comments)
        copy.text(survey.forwardTo)
        fill(survey.weather, &copy)
        copy.jsonb(JSONValue.list(folded.weather.map { .object($0.fields) }).rendered())
        copy.int4(Int32(folded.weatherMissing))
        copy.bool(folded.needsReview)
        copy.int4(Int32(folded.sightings.count))
        copy.int8(folded.individuals)
        copy.timestampMs(folded.revisedMs)
        copy.jsonb(SurveyText.encode(survey.others).rendered())
        copy.int4(partition)
    }

    static func fill(_ person: Survey.Surveyor, _ number: Int, of survey: Survey, _ copy: inout BinaryCopy) {
        copy.text(survey.site)
        copy.text(survey.survey)
        copy.int4(Int32(number))
        copy.text(person.role.rawValue)
        copy.text(person.name)
        copy.text(person.expertise)
        copy.text(person.mail)
        copy.text(person.phone)
    }

    static func fill(
        _ folded: FoldedSurvey.FoldedSighting, _ number: Int, of whole: FoldedSurvey, _ copy: inout BinaryCopy
    ) {
        let sighting = folded.sighting
        copy.text(whole.survey.site)
        copy.text(whole.survey.survey)
        copy.int4(Int32(number))
        copy.timestampMs(folded.seenMs)
        copy.date(days: Int(folded.localDay))
        copy.text(folded.match.name)
        copy.text(sighting.species)
        copy.text(folded.match.taxon)
        copy.int4(Int32(sighting.count))
        fill(folded.place, &copy)
        copy.int4(sighting.uncertaintyM.map { Int32($0) })
        copy.text(sighting.section)
        copy.text(sighting.habitat)
        copy.text(sighting.conditions)
        copy.text(sighting.behaviour)
        copy.text(sighting.certainty?.rawValue)
        copy.text(sighting.lifeStage)
        copy.text(sighting.sex)
        copy.text(sighting.mark)
        copy.int4(sighting.lightLux.map { Int32($0) })
        copy.textArray(sighting.photos)
        copy.text(sighting.animals)
        copy.text(sighting.plants)
        copy.text(sighting.comments)
        fill(sighting.weather, &copy)
        for quantity: WeatherQuantity in [.temperature, .windSpeed, .windDirection, .cloudCover] {
            copy.float8(folded.weather?.hour.thousandths[quantity].map { Double($0) / 1_000 })
        }
        copy.timestampMs(folded.weather?.hour.ts)
        copy.text(folded.weather.map { "\($0.source) \($0.model)" })
        copy.bool(folded.match.isSensitive)
        copy.bool(whole.isSensitive)
        copy.bool(folded.match.reviewReason != nil)
        copy.text(folded.match.reviewReason)
        copy.jsonb(SurveyText.encode(sighting.others).rendered())
    }

    /// The columns of a version after its number.
    static func fill(_ version: SurveyHistory.Version, _ copy: inout BinaryCopy, basedOnInside: Bool) {
        copy.text(version.id)
        copy.int8(version.offset)
        copy.timestampMs(version.saidMs)
        copy.text(version.account)
        copy.text(version.by)
        copy.text(version.note)
        if basedOnInside { copy.int4(version.basedOn.map { Int32($0) }) }
        copy.text(SurveyText.encode(version.survey).rendered())
    }

    private static func fill(_ weather: Survey.OwnWeather, _ copy: inout BinaryCopy) {
        copy.jsonb(SurveyText.encode(weather)?.rendered() ?? "{}")
    }

    private static func fill(_ place: Position?, _ copy: inout BinaryCopy) {
        copy.float8(place.map { Double($0.latitude) / 1e7 })
        copy.float8(place.map { Double($0.longitude) / 1e7 })
    }
}
