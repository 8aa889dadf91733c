import Codecs
import Fleet
import Formats
import Pipeline
import Routing
import Testing

/// A campus on the log: decisions are taken from it where they stand there, and made only behind its end.
struct CampusPartitionTests {
    /// The near vehicle would get it.
    private static let day: [RideRecord.Kind] = [
        .campus(squareCampus), entered("near", place(1_000, 1_000)), entered("far", place(150_000, 150_000)),
        .pickup(
            .init(request: "r", rider: "ada", passengers: 1, from: place(2_000, 2_000), to: place(90_000, 90_000))),
    ]
    private static func record(_ kind: RideRecord.Kind, _ offset: Int64) -> RideRecord {
        RideRecord(id: "x-\(offset)", campus: "c", ts: 1_700_000_000_000 + offset, by: "test", kind: kind)
    }
    private static func feed(
        _ kinds: [RideRecord.Kind], decidesFrom: Int64, decisionsAtOnce: Int = .max
    ) throws -> CampusPartition {
        var campuses = CampusPartition(clockMs: 0, decidesFrom: decidesFrom, decisionsAtOnce: decisionsAtOnce)
        for (offset, kind) in kinds.enumerated() {
            try campuses.accept(
                record(kind, Int64(offset)), offset: Int64(offset), atMs: 1_700_000_000_000 + Int64(offset))
        }
        return campuses
    }

    @Test("Behind the end of the log it is decided here")
    func decidesHere() throws {
        var campuses = try CampusPartitionTests.feed(CampusPartitionTests.day, decidesFrom: 0)
        #expect(campuses.dispatchers["c"]?.rides["r"]?.vehicle == "near" && campuses.waitsFrom == nil)
        let changes = campuses.drainChanges()
        #expect(changes.decisions.map(\.offset) == [1, 2, 3] && changes.decisions.allSatisfy { $0.isNew })
    }

