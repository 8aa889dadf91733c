import App
import Basics
import Codecs
import Emulators
import Fleet
import Foundation
import Ingest
import Settings
import Telemetry

/// Cars that drive on the streets of Helsinki for `drover up --sample`, a reading every two seconds, as a gateway would bring them.
/// What a car says at a time is always the same: to say it again changes nothing.
struct SampleDrives {
    private struct Car {
        let vehicle: VehicleID
        let name: String
        let driver: String
        let kind: StreetCar.Kind
        let make: String
        let model: String
    }

    private static let liveS: Int64 = 2
    /// Drives of days gone by need no more, and are brought in faster.
    private static let pastS: Int64 = 5
    private static let pastDays: Int64 = 14
    /// Of the outings of a day gone by one in so many, in hours that people work in, UTC.
    private static let pastOneOf: Int64 = 3
    private static let workingHours = 5..<16

    private static let cars: [Car] = [
        car("post-van-4", "Post van 4", "sample-olli", .van, "Ford", "Transit"),
        car("post-van-7", "Post van 7", "sample-jari", .van, "Ford", "Transit"),
        car("post-van-12", "Post van 12", "sample-pia", .van, "VW", "Transporter"),
        car("courier-2", "Courier van 2", "sample-sami", .van, "Renault", "Kangoo"),
        car("taxi-118", "Taxi ELK-118", "sample-leena", .car, "Skoda", "Superb"),
        car("truck-871", "Truck BTR-871", "sample-antti", .truck, "Volvo", "FL"),
        car("service-van-9", "Service van 9", "sample-outi", .van, "Toyota", "Proace"),
        car("pool-car-5", "Pool car 5", "sample-mia", .car, "Toyota", "Corolla"),
    ]
    static var vehicles: [String] { cars.map(\.vehicle.text) }

    private let settings: Settings
    private let driving: [(car: Car, on: StreetCar)]

    init(_ settings: Settings) throws {
        self.settings = settings
        let streets = try SampleDrives.streets()
        driving = SampleDrives.cars.enumerated().map { number, car in
            (car, StreetCar(streets, kind: car.kind, seed: UInt64(number) + 11))
        }
    }

    static func streets() throws -> Streets {
        let path = try Home.directory() + "/Deploy/sample/streets.json"
        do {
            return try Streets(JSONDecoder().decode(Streets.File.self, from: Data(Files.read(path))))
        } catch let fault as DecodingError {
            throw Failure("\(path): is not as Deploy/generate/streets makes it: \(fault)")
        }
    }

    private static func car(
        _ vehicle: String, _ name: String, _ driver: String, _ kind: StreetCar.Kind, _ make: String, _ model: String
    ) -> Car {
        Car(vehicle: VehicleID(vehicle)!, name: name, driver: driver, kind: kind, make: make, model: model)
    }

    // MARK: What is said once

    /// Who they are, and who has driven them since before their first reading.
    static func register(_ settings: Settings) throws {
        let now = Clock.nowMs()
        let sinceMs = now - (pastDays + 2) * UTC.msPerDay
        let actions = cars.flatMap { car in
            var registration = Action.Registration()
            registration.name = car.name
            registration.model = car.model
            registration.tags = ["sample"]
            var details = Action.Car()
            (details.make, details.fuel) = (car.make, .diesel)
            registration.car = details
            func action(_ what: String, _ ts: Int64, _ kind: Action.Kind) -> Action {
                Action(
                    id: "sample-\(what)-\(car.vehicle.text)", vehicle: car.vehicle, ts: ts, by: "drover up", note: nil,
                    kind: kind)
            }
            return [
                action("registration", sinceMs, .registration(registration)),
                action("assignment", sinceMs, .assignment(driver: car.driver)),
            ]
        }
        guard try ActionPush(settings: settings, topic: Topic.cars).push(actions) || StopFlag.isSet else {
            throw Failure("the worker has not taken the sample's cars within 10 s; its log says why")
        }
    }

    // MARK: Drives

    /// What each has done since it last set out, then what it does from now on, until the process is to stop.
    func live(shouldStop: () -> Bool) throws {
        let importer = try importer()
        var (saidMs, now) = (Int64.min, Clock.nowMs())
        var outings: [VehicleID: (slot: Int64, outing: StreetCar.Outing)] = [:]
        while !shouldStop() {
            for (car, on) in driving {
                let slot = on.slot(at: now)
                if outings[car.vehicle]?.slot != slot { outings[car.vehicle] = (slot, on.outing(slot)) }
                guard let outing = outings[car.vehicle]?.outing else { continue }
                let from = saidMs == .min ? outing.startMs : saidMs
                try push(on.readings(outing, in: from..<max(from, now), everyS: SampleDrives.liveS), of: car, importer)
            }
            try importer.flush()
            saidMs = now
            _ = StopFlag.wait(timeoutMs: Int(SampleDrives.liveS) * 1_000)
            now = Clock.nowMs()
        }
    }

    /// Today until now, then the days before, each from its morning on.
    func past(shouldStop: () -> Bool) throws {
        let (now, importer) = (Clock.nowMs(), try importer())
        let today = UTC.day(of: now)
        for back in 0...SampleDrives.pastDays {
            let day = today - back * UTC.msPerDay
            for (car, on) in driving {
                let slots = on.slot(at: day)...on.slot(at: min(day + UTC.msPerDay, now))
                // The last is the live one's.
                for slot in slots.dropLast()
                where !shouldStop() && SampleDrives.isPast(slot, on, day: day) {
                    let outing = on.outing(slot)
                    try push(
                        on.readings(outing, in: outing.startMs..<now, everyS: SampleDrives.pastS), of: car, importer)
                }
            }
            try importer.flush()
        }
    }

    private static func isPast(_ slot: Int64, _ on: StreetCar, day: Int64) -> Bool {
        let startMs = on.startMs(slot)
        guard startMs >= day, startMs < day + UTC.msPerDay else { return false }
        let hour = Int((startMs - day) / 3_600_000)
        return slot % pastOneOf == 0 && workingHours.contains(hour)
    }

    private func importer() throws -> Importer {
        let kafka = try settings.kafka(clientID: "drover-sample")
        _ = try Topics.ensure(kafka, settings.topicShape)
        return try Importer(kafka, topic: Topic.cars)
    }

    private func push(_ readings: [CarReading], of car: Car, _ importer: Importer) throws {
        for reading in readings { try importer.push(car: car.vehicle, reading, id: "sample-\(reading.ts)") }
    }
}
