import Codecs
import Fleet
import Formats
import Testing

struct ActionTests {
    private static let car = VehicleID("car-1")!

    private static func registration() -> Action.Registration {
        var registration = Action.Registration()
        (registration.name, registration.model, registration.tags) = ("Anna's", "Leon", ["family", "blue"])
        registration.address = Action.Address(host: "10.0.0.7", port: 35_000, certificateSHA256: nil)
        var car = Action.Car()
        (car.vin, car.make, car.year, car.fuel) = ("VSSZZZ5FZHR123456", "Seat", 2017, .gasoline)
        (car.tankMl, car.displacementCc, car.volumetricEfficiencyMilliPct) = (50_000, 1_395, 82_500)
        car.account = "anna"
        registration.car = car
        return registration
    }

    private static func scan() -> Action.HealthScan {
        var scan = Action.HealthScan(request: "a-7", isDone: true, text: "2 trouble codes: P0133, U0100")
        (scan.stored, scan.pending, scan.permanent) = (["P0133"], ["U0100"], [])
        (scan.isLampOn, scan.notReady, scan.vin) = (true, ["catalyst"], "VSSZZZ5FZHR123456")
        scan.freezeFrame = #"{"code":"P0133","speed_kmh":50}"#
        return scan
    }

    private static func weather(_ ts: Int64 = 1_700_000_100_000) -> String {
        var hour = WeatherHour(ts: ts)
        (hour.thousandths[.temperature], hour.thousandths[.windSpeed]) = (-1_500, 3_200)
        let cell = WeatherCell(Position(latitude: 388_987_100, longitude: -770_486_100), sizeMilliDeg: 100)
        let answer = WeatherAnswer(
            source: "openweathermap", model: "timemachine", cell: cell, fetchedMs: 1_700_100_000_000, hour: hour)
        return JSONValue.object(answer.fields).rendered()
    }

    private static func summary() -> Action.TripSummary {
        var summary = Action.TripSummary(fromMs: 1_700_000_000_000)
        (summary.distanceMilliKm, summary.averageSpeedMilliKmh, summary.maxSpeedMilliKmh) = (12_345, 40_500, 90_000)
        (summary.fuelMl, summary.averageMilliMpg, summary.idleMs) = (1_001, 29_000, 61_500)
        (summary.maxCoolantMilliC, summary.sharpAccelerations, summary.sharpBrakings) = (-5_500, 0, 3)
        return summary
    }

    @Test(
        "What drivers and gateways say of cars is read back",
        arguments: [
            .registration(registration()), .tripStart, .tripStop, .tripDiscard(atMs: 1_700_000_000_000),
            .tripTag(atMs: 1_700_000_000_000, tag: "before the chip"), .tripTag(atMs: 1_700_000_000_000, tag: nil),
            .driving(fromMs: 1_700_000_000_000), .assignment(driver: "ben"), .assignment(driver: nil),
            .tripSummary(summary()), .tripSummary(Action.TripSummary(fromMs: 1_700_000_000_000)),
            .scanRequest(untilMs: 1_700_000_060_000), .scan(scan()), .support(pids: ["010C", "010D"]),
            .weather(hourMs: 1_699_999_200_000, answer: weather()), .acknowledgement(alert: "car-1-5-0"),
            .triage(.init(alert: "car-1-5-0", .assigned(to: "ben"))),
            .triage(.init(alert: "car-1-5-0", .assigned(to: nil))),
            .triage(.init(alert: "car-1-5-0", .comment)), .triage(.init(alert: "car-1-5-0", .reopened)),
            .triage(.init(alert: "car-1-5-0", .muted(untilMs: 1_700_003_600_000))),
            .triage(.init(alert: "car-1-5-0", .muted(untilMs: nil))),
        ] as [Action.Kind])
    func readBack(_ kind: Action.Kind) throws {
        let action = Action(
            id: "a-1", vehicle: Self.car, ts: 1_700_000_100_000, by: "anna", note: "a note", kind: kind)
        #expect(try decode(RecordWriter.action(action)) == .action(action))
    }

