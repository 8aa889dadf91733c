internal import Basics
package import Codecs
internal import Crypto
internal import Fleet

/// A box without a machine. What it says at a time is a function of scenario, seed and that time.
package struct EmulatedBox: Sendable {
    package let group: BoxGroup
    package let serial: String
    let scenario: Scenario
    private let seed: UInt64
    private let startMs: Int64?

    /// Values of boxes of all scenarios, unless the scenario says otherwise.
    static let standard: [String: Wave] = [
        "engine_running": .constant(1_000), "gps_available": .constant(1_000), "rda_license": .constant(1_000),
        "wdt_license": .constant(1_000), "machine_sync": .constant(1_000), "last_reprogramming_ok": .constant(1_000),
        "engine_hours_h": Wave("1000 to 1500 over 30000 min")!, "engine_turn_on_count": .constant(800_000),
        "key_turn_on_count": .constant(1_500_000), "fuel_level_gal": Wave("150 to 90 over 600 min")!,
        "coolant_c": Wave("72 .. 80 over 30 min")!, "hydraulic_oil_c": Wave("44 .. 50 over 30 min")!,
        "tire_pressure_kpa": .constant(0), "connected_devices": .constant(1_000), "gps_fix_ts": .constant(0),
        "last_cell_call_in_ts": Wave("0 to 1440 over 1440 min")!, "last_reprogramming_ts": .constant(90_000_000),
    ]
    /// The recommended pressures of the thresholds, kPa.
    private static let tirePressure = ["S690 Combine": 193, "R4038 Sprayer": 441]
    private static let tirePressureStandard = 80

    /// - Parameter startMs: when its waves begin; nil: some time.
    package init(_ scenario: Scenario, seed: UInt64, index: Int, startMs: Int64? = nil) {
        self.scenario = scenario
        group = scenario.group(ofBox: index)
        self.seed = SplitMix64.mixed(seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
        self.startMs = startMs
        serial = "EMU-" + String(self.seed % 1_000_000_000_000, radix: 36, uppercase: true)
    }

    private func chance(_ purpose: UInt64) -> UInt64 { SplitMix64.mixed(seed &+ purpose) }

    package func newest(atMs now: Int64) -> Int64 { now / scenario.intervalMs }
    func oldest(atMs now: Int64) -> Int64 { max(1, newest(atMs: now) - scenario.memory + 1) }

    package func reading(_ sequence: Int64) -> MTGReading {
        let ts = sequence * scenario.intervalMs
        var reading = MTGReading(sequence: sequence, ts: ts)
        reading.serial = serial
        reading.model = group.model
        reading.firmware = group.firmware
        reading.machineID = "ID-" + serial.dropFirst(4)
        reading.isEngineRunning = value("engine_running", ts) >= 500
        for parameter in MachineParameter.ofBox {
            let value = value(parameter.row.key, ts)
            reading.values[parameter] =
                switch parameter.row.kind {
                case .number: value
                case .flag: value >= 500 ? 1 : 0
                case .count: value / 1_000
                case .time: ts - value * 60
                }
        }
        if reading.values[.gpsAvailable] == 1 {
            let place =
                group.field?.place(atMs: ts)
                ?? Position(
                    latitude: 416_000_000 + Int32(chance(1) % 1_000_000),
                    longitude: -936_000_000 + Int32(chance(2) % 1_000_000))
            (reading.latitude, reading.longitude) = (place.latitude, place.longitude)
        } else {
            reading.values[.gpsFixTime] = nil
        }
        reading.connectedDevices = reading.values[.connectedDevices] == 0 ? [] : ["StarFire 6000"]
        return reading
    }

    private func value(_ key: String, _ ts: Int64) -> Int64 {
        if key == "tire_pressure_kpa", group.values[key] == nil {
            return Int64(EmulatedBox.tirePressure[group.model] ?? EmulatedBox.tirePressureStandard) * 1_000
        }
        let wave = group.values[key] ?? EmulatedBox.standard[key]!
        guard let startMs else { return wave.value(atMs: ts, shift: Int64(chance(3) % 1_000)) }
        // Of times before it began, too: a box has a memory.
        return wave.value(atMs: ts - startMs + wave.periodMs * 1_000, shift: 0)
    }

    /// The key of the debug log.
    package var debugLogKey: [UInt8] { (10..<42).map { UInt8(truncatingIfNeeded: chance($0)) } }

    private func debugLog(atMs now: Int64) -> [UInt8] {
        var text = ""
        for sequence in oldest(atMs: now)...newest(atMs: now) {
            let level = chance(UInt64(sequence)) % 50 == 0 ? "WARN modem: no carrier" : "INFO reading \(sequence) kept"
            text += "\(UTC.text(sequence * scenario.intervalMs)) \(level)\n"
        }
        return Array(text.utf8)
    }

    private static let debugLogPageBytes = 32_768

    /// - Parameter isProven: whether a debug log's proof is right.
    package func answer(_ request: MTGRequest, atMs now: Int64, challenge: [UInt8], isProven: Bool) -> MTGAnswer {
        switch request {
        case .reading: return .reading(reading(newest(atMs: now)))
        case .backlog(let after, let most):
            let newest = newest(atMs: now)
            let first = max(after + 1, oldest(atMs: now))
            guard first <= newest else { return .backlog(newest: newest, []) }
            return .backlog(newest: newest, (first...min(newest, first + Int64(most) - 1)).map { reading($0) })
        case .challenge: return .challenge(challenge)
        case .debugLog(let from, _):
            guard isProven else { return .refused(.proofWrong) }
            let log = debugLog(atMs: now)
            let rest = log.dropFirst(Int(min(from, Int64(log.count)))).prefix(EmulatedBox.debugLogPageBytes)
            return .debugLog(from: from, total: Int64(log.count), Array(rest))
        }
    }

    func steps(for answer: MTGAnswer) -> [WireStep] {
        var bytes = answer.encoded(structureBytes: group.structureBytes)
        switch group.peer {
        case .answers: return [.send(bytes)]
        case .silent: return []
        case .closes: return [.send(Array(bytes.prefix(bytes.count / 2))), .close]
        case .truncated: return [.send(bytes.dropLast(20))]
        case .slow: return bytes.flatMap { [.send([$0]), .pause(ms: 250)] }
        case .endless: return [.send(bytes), .endless(bytes)]
        case .wrongLength:
            // Too short, too long, beyond all limits: one for each kind of box.
            let length: [UInt8] = [[10, 0, 0, 0], [0, 8, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]][Int(chance(4) % 3)]
            bytes.replaceSubrange(4..<8, with: length)
            return [.send(bytes)]
        case .random: return [.send((100..<4_196).map { UInt8(truncatingIfNeeded: chance($0)) })]
        }
    }
}

extension EmulatedBox: EmulatedDevice {
    package var cutAfterBytes: Int { group.cutAfterBytes }

    package struct Talk {
        /// Good for the next request.
        var challenge: [UInt8]?
    }

    package func newTalk() -> Talk { Talk() }

    package func steps(
        for received: inout [UInt8], _ talk: inout Talk, isBusy: Bool, atMs now: Int64,
        chance: inout SystemRandomNumberGenerator
    ) -> [WireStep] {
        var steps: [WireStep] = []
        do throws(MTGError) {
            while let (frame, count) = try MTGFrame.first(of: received, contentMax: MTGFrame.requestBytesMax) {
                received.removeFirst(count)
                let request = try MTGRequest(frame)
                steps += self.steps(for: answer(request, &talk, atMs: now, chance: &chance))
            }
        } catch {
            // As a box does: it hangs up on what it does not understand.
            steps.append(.close)
        }
        return steps
    }

    private func answer(
        _ request: MTGRequest, _ talk: inout Talk, atMs now: Int64, chance: inout SystemRandomNumberGenerator
    ) -> MTGAnswer {
        var isProven = false
        if case .debugLog(let from, let proof) = request, let challenge = talk.challenge {
            let message = MTGRequest.proofMessage(challenge: challenge, from: from)
            isProven = Secrets.isHMACSHA256(proof, of: message, key: debugLogKey)
        }
        let challenge = (0..<MTGRequest.challengeBytes).map { _ in UInt8.random(in: 0...255, using: &chance) }
        talk.challenge = request == .challenge ? challenge : nil
        return answer(request, atMs: now, challenge: challenge, isProven: isProven)
    }
}
