import App
import Emulators
import Fleet
import Foundation
import Settings
import Telemetry

/// Boxes without machines, so that `drover up --sample` has somebody to poll.
final class SampleBoxes {
    private static let boxes: [(vehicle: String, name: String, scenario: String, index: Int)] = [
        ("north-combine", "Combine, north field", "overheating", 0),
        ("south-combine", "Combine, south field", "leaking-tyre", 0),
        ("hill-tractor", "Tractor on the hill", "lost-gps", 1),
        ("yard-tractor", "Tractor in the yard", "working", 1),
        ("river-sprayer", "Sprayer by the river", "working", 2),
    ]
    static var vehicles: [String] { boxes.map(\.vehicle) }

    private let server: DeviceServer<EmulatedBox>

    init() throws {
        let emulated = try SampleBoxes.boxes.enumerated().map { number, box in
            let path = try Home.directory() + "/Deploy/scenarios/\(box.scenario).yaml"
            let scenario = try Scenario(yaml: Files.read(path), name: path)
            return EmulatedBox(scenario, seed: UInt64(number) + 1, index: box.index)
        }
        server = try DeviceServer(emulated, port: 0, tls: nil)
    }

    func run(log: Log, shouldStop: () -> Bool) {
        do { try server.run(shouldStop: shouldStop) } catch {
            log.error("the boxes without machines have ended", ["error": "\(error)"])
        }
    }

    /// Says on the log where they are now.
    func register(_ settings: Settings) throws {
        let now = Clock.nowMs()
        let actions = SampleBoxes.boxes.enumerated().map { number, box in
            var registration = Action.Registration()
            registration.name = box.name
            registration.tags = ["sample"]
            registration.address = .init(
                host: "127.0.0.1", port: Int32(server.port(of: number)), certificateSHA256: nil)
            return Action(
                id: "a-" + UUID().uuidString.lowercased(), vehicle: VehicleID(box.vehicle)!, ts: now,
                by: "drover up", note: nil, kind: .registration(registration))
        }
        guard try ActionPush(settings: settings).push(actions) || StopFlag.isSet else {
            throw Failure("the worker has not taken the sample's boxes within 10 s; its log says why")
        }
    }
}