    @Test func settingsStandInEveryPartition() throws {
        let action = Action(
            id: "a-1", vehicle: nil, ts: 1_700_000_100_000, by: "anna", note: nil,
            kind: .settings(account: "anna", text: #"{"units":"metric"}"#))
        #expect(try decode(RecordWriter.action(action)) == .action(action))
    }

    @Test(
        "What cannot be is refused",
        arguments: [
            (#""kind":"service","engine_hours_h":5"#, "a machine's action on the cars' topic"),
            (#""kind":"registration","fuel":"water""#, "no fuel"),
            (#""kind":"registration","displacement_cc":-1"#, "impossible"),
            (#""kind":"trip_tag","tag":"x""#, "of which trip"),
            (#""kind":"driving","from_ts":1700000200000"#, "ends before it begins"),
            (#""kind":"scan","text":"1 code","stored":["P01"]"#, "no code"),
            (#""kind":"scan","text":"1 code","stored":["P01AG"]"#, "no code"),
            (#""kind":"scan","stored":["P0133"]"#, "says nothing"),
            (#""kind":"scan","text":"1 code","stored":"P0133""#, "codes that are no list"),
            (#""kind":"scan","text":"1 code","not_ready":5"#, "monitors that are no list"),
            (#""kind":"scan","text":"1 code","not_ready":["catalyst",5]"#, "a monitor that is no text"),
            (#""kind":"scan","text":"1 code","lamp":"on""#, "a lamp that is neither on nor off"),
            (#""kind":"scan","text":"1 code","done":1"#, "done, or not"),
            (#""kind":"settings","settings":"{}""#, "whose"),
            (#""kind":"alert_comment","alert":"car-1-5-0""#, "says nothing"),
            (#""kind":"alert_comment","note":"x""#, "of which alert"),
            (#""kind":"alert_mute","alert":"car-1-5-0","until_ts":"x""#, "until when"),
            (#""kind":"alert_assignment","alert":"car-1-5-0","account":"no id""#, "to whom"),
            (#""kind":"trip_summary","from_ts":1700000200000"#, "ends before it begins"),
            (#""kind":"trip_summary","from_ts":1700000000000,"distance_km":-1"#, "impossible"),
            (#""kind":"trip_summary","from_ts":1700000000000,"max_speed_kmh":"90"#, "no number"),
        ])
    func refused(_ fields: String, _ why: String) {
        let record =
            #"{"schema":1,"id":"a-1","vehicle":"car-1","by":"anna","ts":1700000100000,\#(fields)}"#
        #expect(throws: DecodeError.self, "\(why)") { try decode(Array(record.utf8)) }
    }

    @Test(
        "Weather that cannot be is refused",
        arguments: [
            (1_699_999_200_001, weather(), "no full hour"), (1_699_992_000_000, weather(), "of another hour"),
            (1_699_999_200_000, "{}", "no answer"), (1_699_999_200_000, weather(.max), "no time"),
            (1_699_999_200_000, weather(.min), "no time"),
            (1_699_999_200_000, weather().replacing("-1.5", with: "-150"), "colder than it was ever measured"),
            (1_699_999_200_000, weather().replacing("-1.5", with: "\"cold\""), "a text where a number is known"),
            (1_699_999_200_000, weather().replacing("-1.5", with: "true"), "a flag where a number is known"),
            (1_699_999_200_000, weather().replacing("}", with: ",\"x\":1e999999}"), "an unknown number without bounds"),
            (1_699_999_200_000, weather().replacing("}", with: ",\"x\":0e-999999}"), "a zero of too many places"),
        ])
    func refusedWeather(_ hourMs: Int64, _ answer: String, _ why: String) {
        let action = Action(
            id: "a-1", vehicle: Self.car, ts: 1_700_000_100_000, by: "weather", note: nil,
            kind: .weather(hourMs: hourMs, answer: answer))
        #expect(throws: DecodeError.self, "\(why)") { try decode(RecordWriter.action(action)) }
    }

    @Test("What an app hands in is said by the account of its token, whatever it says itself") func uploader() throws {
        let record = #"{"schema":1,"kind":"trip_stop","id":"a-1","vehicle":"car-1","by":"somebody","ts":1700000100000}"#
        let expected = Action(id: "a-1", vehicle: Self.car, ts: 1_700_000_100_000, by: "jo", note: nil, kind: .tripStop)
        #expect(try RecordDecoder().decode(upload: Array(record.utf8), by: "jo") == .action(expected))
        let reading = #"{"schema":1,"kind":"reading","id":"r-1","vehicle":"car-1","ts":1700000100000,"speed_kmh":5}"#
        #expect(try RecordDecoder().decode(upload: Array(reading.utf8), by: "jo") == decode(Array(reading.utf8)))
    }

    private func decode(_ record: [UInt8]) throws(DecodeError) -> Record {
        try RecordDecoder().decode(line: record, isMachine: false)
    }
}
