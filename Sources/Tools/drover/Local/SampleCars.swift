import Alerts
import App
import Emulators
import Fleet
import Foundation
import Settings
import Telemetry

/// Cars' adapters without cars, so that `drover up --sample` has live drives.
final class SampleCars {
    private static let cars: [(vehicle: String, name: String, scenario: String, index: Int)] = [
        ("anna-golf", "Anna's Golf", "town", 3), ("post-van", "Post van", "town", 6),
        ("hot-estate", "Estate that overheats", "overheating", 0),
    ]
    static var vehicles: [String] { cars.map(\.vehicle) }

    private let server: DeviceServer<EmulatedAdapter>

    init() throws {
        let emulated = try SampleCars.cars.enumerated().map { number, car in
            let path = try Home.directory() + "/Deploy/scenarios/cars/\(car.scenario).yaml"
            let scenario = try AdapterScenario(yaml: Files.read(path), name: path)
            return EmulatedAdapter(scenario, seed: UInt64(number) + 1, index: car.index)
        }
        server = try DeviceServer(emulated, port: 0, tls: nil)
    }

    func run(log: Log, shouldStop: () -> Bool) {
        do { try server.run(shouldStop: shouldStop) } catch {
            log.error("the adapters without cars have ended", ["error": "\(error)"])
        }
    }

    /// Says on the log where they are now.
    func register(_ settings: Settings, isNew: Bool) throws {
        let now = Clock.nowMs()
        var actions = SampleCars.cars.enumerated().map { number, car in
            var registration = Action.Registration()
            registration.name = car.name
            registration.tags = ["sample"]
            registration.address = .init(
                host: "127.0.0.1", port: Int32(server.port(of: number)), certificateSHA256: nil)
            var details = Action.Car()
            details.vin = server.devices[number].vin
            details.fuel = .gasoline
            details.displacementCc = 1_984
            details.tankMl = 50_000
            registration.car = details
            return Action(
                id: "a-" + UUID().uuidString.lowercased(), vehicle: VehicleID(car.vehicle)!, ts: now,
                by: "drover up", note: nil, kind: .registration(registration))
        }
        if isNew { actions += SampleCars.unmonitored(now) }
        guard try ActionPush(settings: settings, topic: Topic.cars).push(actions) || StopFlag.isSet else {
            throw Failure("the worker has not taken the sample's cars within 10 s; its log says why")
        }
    }

    /// Anna's Golf has a driver who wants to hear nothing of it: no rule judges it, and pages say so.
    private static func unmonitored(_ now: Int64) -> [Action] {
        func action(_ what: String, _ vehicle: VehicleID?, _ kind: Action.Kind) -> Action {
            Action(id: "sample-\(what)-anna", vehicle: vehicle, ts: now, by: "drover up", note: nil, kind: kind)
        }
        return [
            action("settings", nil, .settings(account: "sample-anna", text: DriverSettings.off.text)),
            action("assignment", VehicleID("anna-golf"), .assignment(driver: "sample-anna")),
        ]
    }
}
