import Basics
import Codecs
import Fleet

/// Invented walks of butterfly transects in Helsinki for `drover up --sample`: species, seasons and numbers are plausible for the city, and
/// each walk says that it is invented. What a walk says is the same for a data folder, so that to say it again changes nothing.
struct SampleWalks {
    struct Site {
        let site, name, habitat: String
        /// The transect's line, latitude and longitude in degrees.
        let line: [(Double, Double)]
        /// Meadows, forests, shores, parks, heaths: what lives there.
        let kinds: Set<Kind>
        /// Walked by the surveyor whom one can be, else by the club.
        let isSannas: Bool
    }

    enum Kind { case meadow, wood, shore, park, heath }

    /// When a species flies, in days of the year with the spread of it, and how many a walk meets at the peak.
    struct Species {
        let name: String
        let flights: [(day: Double, spread: Double, count: Double)]
        let kinds: Set<Kind>
        let behaviour: Sighting.Behaviour
    }

    struct Walk {
        let survey: Survey
        let isSannas: Bool
        let temperatureC: Int64
    }

    static let account = "sample-sanna"
    static let club = "sample-club"
    static let note = "Invented for the sample."
    private static let zone: (offsetMin: Int, startHour: Int64) = (180, 11)
    /// Two whole seasons at least.
    private static let pastDays: Int64 = 800

    /// - Parameter startMs: when the sample of the data folder began.
    static func all(startMs: Int64) -> [Walk] {
        let last = UTC.day(of: startMs) - UTC.msPerDay
        let first = last - pastDays * UTC.msPerDay
        var walks: [Walk] = []
        for day in stride(from: first, to: last, by: Int(UTC.msPerDay)) {
            let days = day / UTC.msPerDay
            let year = UTC.civil(days: days).year
            let dayOfYear = Int(days - UTC.days(year: year, month: 1, day: 1)) + 1
            // The season of the scheme, from mid April to the end of September.
            guard (106...272).contains(dayOfYear) else { continue }
            for (number, site) in sites.enumerated() where (days + Int64(number)) % 7 == 0 {
                walks.append(walk(site, dayMs: day, dayOfYear: dayOfYear, seed: UInt64(days) &* 31 &+ UInt64(number)))
            }
        }
        return walks
    }

    // MARK: A walk

    private static func walk(_ site: Site, dayMs: Int64, dayOfYear: Int, seed: UInt64) -> Walk {
        var chance = SplitMix64(seed: SplitMix64.mixed(seed))
        let offsetMs = Int64(zone.offsetMin) * 60_000
        let startMs = dayMs + zone.startHour * 3_600_000 - offsetMs + Int64(chance.below(90)) * 60_000
        let stopMs = startMs + Int64(38 + chance.below(30)) * 60_000
        var survey = Survey(
            survey: UTC.dateText(dayMs), site: site.site, startMs: startMs, stopMs: stopMs, offsetMin: zone.offsetMin)
        survey.siteName = site.name
        survey.surveyProtocol = "pollard-walk"
        survey.comments = note
        var surveyor = Survey.Surveyor(name: site.isSannas ? "Sanna Vuori" : "Walker of the club", role: .recorder)
        surveyor.expertise = site.isSannas ? "experienced" : nil
        survey.surveyors = [surveyor]
        let path = site.line.compactMap { Position(degrees: $0.0, $0.1) }
        survey.waypoints = path.enumerated().map { number, place in
            Survey.Waypoint(
                place: place, atMs: startMs + (stopMs - startMs) * Int64(number) / Int64(max(1, path.count - 1)))
        }
        survey.sections = zip(path, path.dropFirst()).enumerated().map { number, ends in
            Survey.Section(
                section: String(number + 1), distanceMm: Int64(ends.0.metres(to: ends.1) * 1_000),
                habitat: number == 0 ? site.habitat : nil)
        }
        // Warmest in mid July.
        let season = 21 - (Double(dayOfYear) - 197).magnitude * 0.085
        let temperatureC = Int64((season + chance.unit() * 6 - 2).rounded())
        survey.weather.temperatureC = temperatureC * 1_000
        survey.weather.sunPct = Int64(40 + chance.below(61)) * 1_000
        survey.weather.windBeaufort = 1 + chance.below(4)
        survey.weather.isRaining = false
        survey.sightings = sightings(site, survey, path, dayOfYear: dayOfYear, isWarm: temperatureC >= 15, &chance)
        return Walk(survey: survey, isSannas: site.isSannas, temperatureC: temperatureC)
    }

    private static func sightings(
        _ site: Site, _ survey: Survey, _ path: [Position], dayOfYear: Int, isWarm: Bool, _ chance: inout SplitMix64
    ) -> [Sighting] {
        var found: [Sighting] = []
        for one in species where !one.kinds.isDisjoint(with: site.kinds) {
            let mean = one.flights.reduce(0.0) { sum, flight in
                let away = (Double(dayOfYear) - flight.day) / flight.spread
                return sum + flight.count * SampleWalks.bell(away)
            }
            let count = number(mean * (isWarm ? 1.1 : 0.5), &chance)
            guard count > 0 else { continue }
            var sighting = Sighting(species: one.name, count: count)
            let section = chance.below(path.count - 1)
            sighting.section = String(section + 1)
            sighting.place = between(path[section], path[section + 1], chance.unit())
            sighting.uncertaintyM = 10
            let length = Double(survey.stopMs - survey.startMs)
            let share = (Double(section) + chance.unit()) / Double(path.count - 1)
            sighting.atMs = survey.startMs + Int64(length * share) / 60_000 * 60_000
            sighting.certainty = .certain
            if chance.below(3) > 0 { sighting.behaviour = one.behaviour.rawValue }
            found.append(sighting)
        }
        return found.sorted { ($0.atMs ?? 0, $0.species) < ($1.atMs ?? 0, $1.species) }
    }

    /// The shape of a season: 1 at its peak, nothing far away.
    private static func bell(_ away: Double) -> Double {
        guard away.magnitude < 2.5 else { return 0 }
        let square = 1 - away * away / 6.25
        return square * square * square
    }

    /// A count around that mean: a chance for each further animal until the mean is used up.
    private static func number(_ mean: Double, _ chance: inout SplitMix64) -> Int {
        var (left, count) = (mean, 0)
        while left > 0, chance.unit() < min(1, left) {
            count += 1
            left -= 0.4 + chance.unit() * 0.9
        }
        return count
    }

    private static func between(_ from: Position, _ to: Position, _ share: Double) -> Position {
        Position(
            latitude: from.latitude + Int32(Double(to.latitude - from.latitude) * share),
            longitude: from.longitude + Int32(Double(to.longitude - from.longitude) * share))
    }
}
