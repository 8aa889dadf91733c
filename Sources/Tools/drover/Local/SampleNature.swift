import App
import Basics
import Codecs
import Crypto
import Fleet
import Formats
import Foundation
import Ingest
import Postgres
import Settings
import Storage
import Surveys
import Telemetry
import Web

/// Surveys of butterflies and a published trail tour for `drover up --sample`, so that sightings, species and tours have something to show.
struct SampleNature {
    private let settings: Settings
    private let startMs: Int64
    /// Its presence says that the walks and the tour are in.
    private let marker: String
    private let log: Log

    /// - Parameter again: the embedded broker lost something: all of it is said again.
    init(_ settings: Settings, data: String, startMs: Int64, again: Bool, log: Log) {
        (self.settings, self.startMs, self.log) = (settings, startMs, log)
        marker = data + "/sample-nature"
        if again { try? FileManager.default.removeItem(atPath: marker) }  // Not there is what is wanted.
    }

    func bringIn(shouldStop: () -> Bool) throws {
        guard !FileManager.default.fileExists(atPath: marker) else { return }
        try pushWalks()
        guard !shouldStop() else { return }
        try publishTour()
        // Without the marker the next start says all of it again, which changes nothing.
        _ = FileManager.default.createFile(atPath: marker, contents: nil)
    }

    // MARK: Surveys

    private func pushWalks() throws {
        let importer = try importer(of: Topic.sightings)
        let walks = SampleWalks.all(startMs: startMs)
        for walk in walks {
            let site = VehicleID(walk.survey.site)!
            try importer.push(site: site, json: SurveyRecords.encode(SampleNature.submission(walk)))
            try importer.push(site: site, json: SurveyRecords.encode(SampleNature.weather(walk)))
        }
        try importer.finish(tickMs: Clock.nowMs())
        let receipts = walks.filter(\.isSannas).map { walk in
            SampleSurveyStore.Receipt(
                site: walk.survey.site, survey: walk.survey.survey,
                digest: Secrets.sha256(Array(SurveyText.encode(walk.survey).rendered().utf8)),
                receivedMs: SampleNature.sentMs(walk))
        }
        try SampleSurveyStore.put(receipts, of: SampleWalks.account, on: owner())
    }

    private static func sentMs(_ walk: SampleWalks.Walk) -> Int64 { walk.survey.stopMs + 15 * 60_000 }

    private static func submission(_ walk: SampleWalks.Walk) -> SurveyRecord {
        let account = walk.isSannas ? SampleWalks.account : SampleWalks.club
        return SurveyRecord(
            id: "sample-\(walk.survey.survey)", site: walk.survey.site, ts: sentMs(walk), account: account,
            by: account, kind: .submitted(walk.survey))
    }

    /// As invented as the walk: no service is asked about it.
    private static func weather(_ walk: SampleWalks.Walk) -> SurveyRecord {
        let cell = WeatherCell(walk.survey.waypoints[0].place, sizeMilliDeg: 100)
        let answers = SurveyHours.of(walk.survey).map { hourMs in
            var hour = WeatherHour(ts: hourMs)
            hour.thousandths = [
                .temperature: walk.temperatureC * 1_000, .windSpeed: 2_500, .cloudCover: 30_000, .precipitation: 0,
            ]
            return WeatherAnswer(
                source: "sample", model: "invented", cell: cell, fetchedMs: sentMs(walk), hour: hour
            ).text
        }
        return SurveyRecord(
            id: "sample-weather-\(walk.survey.survey)", site: walk.survey.site, ts: sentMs(walk),
            account: SampleWalks.club, by: "drover up", kind: .weather(survey: walk.survey.survey, answers: answers))
    }

    // MARK: The tour

    private func publishTour() throws {
        let base = try PageRole.baseMap(settings, Home.assets(), log: log)
        defer { base.stop() }
        let stops = try SampleTour.publish(
            by: "sample-petri", base: base, assets: Home.assets(), on: owner())
        let importer = try importer(of: Topic.tours)
        for event in SampleNature.visits(stops, startMs: startMs) {
            try importer.push(tour: VehicleID(event.tour)!, json: TourRecords.encode(event))
        }
        try importer.finish(tickMs: Clock.nowMs())
    }

    /// Of the four weeks before: each visitor downloads the tour and goes on for some of its stops.
    private static func visits(_ stops: [String], startMs: Int64) -> [TourEvent] {
        var chance = SplitMix64(seed: 7)
        return (0..<28 as Range<Int64>).flatMap { day -> [TourEvent] in
            let dayMs = UTC.day(of: startMs) - (day + 1) * UTC.msPerDay
            return (0..<1 + chance.below(5)).flatMap { visitor -> [TourEvent] in
                let beginMs = dayMs + (7 + Int64(chance.below(8))) * 3_600_000
                let kinds: [TourEvent.Kind] =
                    [.download] + stops.prefix(1 + chance.below(stops.count)).map { .visit(waypoint: $0) }
                return kinds.enumerated().map { number, kind in
                    TourEvent(
                        id: "sample-\(day)-\(visitor)-\(number)", tour: SampleTour.id, version: 1,
                        ts: beginMs + Int64(number) * 13 * 60_000, offsetMin: 180, kind: kind)
                }
            }
        }
    }

    // MARK: Where it goes

    private func importer(of topic: String) throws -> Importer {
        let kafka = try settings.kafka(clientID: "drover-sample")
        _ = try Topics.ensure(kafka, settings.topicShape)
        return try Importer(kafka, topic: topic)
    }

    private func owner() throws -> Connection {
        let owner = try Connection(conninfo: settings.text("postgres.owner_url"))
        try AuditLog.sign("drover up", on: owner)
        return owner
    }
}
