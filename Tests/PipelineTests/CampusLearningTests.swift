import Codecs
import Fleet
import Formats
import Pipeline
import Routing
import Testing

/// What a campus learns, and what it is told about hours and ways, in its decisions.
struct CampusLearningTests {
    private static func asked(_ request: String, _ from: Position) -> RideRecord.Kind {
        .pickup(.init(request: request, rider: "ada", passengers: 1, from: from, to: place(90_000, 90_000)))
    }

    private static func feed(_ kinds: [RideRecord.Kind], decidesFrom: Int64 = 0) throws -> CampusPartition {
        var campuses = CampusPartition(clockMs: 0, decidesFrom: decidesFrom)
        for (offset, kind) in kinds.enumerated() { try take(kind, Int64(offset), &campuses) }
        return campuses
    }

    private static func take(_ kind: RideRecord.Kind, _ offset: Int64, _ campuses: inout CampusPartition) throws {
        let ts = 1_700_000_000_000 + offset
        try campuses.accept(
            RideRecord(id: "x-\(offset)", campus: "c", ts: ts, by: "test", kind: kind), offset: offset, atMs: ts)
    }

    @Test("A request that is taken back or refused counts once, whatever is said afterwards")
    func learnsOnce() throws {
        let spot = place(2_000, 2_000)
        let campuses = try CampusLearningTests.feed([
            .campus(squareCampus), entered("bus", spot),
            CampusLearningTests.asked("r1", spot), .cancel(request: "r1"), .cancel(request: "r1"),
            CampusLearningTests.asked("r1", spot), CampusLearningTests.asked("r2", spot), .override(request: "r2"),
            .override(request: "r2"), entered("other", spot),
            .done(request: "r2", isPickup: true), .done(request: "r2", isPickup: true), .cancel(request: "r2"),
            .override(request: "r2"), .done(request: "r2", isPickup: false),
        ])
        let dispatcher = try #require(campuses.dispatchers["c"])
        let total = dispatcher.learned.likelihoods.total(dispatcher.campus.nowMs)
        // One taken back, one picked up; one refused and one taken, each at both of its places.
        #expect((total.waits - 2).magnitude < 1e-6 && (total.cancelled - 1).magnitude < 1e-6)
        #expect((total.offers - 4).magnitude < 1e-6 && (total.refused - 2).magnitude < 1e-6)
    }

