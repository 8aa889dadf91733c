internal import Basics
public import Fleet
public import Formats

/// A survey as JSON: the object of docs/survey-records.md.
public enum SurveyText {
    /// All faults at once, each with its path, like `sightings[3].count: …`; at most 50.
    public struct Faults: Error, Equatable, Sendable, CustomStringConvertible {
        public let all: [String]
        public var description: String { all.joined(separator: "; ") }
        package init(all: [String]) { self.all = all }
    }

    public static let bytesMax = 900_000
    static let sightingsMax = 2_000
    static let commentBytesMax = 4_000
    static let hoursMax: Int64 = 24
    private static let (waypointsMax, sectionsMax, surveyorsMax, photosMax) = (5_000, 200, 50, 20)
    /// 1700-01-01 to 2100-01-01. Whether it lies ahead of now only its receiver knows.
    public static let times: Range<Int64> = -8_520_336_000_000..<4_102_444_800_000

    public static func decode(_ json: [UInt8]) throws(Faults) -> Survey {
        let tree: JSONValue
        do throws(JSONValue.Fault) { tree = try JSONValue(json, bytesMax: bytesMax) } catch {
            throw Faults(all: ["the survey: \(error)"])
        }
        return try decode(tree)
    }

    public static func decode(_ tree: JSONValue) throws(Faults) -> Survey {
        let faults = SurveyFaults()
        let survey = SurveyFields(tree, path: "", faults: faults).flatMap { fields in
            var fields = fields
            return self.survey(&fields)
        }
        guard let survey, faults.all.isEmpty else { throw Faults(all: faults.all) }
        return survey
    }

    /// Nil only with a fault told.
    private static func survey(_ fields: inout SurveyFields) -> Survey? {
        if fields.whole("schema", 0...1_000_000) != 1 { fields.fault("schema", "must be 1") }
        let (id, site) = (fields.id("survey"), fields.id("site"))
        for key in ["start", "stop", "sightings"] where !fields.has(key) { fields.fault(key, "is missing") }
        let (start, stop) = (fields.time("start"), fields.time("stop"))
        let span = (start?.ts ?? 0, stop?.ts ?? 0)
        if start != nil, stop != nil, !(0...hoursMax * 3_600_000).contains(span.1 - span.0) {
            fields.fault("stop", "must not be before the start, nor more than \(hoursMax) hours after it")
        }
        var survey = Survey(
            survey: id ?? "", site: site ?? "", startMs: span.0, stopMs: span.1, offsetMin: start?.offsetMin ?? 0)
        survey.siteName = fields.text("site_name")
        survey.route = fields.text("route")
        survey.place = fields.place()
        let faults = fields.faults
        survey.waypoints = fields.list("waypoints", most: waypointsMax) { tree, path in
            SurveyFields(tree, path: path, faults: faults).flatMap { fields in waypoint(fields, span) }
        }
        survey.sections = fields.list("sections", most: sectionsMax) { tree, path in
            SurveyFields(tree, path: path, faults: faults).flatMap(section)
        }
        survey.surveyors = fields.list("surveyors", most: surveyorsMax) { tree, path in
            SurveyFields(tree, path: path, faults: faults).flatMap(surveyor)
        }
        survey.observers = fields.whole("observers", 0...10_000)
        survey.surveyProtocol = fields.text("protocol")
        survey.isUpland = fields.flag("upland") ?? false
        survey.comments = fields.comment("comments")
        survey.forwardTo = fields.id("forward_to", isRequired: false)
        survey.weather = weather(&fields)
        survey.sightings = fields.list("sightings", most: sightingsMax) { tree, path in
            SurveyFields(tree, path: path, faults: faults).flatMap { fields in sighting(fields, span) }
        }
        survey.others = fields.others()
        return id == nil || site == nil || start == nil || stop == nil ? nil : survey
    }

    private static func waypoint(_ given: SurveyFields, _ span: (Int64, Int64)) -> Survey.Waypoint? {
        var fields = given
        let place = fields.place(isRequired: true)
        let atMs = time(&fields, span)
        let others = fields.others()
        return place.map { place in
            var waypoint = Survey.Waypoint(place: place, atMs: atMs)
            waypoint.others = others
            return waypoint
        }
    }

