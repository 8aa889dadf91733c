import Basics
import Codecs
import Fleet
import Foundation
import SimKit
import Surveys
import Testing

/// 2021-06-15 11:00 to 12:00 by clocks an hour ahead of UTC.
private func survey(_ change: (inout Survey) -> Void = { _ in }) -> Survey {
    let start = UTC.parse("2021-06-15T11:00:00+01:00")!
    var survey = Survey(survey: "s1", site: "a", startMs: start, stopMs: start + 3_600_000, offsetMin: 60)
    survey.surveyProtocol = "pollard-walk"
    survey.weather.temperatureC = 18_000
    survey.weather.windBeaufort = 2
    survey.weather.isRaining = false
    change(&survey)
    return survey
}

private let england = Position(latitude: 520_000_000, longitude: -10_000_000)

private func answer(_ hour: Int64, fetched: Int64 = 1, _ values: [WeatherQuantity: Int64] = [:]) -> WeatherAnswer {
    var told = WeatherHour(ts: hour)
    told.thousandths = values
    return WeatherAnswer(
        source: "open-meteo", model: "archive", cell: WeatherCell(england, sizeMilliDeg: 100), fetchedMs: fetched,
        hour: told)
}

struct ProtocolGateTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let expected: ProtocolGate.Verdict
        let reason: String?
        let change: @Sendable (inout Survey) -> Void
        var testDescription: String { name }
        init(
            _ name: String, _ expected: ProtocolGate.Verdict, _ reason: String? = nil,
            _ change: @escaping @Sendable (inout Survey) -> Void
        ) { (self.name, self.expected, self.reason, self.change) = (name, expected, reason, change) }
    }

    @Test(arguments: [
        Case("warm and calm", .within) { _ in },
        Case("cold", .outside, "12.9 °C (surveyors), at least 13 is wanted") { $0.weather.temperatureC = 12_900 },
        Case("upland", .unknown, "the sunshine is not known, and it was not above 17 °C") {
            ($0.weather.temperatureC, $0.isUpland) = (12_900, true)
        },
        Case("dull", .outside, "59.9 % sunshine (surveyors), at least 60 is wanted up to 17 °C") {
            ($0.weather.temperatureC, $0.weather.sunPct) = (17_000, 59_900)
        },
        Case("clouds stand in", .within, "sunshine is derived from the clouds (surveyors)") {
            ($0.weather.temperatureC, $0.weather.cloudCoverPct) = (15_000, 40_000)
        },
        Case("rain", .outside, "it rained (surveyors)") { $0.weather.isRaining = true },
        Case("storm", .outside, "Beaufort 6 (surveyors), at most 5 is wanted") { $0.weather.windBeaufort = 6 },
        Case("measured wind goes before the scale", .within) {
            ($0.weather.windSpeedMps, $0.weather.windBeaufort) = (10_799, 9)
        },
        Case("wind", .outside, "wind of 10.8 m/s (surveyors), less than 10.8 is wanted (Beaufort 5)") {
            $0.weather.windSpeedMps = 10_800
        },
        Case("no wind told", .unknown, "the wind is not known") { $0.weather.windBeaufort = nil },
        Case("no rain told", .unknown, "whether it rained is not known") { $0.weather.isRaining = nil },
        Case("early", .outside, "it was not walked between 10:45 and 15:45") { $0.startMs -= 900_001 },
        Case("at a quarter to eleven", .within) { $0.startMs -= 900_000 },
        Case("late", .outside, "it was not walked between 10:45 and 15:45") { $0.stopMs += 13_500_001 },
        Case("at a quarter to four", .within) { $0.stopMs += 13_500_000 },
        Case("last day", .within) { shift(&$0, toDay: "2021-09-29") },
        Case("after the last day", .outside, "it was not walked in the 26 weeks from 1 April") {
            shift(&$0, toDay: "2021-09-30")
        },
        Case("first day", .within) { shift(&$0, toDay: "2021-04-01") },
        Case("before the first day", .outside) { shift(&$0, toDay: "2021-03-31") },
    ])
    func judges(_ c: Case) throws {
        let survey = survey(c.change)
        let gate = try #require(ProtocolGate(survey, place: england, service: []))
        #expect(gate.verdict == c.expected)
        if let reason = c.reason { #expect(gate.reasons == [reason]) }
    }

    private static func shift(_ survey: inout Survey, toDay day: String) {
        let start = UTC.parse(day + "T11:00:00+01:00")!
        (survey.startMs, survey.stopMs) = (start, start + 3_600_000)
    }

    @Test func otherProtocolsHaveNoRules() {
        #expect(ProtocolGate(survey { $0.surveyProtocol = nil }, place: england, service: []) == nil)
        #expect(ProtocolGate(survey { $0.surveyProtocol = "casual" }, place: england, service: []) == nil)
    }

    @Test func theSouthHasNoSeason() {
        let winter = survey { ProtocolGateTests.shift(&$0, toDay: "2021-01-15") }
        #expect(ProtocolGate(winter, place: england, service: [])?.verdict == .outside)
        for latitude: Int32 in [350_000_000, 0, -33_000_000, -450_000_000] {
            let place = Position(latitude: latitude, longitude: 0)
            #expect(ProtocolGate(winter, place: place, service: [])?.verdict == .within)
        }
        #expect(ProtocolGate(winter, place: nil, service: [])?.verdict == .unknown)
    }

    /// Against the rules said a second time, as one condition, over a grid of weather.
    @Test func agreesWithTheRulesAsOneCondition() {
        let temperatures: [Int64?] = [nil, 10_900, 11_000, 12_999, 13_000, 17_000, 17_001]
        let suns: [Int64?] = [nil, 0, 59_999, 60_000, 100_000]
        let winds: [Int64?] = [nil, 0, 10_799, 10_800]
        for temperature in temperatures {
            for sun in suns {
                for clouds in [nil, 0, 40_000, 40_001] as [Int64?] {
                    for wind in winds {
                        for rain in [nil, false, true] {
                            for upland in [false, true] {
                                let survey = survey {
                                    $0.weather = Survey.OwnWeather()
                                    $0.weather.temperatureC = temperature
                                    $0.weather.sunPct = sun
                                    $0.weather.cloudCoverPct = clouds
                                    $0.weather.windSpeedMps = wind
                                    $0.weather.isRaining = rain
                                    $0.isUpland = upland
                                }
                                let shine = sun ?? clouds.map { 100_000 - $0 }
                                var isBad = rain == true
                                if let temperature, temperature < (upland ? 11_000 : 13_000) { isBad = true }
                                if let wind, wind >= 10_800 { isBad = true }
                                if let temperature, temperature <= 17_000, let shine, shine < 60_000 { isBad = true }
                                var isKnown = temperature != nil && rain != nil && wind != nil
                                if let temperature, temperature <= 17_000, shine == nil { isKnown = false }
                                let gate = ProtocolGate(survey, place: england, service: [])
                                let expected: ProtocolGate.Verdict = isBad ? .outside : isKnown ? .within : .unknown
                                #expect(gate?.verdict == expected)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func theServiceFillsWhatSurveyorsLeftOpen() {
        let bare = survey { $0.weather = Survey.OwnWeather() }
        let hours = [
            answer(0, [.temperature: 14_000, .windSpeed: 3_000, .cloudCover: 20_000, .precipitation: 0]),
            answer(1, [.temperature: 16_000, .windSpeed: 5_000, .cloudCover: 40_000, .precipitation: 99]),
        ]
        let gate = ProtocolGate(bare, place: england, service: hours)
        #expect(gate?.verdict == .within)
        #expect(gate?.reasons == ["sunshine is derived from the clouds (service)"])
        let wet = hours + [answer(2, [.precipitation: 100])]
        #expect(ProtocolGate(bare, place: england, service: wet)?.reasons.first == "it rained (service)")
    }
}

struct ISOWeekTests {
    /// Foundation's calendar is another implementation.
    @Test func agreesWithTheCalendar() {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = TimeZone(identifier: "UTC")!
        for day in stride(from: Int64(-98_000), to: 47_000, by: 1) {
            guard day % 17 == 0 || (0..<6_000).contains(day) else { continue }
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let parts = calendar.dateComponents([.yearForWeekOfYear, .weekOfYear], from: date)
            let week = ISOWeek(day: day)
            guard week.year == parts.yearForWeekOfYear, week.week == parts.weekOfYear else {
                Issue.record("day \(day): \(week), the calendar says \(parts)")
                return
            }
            if !(week.monday...week.monday + 6).contains(day) { Issue.record("\(day) is not in \(week)") }
        }
    }
}

struct FlightCurveTests {
    /// The area below the line through the weekly means, summed up in small steps.
    private func area(_ visits: [FlightCurve.Visit]) -> Double {
        var sums: [Int: (Double, Double)] = [:]
        for visit in visits {
            let old = sums[visit.week] ?? (0, 0)
            sums[visit.week] = (old.0 + Double(visit.individuals), old.1 + 1)
        }
        let weeks = sums.keys.sorted()
        guard let first = weeks.first, let last = weeks.last else { return 0 }
        let steps = 64
        var total = 0.0
        for step in 0..<(last - first) * steps {
            let x = Double(first) + (Double(step) + 0.5) / Double(steps)
            let left = weeks.last { Double($0) <= x }!
            let right = weeks.first { Double($0) > x }!
            let (a, b) = (sums[left]!.0 / sums[left]!.1, sums[right]!.0 / sums[right]!.1)
            total += a + (b - a) * (x - Double(left)) / Double(right - left)
        }
        return total / Double(steps)
    }

    @Test func smallCurves() {
        #expect(FlightCurve([]).index == 0)
        let curve = FlightCurve(
            [(14, 0), (15, 3), (15, 5), (17, 2), (18, 0)].map { FlightCurve.Visit(week: $0.0, individuals: $0.1) })
        #expect(curve.weeks.map(\.meanCount) == [0, 4, 2, 0])
        #expect(curve.weeks.map(\.visits) == [1, 2, 1, 1])
        #expect(curve.index == 2 + 6 + 1)
        #expect(curve.meanWeek == 94.0 / 6)
    }

    @Test func agreesWithSmallSteps() {
        var chance = SeededChance(seed: 3)
        for _ in 0..<300 {
            let visits = (0..<chance.below(40)).map { _ in
                FlightCurve.Visit(week: Int(chance.below(53)) + 1, individuals: Int(chance.below(100)))
            }
            #expect(abs(FlightCurve(visits).index - area(visits)) < 1e-6)
        }
    }

    @Test(.enabled(if: Repository.hasShared("pollard-walk-rbms"), "../shared/data is not there"))
    func agreesOnRealVisits() throws {
        func rows(_ name: String) throws -> [[Substring]] {
            try String(contentsOf: Repository.shared.appending(path: "pollard-walk-rbms/\(name)"), encoding: .utf8)
                .split(whereSeparator: \.isNewline).dropFirst().map { $0.split(separator: ",") }
        }
        var counts: [String: Int] = [:]
        for row in try rows("m_count.csv") where row[2] == "2" {
            counts["\(row[0]) \(row[1])", default: 0] += Int(row[6])!
        }
        var visits: [String: [FlightCurve.Visit]] = [:]
        for row in try rows("m_visit.csv") {
            let week = ISOWeek(day: UTC.parse(String(row[1]))! / UTC.msPerDay)
            visits["\(row[0]) \(week.year)", default: []].append(
                FlightCurve.Visit(week: week.week, individuals: counts["\(row[0]) \(row[1])"] ?? 0))
        }
        #expect(visits.count > 100)
        var flown = 0
        for (key, visits) in visits {
            let index = FlightCurve(visits).index
            if index > 0 { flown += 1 }
            #expect(abs(index - area(visits)) < 1e-6, "\(key)")
        }
        #expect(flown > 20)
    }
}

struct PlaceTests {
    /// By the spherical law of cosines, which is another formula.
    private func metres(_ a: Position, _ b: Position) -> Double {
        func radians(_ stored: Int32) -> Double { Double(stored) * 1e-7 * .pi / 180 }
        let cosine =
            sin(radians(a.latitude)) * sin(radians(b.latitude))
            + cos(radians(a.latitude)) * cos(radians(b.latitude)) * cos(radians(a.longitude) - radians(b.longitude))
        return acos(max(-1, min(1, cosine))) * 6_371_008.8
    }

    @Test func aBlurredPlaceIsTheCellsAndCoversIt() {
        var chance = SeededChance(seed: 5)
        for _ in 0..<5_000 {
            let place = Position(
                latitude: Int32(chance.below(1_800_000_001) - 900_000_000),
                longitude: Int32(chance.below(3_600_000_000) - 1_800_000_000))
            let blurred = BlurredPlace(place)
            #expect(metres(place, blurred.place) <= Double(blurred.uncertaintyM) + 1)
            #expect(BlurredPlace(blurred.place) == blurred)
            #expect(blurred.uncertaintyM < 7_900)
        }
        let near = (BlurredPlace(Position(latitude: -33_780_000, longitude: 399_880_000)))
        #expect(near.place == Position(latitude: -33_500_000, longitude: 399_500_000))
        #expect(near == BlurredPlace(Position(latitude: -33_999_999, longitude: 399_000_000)))
    }

    @Test func aWalkIsMeasured() {
        let points = [(52.0, -1.0), (52.001, -1.0), (52.001, -1.002)].map {
            Position(latitude: Int32(($0.0 * 1e7).rounded()), longitude: Int32(($0.1 * 1e7).rounded()))
        }
        let walk = Walk(survey { $0.waypoints = points.map { Survey.Waypoint(place: $0, atMs: nil) } })
        let length = metres(points[0], points[1]) + metres(points[1], points[2])
        #expect(abs(walk.distanceM! - length) < 0.1)
        let pace = length / 3_600
        #expect(abs(walk.paceMps! - pace) < 1e-4)
        #expect(try! Polyline.decode(walk.line!) == points)
        #expect(walk.place == points[0])

        let sections = [1_000, 2_500].map { Survey.Section(section: "x", distanceMm: $0, habitat: nil) }
        #expect(Walk(survey { $0.sections = sections }).distanceM == 3.5)
        let open = sections + [Survey.Section(section: "y", distanceMm: nil, habitat: nil)]
        #expect(Walk(survey { $0.sections = open }) == Walk(survey()))
        #expect(Walk(survey { ($0.sections, $0.stopMs) = (sections, $0.startMs) }).paceMps == nil)
    }
}

struct TaxonNameTests {
    private func entry(_ kind: TaxonName.Kind, _ taxon: String, sensitive: Bool = false) -> TaxonName.Entry {
        TaxonName.Entry(kind: kind, taxon: taxon, accepted: "name of \(taxon)", isSensitive: sensitive)
    }

    @Test func namesAreFolded() {
        #expect(TaxonName.folded("  Papilio \u{A0} DEMODOCUS\t") == "papilio demodocus")
        #expect(TaxonName.folded("Ä Ö") == "ä ö")
    }

    @Test func theBetterKindOfNameCounts() {
        #expect(
            TaxonName.match("x", [entry(.common, "3"), entry(.synonym, "2"), entry(.accepted, "1")])
                == TaxonMatch(name: "name of 1", taxon: "1"))
        #expect(
            TaxonName.match("x", [entry(.common, "3"), entry(.synonym, "2", sensitive: true)])
                == TaxonMatch(name: "name of 2", taxon: "2", isSensitive: true))
        #expect(
            TaxonName.match("X y", [entry(.common, "3", sensitive: true), entry(.common, "2")])
                == TaxonMatch(
                    name: "X y", taxon: nil, isSensitive: true,
                    reviewReason: "the name stands for 2 taxa: name of 2, name of 3"))
        #expect(
            TaxonName.match("X y", [])
                == TaxonMatch(name: "X y", taxon: nil, reviewReason: "the name is not in the taxonomy"))
    }
}

struct SurveyHistoryTests {
    private func record(_ id: String, _ kind: SurveyRecord.Kind) -> SurveyRecord {
        SurveyRecord(id: id, site: "a", ts: 1_700_000_000_000, account: "club", by: id, kind: kind)
    }
    private func review(_ id: String, _ basedOn: Int) -> SurveyRecord {
        record(id, .reviewed(survey { $0.comments = id }, basedOn: basedOn, note: nil))
    }

    @Test func theFirstSubmissionCounts() {
        var history = SurveyHistory()
        #expect(history.apply(record("1", .submitted(survey())), offset: 1) == .taken)
        let known = history
        #expect(history.apply(record("2", .submitted(survey())), offset: 2) == .repeated)
        #expect(
            history.apply(record("3", .submitted(survey { $0.route = "x" })), offset: 3) == .refused(.surveyDiffers))
        #expect(history == known)
    }

    @Test func aReviewFollowsItsVersion() {
        var history = SurveyHistory()
        _ = history.apply(record("1", .submitted(survey())), offset: 1)
        #expect(history.apply(review("r1", 0), offset: 2) == .taken)
        #expect(history.apply(review("r1", 0), offset: 3) == .repeated)
        #expect(history.apply(review("r2", 0), offset: 4) == .refused(.reviewOutdated(basedOn: 0)))
        #expect(history.apply(review("r3", 1), offset: 5) == .taken)
        #expect(history.apply(review("r4", 500), offset: 6) == .refused(.reviewOutdated(basedOn: 500)))
        #expect(history.versions.map(\.id) == ["1", "r1", "r3"])
    }

    /// What a merged log may hold: any order of one submission, its reviews and its weather ends in the same rows.
    @Test func anyOrderEndsAlike() {
        let hour = SurveyHours.start(of: survey().startMs)
        func weather(_ id: String, _ answers: [WeatherAnswer]) -> SurveyRecord {
            record(id, .weather(survey: "s1", answers: answers.map(\.text)))
        }
        let records = [
            record("1", .submitted(survey())), review("r1", 0), review("r2", 1), review("r3", 2),
            weather("w1", [answer(hour, fetched: 5, [.temperature: 20_000]), answer(hour + 3_600_000, fetched: 5)]),
            weather("w2", [answer(hour, fetched: 9, [.temperature: 21_000])]),
            weather("w3", [answer(hour, fetched: 9, [.temperature: 22_000])]),
        ]
        func fold(_ records: [SurveyRecord]) -> FoldedSurvey? {
            var history = SurveyHistory()
            for record in records { _ = history.apply(record, offset: 0) }
            return FoldedSurvey(history) { TaxonMatch(name: $0, taxon: nil) }
        }
        let expected = fold(records)
        #expect(expected?.version == 3)
        #expect(expected?.weather.map { $0.hour.thousandths[.temperature] } == [22_000, nil])
        #expect(expected?.weatherMissing == 0)
        var chance = SeededChance(seed: 11)
        for _ in 0..<500 {
            let shuffled = (records + [records[Int(chance.below(7))]]).shuffled(using: &chance)
            #expect(fold(shuffled) == expected)
        }
    }

    @Test func sightingsTakeTheWeatherOfTheirHour() {
        let hour = SurveyHours.start(of: survey().startMs)
        var history = SurveyHistory()
        let long = survey {
            $0.stopMs = $0.startMs + 2 * 3_600_000
            $0.weather.temperatureC = nil
            $0.sightings = (0..<4).map { index in
                var sighting = Sighting(species: "x \(index % 2)", count: index)
                sighting.atMs = index == 0 ? nil : hour + Int64(index) * 3_600_000 + 1_000
                return sighting
            }
            $0.surveyors = [("a", "novice"), ("b", "Expert"), ("c", "keen")].map { name, expertise in
                var person = Survey.Surveyor(name: name, role: .observer)
                person.expertise = expertise
                return person
            }
            $0.waypoints = [Survey.Waypoint(place: england, atMs: nil)]
        }
        _ = history.apply(record("1", .submitted(long)), offset: 1)
        let told = (0..<3).map { answer(hour + $0 * 3_600_000, [.temperature: 20_000 + $0]) }
        _ = history.apply(record("2", .weather(survey: "s1", answers: told.map(\.text))), offset: 2)
        let folded = FoldedSurvey(history) {
            TaxonMatch(name: $0, taxon: $0 == "x 0" ? "1" : nil, reviewReason: $0 == "x 0" ? nil : "new")
        }
        #expect(folded?.sightings.map { $0.weather?.hour.thousandths[.temperature] } == [20_000, 20_001, 20_002, nil])
        #expect(folded?.individuals == 6)
        #expect(folded?.needsReview == true)
        #expect(folded?.expertise == "Expert")
        #expect(folded?.weatherMissing == 0)
        #expect(folded?.gate?.verdict == .within)
    }
}