    @Test(
        "A decision from the log whose reasons no report could read is refused, and made here",
        arguments: [
            "", "no JSON", "[]", #"{"steps":5}"#, #"{"steps":[{"moved":[{"pickup":"tomorrow"}]}]}"#,
            #"{"steps":[{"moved":{}}]}"#, #"{"steps":[{"choices":[{"options":1}]}]}"#,
            #"{"steps":[{"choices":[{"options":[{"growth_s":"much"}]}]}]}"#,
            #"{"steps":[{"choices":[{"options":[{"legs_measured":1.5}]}]}]}"#,
            #"{"steps":[{"choices":[{"options":[{"proven":1}]}]}]}"#, #"{"weights":{"surge":"x"}}"#,
            #"{"x":1e999999}"#, #"{"x":1,"x":2}"#, "{\"x\":\"\\u0000\"}",
        ])
    func refusesReasons(_ why: String) throws {
        var campuses = CampusPartition(clockMs: 0, decidesFrom: 3)
        for (offset, kind) in CampusPartitionTests.day.prefix(2).enumerated() {
            try campuses.accept(
                CampusPartitionTests.record(kind, Int64(offset)), offset: Int64(offset), atMs: 1_700_000_000_000)
        }
        #expect(throws: DecodeError.keyMissing("why")) {
            try campuses.accept(
                CampusPartitionTests.record(.decision(offset: 1, text: "expired=", why: why), 2), offset: 2,
                atMs: 1_700_000_000_000)
        }
    }

    @Test("Before it nothing is decided: the records wait, and a replay begins with them again")
    func waits() throws {
        var campuses = try CampusPartitionTests.feed(CampusPartitionTests.day, decidesFrom: .max)
        #expect(campuses.dispatchers["c"]?.vehicles.isEmpty == true && campuses.waitsFrom == 1)
        #expect(campuses.drainChanges().decisions.isEmpty)
    }

    @Test("What waited can be decided piece by piece, each with the place where the next owner would begin")
    func goesOn() throws {
        var whole = try CampusPartitionTests.feed(CampusPartitionTests.day, decidesFrom: 4)
        var campuses = try CampusPartitionTests.feed(CampusPartitionTests.day, decidesFrom: 4, decisionsAtOnce: 1)
        var places = [campuses.waitsFrom]
        var decisions = campuses.drainChanges().decisions
        while campuses.canGoOn {
            campuses.goOn()
            let changes = campuses.drainChanges()
            #expect(changes.decisions.count == 1)
            decisions += changes.decisions
            places.append(campuses.waitsFrom)
        }
        #expect(places == [2, 3, nil])
        let expected = whole.drainChanges().decisions
        #expect(decisions.map(\.offset) == expected.map(\.offset) && decisions.map(\.text) == expected.map(\.text))
        #expect(campuses.dispatchers["c"]?.rides["r"]?.vehicle == "near")
    }

    @Test("What the log says was decided is taken, also where it would be decided otherwise now")
    func takesWhatWasDecided() throws {
        let decided: [RideRecord.Kind] = [
            .decision(offset: 1, text: "expired=", why: "{}"), .decision(offset: 2, text: "expired=", why: "{}"),
            .decision(offset: 3, text: "expired=|far=1p 1d", why: #"{"by":"an older Drover"}"#),
        ]
        var campuses = try CampusPartitionTests.feed(CampusPartitionTests.day + decided, decidesFrom: .max)
        #expect(campuses.dispatchers["c"]?.rides["r"]?.vehicle == "far" && campuses.waitsFrom == nil)
        let last = campuses.drainChanges().decisions.last
        #expect(last?.offset == 3 && last?.isNew == false && last?.why == #"{"by":"an older Drover"}"#)
    }

    @Test("When the log's end is reached without a decision nobody has made one")
    func decidesAtTheEnd() throws {
        let campuses = try CampusPartitionTests.feed(CampusPartitionTests.day, decidesFrom: 4)
        #expect(campuses.dispatchers["c"]?.rides["r"]?.vehicle == "near")
    }

    @Test("A pickup for which there are not enough seats leaves its reason with the ride until it counts")
    func noSeats() throws {
        func pickup(_ request: String, _ passengers: Int) -> RideRecord.Kind {
            .pickup(
                .init(
                    request: request, rider: "of-\(request)", passengers: passengers,
                    from: place(2_000, 2_000), to: place(90_000, 90_000)))
        }
        let full: [RideRecord.Kind] = [
            .campus(squareCampus), entered("bus", place(1_000, 1_000)),
            pickup("a", 3), pickup("b", 2), .done(request: "a", isPickup: true), .done(request: "b", isPickup: true),
        ]
        var campuses = try CampusPartitionTests.feed(full, decidesFrom: 0)
        let refused = campuses.dispatchers["c"]?.rides["b"]
        #expect(refused?.state == .assigned && refused?.reason == DispatchFault.noSeat.rawValue)
        #expect(campuses.drainChanges().told.last?.ride == refused, "who follows the ride is told, too")
        // Said again it is no news.
        campuses = try CampusPartitionTests.feed(full + [.done(request: "b", isPickup: true)], decidesFrom: 0)
        #expect(campuses.drainChanges().told.count { $0.ride.reason != nil } == 1)
        campuses = try CampusPartitionTests.feed(
            full + [.done(request: "a", isPickup: false), .done(request: "b", isPickup: true)], decidesFrom: 0)
        let taken = campuses.dispatchers["c"]?.rides["b"]
        #expect(taken?.state == .onBoard && taken?.reason == nil)
    }

    @Test("A campus that goes by its records' times asks neither ticks nor when they were pushed")
    func recordTime() throws {
        var ground = squareCampus
        ground.numbers = [.recordTime: 1_000, .queueS: 600_000, .silenceS: 3_600_000]
        let start: Int64 = 1_600_000_000_000
        let said: [(RideRecord.Kind, Int64)] = [
            (.campus(ground), 0), (CampusPartitionTests.day[3], 1_000), (.clock, 601_000), (.clock, 601_001),
        ]
        // Pushed at once, or over a year: with ticks of today between them.
        for stepMs in [0, 7_884_000_000] as [Int64] {
            var campuses = CampusPartition(clockMs: 0, decidesFrom: 0)
            for (offset, (kind, afterMs)) in said.enumerated() {
                let record = RideRecord(id: "x-\(offset)", campus: "c", ts: start + afterMs, by: "", kind: kind)
                let pushedMs = 1_700_000_000_000 + Int64(offset) * stepMs
                try campuses.accept(record, offset: Int64(offset) * 2, atMs: pushedMs)
                campuses.tick(pushedMs, offset: Int64(offset) * 2 + 1)
                if offset == 2 { #expect(campuses.dispatchers["c"]?.rides["r"]?.state == .queued) }
            }
            // The same day again, and the same ground as it is said today.
            for (offset, (kind, afterMs)) in said.enumerated() {
                let isGround = offset == 0
                let ts = isGround ? 1_900_000_000_000 : start + afterMs
                let record = RideRecord(id: "y-\(offset)", campus: "c", ts: ts, by: "", kind: kind)
                try campuses.accept(record, offset: Int64(offset) + 100, atMs: 1_900_000_000_000)
            }
            let changes = campuses.drainChanges()
            #expect(changes.told.count == 2, "in line, and given up")
            let ride = changes.rides.values.first
            #expect(ride?.state == .expired && ride?.requestedMs == start + 1_000 && ride?.endedMs == start + 601_001)
        }
    }

    @Test("Every kind of record is read as it was written")
    func roundTrip() throws {
        let person = RideRecord.Person(name: "Ada \"A\" Ö", photo: "photos/ada.jpg")
        var pickup = RideRecord.Pickup(
            request: "r", rider: "ada", passengers: 3, from: place(1, 2),
            to: place(3, -4))
        (pickup.fromAddress, pickup.description) = ("Gate 1", "two bags")
        var ground = squareCampus
        ground.numbers = [.speedKmh: 25_500, .staleS: 120_000, .iterations: 100_000, .likelihoodDays: 7_000]
        ground.tables = [.speedsKmh: "0-24 20.5", .surgeRain: "0.5 1.1, 2.5 1.25"]
        ground.timeZone = "America/New_York"
        ground.places = ["Main \"gate\"", "Über, 1,2 – 図書館"].compactMap { CampusPlace(name: $0, place: place(9, -9)) }
        (ground.placesVersion, ground.placesBase) = (7, 6)
        let cell = WeatherCell(place(1, 2), sizeMilliDeg: 100)
        var hour = WeatherHour(ts: 1_700_000_000_000)
        hour.thousandths = [.precipitation: 1_200]
        let weather = WeatherAnswer(
            source: "open-meteo", model: "forecast", cell: cell, fetchedMs: 1_700_000_000_000, hour: hour)
        let kinds: [RideRecord.Kind] = [
            .campus(ground), .profile(rider: "ada", person: person), .pickup(pickup), .cancel(request: "r"),
            .override(request: "r"), .done(request: "r", isPickup: true), .done(request: "r", isPickup: false),
            entered("bus", place(5, 6)), .outOfService(vehicle: "bus"),
            .breakdown(vehicle: "bus"), .end(request: "r", .init(role: .rider, reason: "ill")),
            .handOver(request: "r", .init(role: .rideDriver, reason: "a flat tyre")),
            .position(vehicle: "bus", place: place(7, 8), speedMmPerS: 1_500),
            .position(vehicle: "bus", place: place(7, 8), speedMmPerS: nil), .riderSign(rider: "ada"),
            .vehicleSign(vehicle: "bus"), .clock, .surge(thousandths: 1_250),
            .hour(.init(startMs: 1_700_000_000_000, surge: 1_300, speedKmh: 18_000, weather: nil)),
            .hour(
                .init(
                    startMs: 1_700_000_000_000, surge: 1_300, speedKmh: nil,
                    weather: JSONValue.object(weather.fields).rendered())),
            .travel(
                .init(
                    source: "roads/driving", from: [place(1, 2), place(3, -4)],
                    to: [place(5, 6)], ms: [61_250, nil])),
            .decision(offset: 7, text: "expired=a|bus=1p 1d", why: "{}"),
        ]
        for kind in kinds {
            let record = CampusPartitionTests.record(kind, 9)
            let bytes = RideRecords.encode(record)
            let read = try unsafe TickOrRecord(bytes, key: Array("c".utf8), RideRecords.decode)
            #expect(read == .record(record))
        }
    }

    @Test(
        "A change of places leaves all else, settings leave the places, and what was made from older places is refused")
    func places() throws {
        let gate = try #require(CampusPlace(name: "Gate", place: place(9, 9)))
        var named = squareCampus
        named.numbers = [.staleS: 1_000]
        (named.places, named.placesBase) = ([gate], 0)
        var late = named
        late.places = []
        var faster = squareCampus
        faster.numbers = [.speedKmh: 30_000]
        var campuses = try CampusPartitionTests.feed(
            CampusPartitionTests.day + [.campus(named), .campus(late), .campus(faster)], decidesFrom: 0)
        let stands = try #require(campuses.dispatchers["c"]?.settings)
        #expect(stands.places == [gate] && stands.placesVersion == 1 && stands.placesBase == nil)
        #expect(stands.numbers == faster.numbers)
        // Whatever a record told as the number of changes, the next one counts.
        var last = squareCampus
        last.placesVersion = .max
        #expect(last.changed(by: named).places == nil)
        named.placesBase = .max
        #expect(last.changed(by: named).places == [gate])
        // Of names there is nothing to decide.
        #expect(campuses.drainChanges().decisions.map(\.offset) == [1, 2, 3, 6])
    }

    @Test("A place that cannot be read is passed over, and its campus stands")
    func placesUnread() throws {
        let text = "38.9,-77.0 Gate\\n91,0 Nowhere\\nx\\n38.9,-77.0  \\n38.9,-77.0 Library"
        let json =
            #"{"schema":1,"kind":"campus","id":"x","campus":"c","ts":1700000000000,"name":"C","#
            + #""boundary":"38.9,-77 38.91,-77 38.91,-76.9","places":""# + text + #""}"#
        let read = try unsafe TickOrRecord(Array(json.utf8), key: Array("c".utf8), RideRecords.decode)
        guard case .record(let record) = read, case .campus(let settings) = record.kind else {
            Issue.record("no campus")
            return
        }
        #expect(settings.places?.map(\.name) == ["Gate", "Library"])
        #expect(
            CampusPlace(name: "two\nlines", place: place(0, 0)) == nil
                && CampusPlace(name: " ", place: place(0, 0)) == nil)
    }

    @Test("The plane of a campus agrees with the great circle to a tenth of a per mille")
    func plane() throws {
        let area = try #require(CampusArea(boundary: squareCampus.boundary))
        let (a, b) = (place(10_000, 20_000), place(180_000, 150_000))
        let (p, q) = (area.point(a), area.point(b))
        let metres = ((p.xM - q.xM) * (p.xM - q.xM) + (p.yM - q.yM) * (p.yM - q.yM)).squareRoot()
        #expect((metres / a.metres(to: b) - 1).magnitude < 1e-4 && area.position(p) == a)
        #expect(area.metresOutside(area.point(place(100_000, 100_000))) == 0)
        // 0.005° north of the northern edge.
        let outside = area.metresOutside(area.point(place(250_000, 100_000)))
        #expect((outside / 555.975 - 1).magnitude < 1e-4)
    }
}
