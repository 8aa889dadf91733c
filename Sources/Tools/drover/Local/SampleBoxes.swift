import App
import Basics
import Codecs
import Emulators
import Fleet
import Formats
import Foundation
import Ingest
import Settings
import Telemetry

/// Boxes without machines, so that `drover up --sample` has somebody to poll.
final class SampleBoxes {
    /// - Parameter sinceService: engine hours since its last one, when the sample begins; of fifty that are between two.
    private static let boxes: [(vehicle: String, name: String, sinceService: Int64)] = [
        ("north-combine", "Combine, north field", 12), ("south-combine", "Combine, long acre", 31),
        ("hill-tractor", "Tractor on the hill", 47), ("yard-tractor", "Tractor in the yard", 53),
        ("river-sprayer", "Sprayer by the river", 8),
    ]
    /// It has no box any more that answers.
    private static let silent = (vehicle: "old-tractor", name: "Old tractor")
    static var vehicles: [String] { boxes.map(\.vehicle) }
    static var machines: [String] { vehicles + [silent.vehicle] }

    /// The north combine's coolant goes past 95 °C within a minute of the sample's first start.
    private static let leadMs: Int64 = 232 * 60_000

    private let server: DeviceServer<EmulatedBox>

    /// - Parameter startMs: of the sample in this data folder: what a box has said it says again.
    init(startMs: Int64) throws {
        let path = try Home.directory() + "/Deploy/sample/farm.yaml"
        let scenario = try Scenario(yaml: Files.read(path), name: path)
        let emulated = try SampleBoxes.boxes.enumerated().map { number, box in
            guard let index = scenario.box(of: box.vehicle) else { throw Failure("\(path): has no \(box.vehicle)") }
            return EmulatedBox(
                scenario, seed: UInt64(number) + 1, index: index, startMs: startMs - SampleBoxes.leadMs)
        }
        server = try DeviceServer(emulated, port: 0, tls: nil)
    }

    func run(log: Log, shouldStop: () -> Bool) {
        do { try server.run(shouldStop: shouldStop) } catch {
            log.error("the boxes without machines have ended", ["error": "\(error)"])
        }
    }

    /// Says on the log where they are now, and once when they were last serviced.
    func register(_ settings: Settings, isNew: Bool) throws {
        let now = Clock.nowMs()
        var actions = SampleBoxes.boxes.enumerated().map { number, box in
            var registration = Action.Registration()
            registration.name = box.name
            registration.tags = ["sample"]
            registration.address = .init(
                host: "127.0.0.1", port: Int32(server.port(of: number)), certificateSHA256: nil)
            return Action(
                id: "a-" + UUID().uuidString.lowercased(), vehicle: VehicleID(box.vehicle)!, ts: now,
                by: "drover up", note: nil, kind: .registration(registration))
        }
        if isNew { actions += services(now) + [SampleBoxes.oldRegistration(now)] }
        guard try ActionPush(settings: settings).push(actions) || StopFlag.isSet else {
            throw Failure("the worker has not taken the sample's boxes within 10 s; its log says why")
        }
    }

    private func services(_ now: Int64) -> [Action] {
        SampleBoxes.boxes.enumerated().compactMap { number, box in
            let device = server.devices[number]
            let reading = device.reading(device.newest(atMs: now))
            return reading.values[.engineHours].map { hours in
                Action(
                    id: "sample-service-\(box.vehicle)", vehicle: VehicleID(box.vehicle)!,
                    ts: now - box.sinceService * 3 * 3_600_000, by: "Green Dealer", note: "oil, filters",
                    kind: .service(atHours: hours - box.sinceService * 1_000))
            }
        }
    }

    private static func oldRegistration(_ now: Int64) -> Action {
        var registration = Action.Registration()
        registration.name = silent.name
        registration.model = "8R Tractor"
        registration.tags = ["sample"]
        return Action(
            id: "sample-registration-\(silent.vehicle)", vehicle: VehicleID(silent.vehicle)!, ts: now, by: "drover up",
            note: nil, kind: .registration(registration))
    }

    /// The last words of the one that is silent, two days ago.
    static func pushLast(_ settings: Settings, startMs: Int64) throws {
        let kafka = try settings.kafka(clientID: "drover-sample")
        _ = try Topics.ensure(kafka, settings.topicShape)
        let importer = try Importer(kafka, topic: Topic.machines)
        let vehicle = VehicleID(silent.vehicle)!
        for minute in 0..<30 as Range<Int64> {
            let ts = startMs - 2 * UTC.msPerDay - (30 - minute) * 60_000
            let fields: [JSONValue.Field] = [
                ("schema", .integer(1)), ("kind", .text("reading")), ("id", .text("sample-\(ts)")),
                ("vehicle", .text(silent.vehicle)), ("model", .text("8R Tractor")), ("ts", .integer(ts)),
                ("coolant_c", .integer(70 + minute / 3)), ("hydraulic_oil_c", .integer(44)),
                ("fuel_level_gal", .integer(96 - minute / 10)), ("engine_hours_h", .integer(7_412)),
                ("tire_pressure_kpa", .integer(80)), ("gps_available", .bool(true)),
                ("latitude_deg", .number("60.36254")), ("longitude_deg", .number("25.20774")),
            ]
            try importer.push(machine: vehicle, json: Array(JSONValue.object(fields).rendered().utf8))
        }
        try importer.finish(tickMs: Clock.nowMs())
    }
}