    private static func section(_ given: SurveyFields) -> Survey.Section? {
        var fields = given
        let name = fields.required("section")
        var section = Survey.Section(
            section: name ?? "", distanceMm: fields.scaled("distance_m", decimals: 3, 0...1_000_000),
            habitat: fields.text("habitat"))
        section.others = fields.others()
        return name == nil ? nil : section
    }

    private static func surveyor(_ given: SurveyFields) -> Survey.Surveyor? {
        var fields = given
        if !fields.has("role") { fields.fault("role", "is missing") }
        let (name, role) = (fields.required("name"), fields.choice("role", Survey.Surveyor.Role.self))
        var surveyor = Survey.Surveyor(name: name ?? "", role: role ?? .observer)
        surveyor.expertise = fields.text("expertise")
        surveyor.mail = fields.text("mail")
        surveyor.phone = fields.text("phone")
        surveyor.others = fields.others()
        return name == nil || role == nil ? nil : surveyor
    }

    private static func sighting(_ given: SurveyFields, _ span: (Int64, Int64)) -> Sighting? {
        var fields = given
        if !fields.has("count") { fields.fault("count", "is missing") }
        let (species, count) = (fields.required("species"), fields.whole("count", 0...1_000_000))
        var sighting = Sighting(species: species ?? "", count: count ?? 0)
        sighting.atMs = time(&fields, span)
        sighting.place = fields.place()
        sighting.uncertaintyM = fields.whole("uncertainty_m", 1...10_000_000)
        sighting.section = fields.text("section")
        sighting.habitat = fields.text("habitat")
        sighting.conditions = fields.comment("conditions")
        sighting.behaviour = fields.text("behaviour")
        sighting.certainty = fields.choice("certainty", Sighting.Certainty.self)
        sighting.lifeStage = fields.text("life_stage")
        sighting.sex = fields.text("sex")
        sighting.mark = fields.text("mark")
        sighting.lightLux = fields.whole("light_lux", 0...1_000_000).map(Int64.init)
        let faults = fields.faults
        sighting.photos = fields.list("photos", most: photosMax) { tree, path in
            guard let text = tree.text, (1...200).contains(text.utf8.count), SurveyFields.isPlain(text) else {
                faults.add(path, "must be a text of 1 to 200 bytes without control characters")
                return nil
            }
            return text
        }
        sighting.animals = fields.comment("animals")
        sighting.plants = fields.comment("plants")
        sighting.comments = fields.comment("comments")
        sighting.weather = weather(&fields)
        sighting.others = fields.others()
        return species == nil || count == nil ? nil : sighting
    }

    private static func weather(_ fields: inout SurveyFields) -> Survey.OwnWeather {
        guard let tree = fields.remove("weather"),
            var own = SurveyFields(tree, path: fields.at("weather"), faults: fields.faults)
        else { return Survey.OwnWeather() }
        var weather = Survey.OwnWeather()
        weather.temperatureC = own.scaled("temperature_c", decimals: 3, -95...60)
        weather.windSpeedMps = own.scaled("wind_speed_mps", decimals: 3, 0...115)
        weather.windBeaufort = own.whole("wind_beaufort", 0...12)
        weather.windDirectionDeg = own.scaled("wind_direction_deg", decimals: 3, 0...360)
        weather.cloudCoverPct = own.scaled("cloud_cover_pct", decimals: 3, 0...100)
        weather.sunPct = own.scaled("sun_pct", decimals: 3, 0...100)
        weather.isRaining = own.flag("rain")
        weather.others = own.others()
        return weather
    }

    /// A time within the survey. Watches differ, and some walk at midnight: a day of tolerance.
    private static func time(_ fields: inout SurveyFields, _ span: (Int64, Int64)) -> Int64? {
        guard let time = fields.time("time") else { return nil }
        guard (span.0 - UTC.msPerDay...max(span.0, span.1) + UTC.msPerDay).contains(time.ts) else {
            fields.fault("time", "must be within a day of the survey")
            return nil
        }
        return time.ts
    }
}
