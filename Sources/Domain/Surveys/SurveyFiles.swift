internal import Basics
internal import Codecs
package import Fleet
internal import Formats

/// Surveys from the tables that recording schemes publish: what a table has beyond a survey's own fields is kept under
/// its name.
package enum SurveyFiles {
    package typealias Fault = NamedRows.Fault

    /// Choices that tables leave open.
    package struct Choices: Sendable {
        /// The site of all surveys; nil: by locality or number.
        package var site: String?
        /// East of UTC; tables have times by the clocks of the place.
        package var offsetMin: Int
        package var surveyProtocol: String?
        package init(site: String?, offsetMin: Int, surveyProtocol: String?) {
            self.site = site
            self.offsetMin = offsetMin
            self.surveyProtocol = surveyProtocol
        }
    }

    // MARK: Darwin Core

    private static let eventFields: Set<String> = [
        "eventID", "eventDate", "eventTime", "samplingProtocol", "locality", "decimalLatitude", "decimalLongitude",
        "eventRemarks",
    ]
    private static let occurrenceFields: Set<String> = [
        "eventID", "individualCount", "scientificName", "occurrenceRemarks", "lifeStage", "sex", "behavior",
        "decimalLatitude", "decimalLongitude",
    ]

    /// Events and occurrences as Darwin Core has them, `eventTime` as `10:00/10:30`.
    ///
    /// - Parameter way: of the transect that all of them walked; may be empty.
    package static func darwinCore(
        events: NamedRows, occurrences: NamedRows, way: [Position], _ choices: Choices
    ) throws(Fault) -> [Survey] {
        guard events.has("eventID", "eventDate", "eventTime"),
            occurrences.has("eventID", "individualCount", "scientificName")
        else {
            throw Fault(
                "events need eventID, eventDate, eventTime; occurrences eventID, individualCount, scientificName")
        }
        var (surveys, places): ([Survey], [String: Int]) = ([], [:])
        for row in events.rows {
            let survey = try event(row, events.names, way, choices)
            guard places.updateValue(surveys.count, forKey: survey.survey) == nil else {
                throw Fault("events, line \(row.line): its eventID stands there before")
            }
            surveys.append(survey)
        }
        for row in occurrences.rows {
            guard let event = row["eventID"], let place = places[event] else {
                throw Fault("occurrences, line \(row.line): its eventID is not among the events")
            }
            surveys[place].sightings.append(try occurrence(row, occurrences.names))
        }
        return surveys
    }

    private static func event(
        _ row: NamedRows.Row, _ names: [String], _ way: [Position], _ choices: Choices
    ) throws(Fault) -> Survey {
        func fault(_ rule: String) -> Fault { Fault("events, line \(row.line): \(rule)") }
        guard let id = row["eventID"], VehicleID.isValid(id.utf8) else {
            throw fault("eventID must be 1 to 64 letters, digits, -, _ or .")
        }
        let clock = (row["eventTime"] ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard let date = row["eventDate"], clock.count == 2,
            let start = time(date, clock[0], choices.offsetMin), let stop = time(date, clock[1], choices.offsetMin)
        else { throw fault("eventDate and eventTime must be like 2020-05-01 and 10:00/10:30") }
        guard let site = choices.site ?? row["locality"].flatMap({ VehicleID(sanitizing: $0)?.text }) else {
            throw fault("has no locality: name the site")
        }
        var survey = Survey(survey: id, site: site, startMs: start, stopMs: stop, offsetMin: choices.offsetMin)
        survey.siteName = row["locality"]
        survey.place = try place(row, fault)
        survey.waypoints = way.map { Survey.Waypoint(place: $0, atMs: nil) }
        survey.surveyProtocol = choices.surveyProtocol ?? row["samplingProtocol"]
        survey.comments = row["eventRemarks"]
        survey.others = others(row, names, but: eventFields)
        return survey
    }

    private static func occurrence(_ row: NamedRows.Row, _ names: [String]) throws(Fault) -> Sighting {
        func fault(_ rule: String) -> Fault { Fault("occurrences, line \(row.line): \(rule)") }
        guard let name = row["scientificName"] else { throw fault("has no scientificName") }
        guard let count = row["individualCount"].flatMap({ Int($0) }), (0...1_000_000).contains(count) else {
            throw fault("individualCount must be 0 to 1000000")
        }
        var sighting = Sighting(species: name, count: count)
        sighting.place = try place(row, fault)
        sighting.comments = row["occurrenceRemarks"]
        sighting.lifeStage = row["lifeStage"]
        sighting.sex = row["sex"]
        sighting.behaviour = row["behavior"]
        sighting.others = others(row, names, but: occurrenceFields)
        return sighting
    }

    private static func place(
        _ row: NamedRows.Row, _ fault: (String) -> Fault
    ) throws(Fault) -> Position? {
        guard row["decimalLatitude"] != nil || row["decimalLongitude"] != nil else { return nil }
        guard let place = Position(text: (row["decimalLatitude"] ?? "") + "," + (row["decimalLongitude"] ?? "")) else {
            throw fault("decimalLatitude and decimalLongitude must be on the globe")
        }
        return place
    }

    private static func others(_ row: NamedRows.Row, _ names: [String], but known: Set<String>) -> [Survey.OtherField] {
        names.filter { !known.contains($0) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .compactMap { name in
                row[name].map { Survey.OtherField(key: name, json: JSONValue.text($0).rendered()) }
            }
    }

    private static func time(_ date: String, _ clock: Substring, _ offsetMin: Int) -> Int64? {
        guard let day = UTC.parse(date), date.utf8.count == 10, clock.utf8.count == 5,
            let sinceMs = UTC.parseClock(clock + ":00")
        else { return nil }
        return day + sinceMs - Int64(offsetMin) * UTC.msPerMinute
    }

    // MARK: Visits and counts

    /// Visits and counts of a monitoring scheme as the R package rbms has them: of a visit the day is known, and a visit
    /// without a count found nothing.
    package static func visits(
        _ visits: NamedRows, counts: NamedRows, _ choices: Choices
    ) throws(Fault) -> [Survey] {
        guard visits.has("SITE_ID", "DATE"), counts.has("SITE_ID", "DATE", "SPECIES", "COUNT") else {
            throw Fault("visits need SITE_ID and DATE; counts SITE_ID, DATE, SPECIES and COUNT")
        }
        let name = choices.site ?? "site"
        var (surveys, places): ([Survey], [String: Int]) = ([], [:])
        for row in visits.rows {
            guard let site = row["SITE_ID"], let date = row["DATE"], VehicleID.isValid("\(name)-\(site)".utf8),
                let start = time(date, "00:00", choices.offsetMin)
            else { throw Fault("visits, line \(row.line): SITE_ID must be an id, DATE like 2000-04-07") }
            guard places.updateValue(surveys.count, forKey: "\(site) \(date)") == nil else {
                throw Fault("visits, line \(row.line): this site was visited that day before")
            }
            var survey = Survey(
                survey: date, site: "\(name)-\(site)", startMs: start, stopMs: start + UTC.msPerDay - 1_000,
                offsetMin: choices.offsetMin)
            survey.surveyProtocol = choices.surveyProtocol
            surveys.append(survey)
        }
        for row in counts.rows {
            guard let place = places["\(row["SITE_ID"] ?? "") \(row["DATE"] ?? "")"] else {
                throw Fault("counts, line \(row.line): there is no such visit")
            }
            guard let species = row["SPECIES"], let count = row["COUNT"].flatMap({ Int($0) }),
                (0...1_000_000).contains(count)
            else { throw Fault("counts, line \(row.line): SPECIES must be given, COUNT be 0 to 1000000") }
            surveys[place].sightings.append(Sighting(species: species, count: count))
        }
        return surveys
    }

    // MARK: A way

    /// The first line of a GeoJSON file.
    package static func way(_ geoJSON: [UInt8]) throws(Fault) -> [Position] {
        let tree: JSONValue
        do throws(JSONValue.Fault) { tree = try JSONValue(geoJSON) } catch { throw Fault("is \(error)") }
        let features = tree["features"]?.items ?? [tree]
        let line = features.lazy.map { $0["geometry"] ?? $0 }.first { $0["type"]?.text == "LineString" }
        guard let points = line?["coordinates"]?.items else { throw Fault("holds no LineString") }
        var way: [Position] = []
        for point in points {
            guard let place = Position(degrees: point[1]?.double, point[0]?.double) else {
                throw Fault("a point of its line is not on the globe")
            }
            way.append(place)
        }
        return way
    }
}
