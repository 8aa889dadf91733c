import Codecs
import Emulators
import Settings
import SimKit
import Testing

struct EmulatedAdapterTests {
    private static let now: Int64 = 1_789_344_000_000

    private func adapter(_ yaml: String, seed: UInt64 = 1, index: Int = 0) throws -> EmulatedAdapter {
        EmulatedAdapter(
            try AdapterScenario(yaml: Array("adapters:\n  a:\n    \(yaml)\n".utf8), name: "t"), seed: seed, index: index
        )
    }

    @Test(
        "The scenarios of cars that ship load",
        arguments: try! Repository.names("Deploy/scenarios/cars", ending: ".yaml"))
    func shipped(_ name: String) throws {
        let yaml = try Repository.bytes("Deploy/scenarios/cars/\(name)")
        #expect(try !AdapterScenario(yaml: yaml, name: name).groups.isEmpty)
    }

    @Test func itSaysTheSameAtTheSameTimeAndDrivesLikeACar() throws {
        let (one, same, other) = (try adapter("weight: 1"), try adapter("weight: 1"), try adapter("weight: 1", seed: 2))
        var (differs, fastest, speeds): (Int, Int, [Int]) = (0, 0, [])
        for second in Int64(0)..<3_600 {
            let ts = Self.now + second * 1_000
            let speed = Int(one.data(0x0D, atMs: ts)![0])
            #expect(one.data(0x0D, atMs: ts) == same.data(0x0D, atMs: ts))
            differs += one.data(0x0D, atMs: ts) == other.data(0x0D, atMs: ts) ? 0 : 1
            // A car of its kind changes its speed by 3 m/s² at most.
            if let last = speeds.last { #expect(abs(speed - last) <= 11) }
            fastest = max(fastest, speed)
            speeds.append(speed)
        }
        #expect(differs > 1_800 && fastest > 90 && speeds.contains(0) && one.vin != other.vin && one.vin.count == 17)
    }

    @Test("What it prints, the decoder of the gateway reads") func decoded() throws {
        let adapter = try adapter("values.coolant_c: 91\n    values.voltage_v: 13.8\n    stored: P0133 U0100")
        var (talk, received, chance) = (adapter.newTalk(), Array("0105\r".utf8), SystemRandomNumberGenerator())
        func said(_ command: String) -> [UInt8] {
            received = Array((command + "\r").utf8)
            let steps = adapter.steps(for: &received, &talk, isBusy: false, atMs: Self.now, chance: &chance)
            let bytes = steps.flatMap { step in if case .send(let bytes) = step { bytes } else { [UInt8]() } }
            #expect(bytes.last == 0x3E && received.isEmpty)
            return bytes.dropLast()
        }
        #expect(String(decoding: said("ATZ"), as: UTF8.self).contains("ELM327"))
        func value(_ request: OBDRequest) throws -> String? {
            try ELMReply.answers(said(request.text), to: request).first?.values(of: request).first?.text
        }
        #expect(try value(.current(0x05)) == "91")
        #expect(try value(.current(0x42)) == "13.8")
        #expect(try ELMReply.answers(said("03"), to: .storedCodes)[0].troubleCodes().map(\.text) == ["P0133", "U0100"])
        #expect(try ELMReply.answers(said("0902"), to: .vin)[0].vin() == adapter.vin)
        #expect(throws: ELMFault.said(.noData)) { try ELMReply.answers(said("015E"), to: .current(0x5E)) }
    }

    @Test func faultsOfAScenarioAreAllSaid() {
        let yaml = """
            adapters:
              a:
                peer: nice
                stored: X0133
                pids: 0G
                ignition: always
                values:
                  speed: 4
            cars: 3
            """
        #expect { try AdapterScenario(yaml: Array(yaml.utf8), name: "t") } throws: {
            ($0 as? SettingsError)?.faults.count == 6
        }
    }
}