    @Test("A new request costs by what its place has taught")
    func costsWhatWasLearned() throws {
        let spot = place(2_000, 2_000)
        var kinds: [RideRecord.Kind] = [
            .campus(squareCampus),
            entered("bus", place(30_000, 30_000)),
        ]
        for n in 0..<5 { kinds += [CampusLearningTests.asked("r\(n)", spot), .cancel(request: "r\(n)")] }
        kinds.append(CampusLearningTests.asked("last", spot))
        var campuses = try CampusLearningTests.feed(kinds)
        let request = try #require(campuses.dispatchers["c"]?.campus.ride("last")?.request)
        // Five of five, and ten trials of the campus's mean: five of five and twenty.
        #expect((request.cancelLikelihood - (5 + 10 * 5.0 / 25) / 15).magnitude < 1e-6)
        #expect(request.overrideLikelihood == 0)
        let why = try JSONValue(Array(try #require(campuses.drainChanges().decisions.last).why.utf8))
        let choice = why["steps"]?[0]?["choices"]?[0]
        let likelihood = try #require(choice?["cancel_likelihood"]?.double)
        #expect((likelihood - request.cancelLikelihood).magnitude < 1e-6)
        // Half a second for each second of driving to the pickup, times the likelihood; none to the drop-off.
        let option = try #require(choice?["options"]?[0])
        let toPickup = try #require(option["legs"]?[0]?["s"]?.double)
        #expect((try #require(option["cancel_s"]?.double) - 0.5 * toPickup * likelihood).magnitude < 0.002)
        #expect(option["legs_estimated"]?.integer == 2 && why["measured_by"]?.isNull == true)
    }

    @Test("What an hour says decides once: equal values and late ones decide nothing")
    func hours() throws {
        func hour(_ number: Int64, _ surge: Int64, _ speed: Int64?) -> RideRecord.Kind {
            .hour(
                .init(
                    startMs: 1_700_000_000_000 + (number - 3) * 3_600_000, surge: surge, speedKmh: speed, weather: nil))
        }
        var heavier = squareCampus
        heavier.numbers[.wait] = 2_000
        var campuses = try CampusLearningTests.feed([
            .campus(squareCampus), hour(1, 1_250, 10_000), hour(1, 1_250, 10_000),
            hour(2, 1_250, 10_000), hour(1, 9_000, 1_000), .surge(thousandths: 1_250), .surge(thousandths: 1_500),
            .campus(heavier),
        ])
        let dispatcher = try #require(campuses.dispatchers["c"])
        #expect(dispatcher.campus.rules.weights.surge == 1.5 && dispatcher.campus.rules.weights.wait == 2)
        // 10 km/h and a detour of 1.3.
        #expect((dispatcher.campus.travel.secondsPerMetre - 0.468).magnitude < 1e-9)
        #expect(campuses.drainChanges().decisions.map(\.offset) == [1, 6, 7])
        // An hour to come, from a clock that is off by one: nobody is too late for it afterwards.
        try CampusLearningTests.take(hour(4, 9_000, 1_000), 8, &campuses)
        #expect(campuses.dispatchers["c"]!.campus.rules.weights.surge == 1.5)
        try CampusLearningTests.take(hour(3, 1_000, nil), 9, &campuses)
        #expect((campuses.dispatchers["c"]!.campus.travel.secondsPerMetre - 0.234).magnitude < 1e-9)
    }

    @Test("Ways on the log are used, and told; a replay asks nobody")
    func measured() throws {
        let (near, far) = (place(1_000, 1_000), place(150_000, 150_000))
        let (from, to) = (place(2_000, 2_000), place(90_000, 90_000))
        let ways: [Int64?] = [900_000, nil, 5_000, nil, nil, 60_000, nil, nil]
        var campuses = try CampusLearningTests.feed([
            .campus(squareCampus), entered("near", near),
            entered("far", far),
            .travel(.init(source: "roads", from: [near, far, from, to], to: [from, to], ms: ways)),
            CampusLearningTests.asked("r", from),
        ])
        #expect(campuses.dispatchers["c"]?.rides["r"]?.vehicle == "far")
        let why = try JSONValue(Array(try #require(campuses.drainChanges().decisions.last).why.utf8))
        #expect(why["measured_by"]?.text == "roads" && why["measured_places"]?.integer == 4)
        let legs = why["steps"]?[0]?["choices"]?[0]?["options"]?[0]?["legs"]
        #expect(legs?[0]?["s"]?.double == 5 && legs?[1]?["s"]?.double == 60)
        #expect(legs?[1]?["measured"] == .bool(true))
    }

    @Test("A decision on the log that does not fit is made anew, and says so")
    func anew() throws {
        let near = place(1_000, 1_000)
        var campuses = try CampusLearningTests.feed(
            [
                .campus(squareCampus), entered("near", near),
                CampusLearningTests.asked("r", near), .decision(offset: 1, text: "expired=", why: "{}"),
                .decision(offset: 2, text: "expired=|gone=1p 1d", why: #"{"by":"another world"}"#),
            ], decidesFrom: .max)
        #expect(campuses.dispatchers["c"]?.rides["r"]?.vehicle == "near" && campuses.decidedAnew == 1)
        let last = try #require(campuses.drainChanges().decisions.last)
        let why = try JSONValue(Array(last.why.utf8))
        #expect(!last.isNew && why["steps"]?[0]?["made_anew"] == .bool(true) && last.text.contains("near=1p 1d"))
    }

    @Test(
        "Hostile ways, hours and tables are refused",
        arguments: [
            #""kind":"travel","source":"s","from":"1,1","to":"2,2","ways_ms":"-1""#,
            #""kind":"travel","source":"s","from":"1,1","to":"2,2","ways_ms":"1 2""#,
            #""kind":"travel","source":"s","from":"1,1","to":"2,2","ways_ms":"99999999999999999999""#,
            #""kind":"travel","source":"s","from":"1,1","to":"2,2","ways_ms":null"#,
            #""kind":"travel","source":"","from":"1,1","to":"2,2","ways_ms":"1""#,
            #""kind":"travel","source":"s","from":"91,1","to":"2,2","ways_ms":"1""#,
            #""kind":"travel","source":"s","to":"2,2","ways_ms":"1""#,
            #""kind":"surge","surge":1,"hour_ts":1"#, #""kind":"surge","surge":-1,"hour_ts":1700000000000"#,
            #""kind":"surge","surge":1,"hour_ts":1700000000000,"speed_kmh":0"#,
            #""kind":"surge","surge":1,"hour_ts":1700000000000,"weather":"rain""#,
            #""kind":"campus","name":"c","boundary":"1,1 2,2 1,2","speeds_kmh":"0-23 20""#,
            #""kind":"campus","name":"c","boundary":"1,1 2,2 1,2","surge_rain":"1 99""#,
            #""kind":"campus","name":"c","boundary":"1,1 2,2 1,2","time_zone":7"#,
        ])
    func hostile(_ fields: String) {
        let text = #"{"schema":1,"id":"x","campus":"c","ts":1700000000000,"# + fields + "}"
        #expect(throws: DecodeError.self) {
            try unsafe TickOrRecord(Array(text.utf8), key: Array("c".utf8), RideRecords.decode)
        }
    }
}
