internal import Basics
internal import Fleet

/// An ELM327 adapter without a car. What it says at a time is a function of scenario, seed and that time; it is made
/// by formulas of its own, so that a gateway's decoder is judged by it.
package struct EmulatedAdapter: Sendable {
    package let group: AdapterGroup
    package let vin: String
    private let seed: UInt64
    private let drive: EmulatedDrive

    /// Signals that the drive gives by itself.
    static let driven: Set<String> = ["speed_kmh", "rpm", "maf_gps", "load_pct", "throttle_pct"]
    /// Signals that cars of all scenarios have beside those, unless the scenario says otherwise.
    static let standard: [String: Wave] = [
        "coolant_c": Wave("82 .. 92 over 12 min")!, "voltage_v": Wave("13.8 .. 14.3 over 3 min")!,
        "fuel_level_pct": Wave("90 to 20 over 600 min")!, "intake_air_c": Wave("18 .. 34 over 25 min")!,
        "ambient_c": Wave("14 .. 22 over 300 min")!, "map_kpa": Wave("28 .. 96 over 1 min")!,
        "fuel_rate_lph": Wave("0.8 .. 12 over 2 min")!,
    ]

    package init(_ scenario: AdapterScenario, seed: UInt64, index: Int) {
        group = scenario.group(of: index)
        self.seed = SplitMix64.mixed(seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15)
        drive = EmulatedDrive(seed: self.seed)
        let serial = String(self.seed % 78_364_164_096, radix: 36, uppercase: true)  // 36^7
        // No I, O and Q (ISO 3779).
        let letters = serial.map { ["I": "J", "O": "P", "Q": "R"][$0] ?? $0 }
        vin = "WDREMU0000" + String(repeating: "0", count: 7 - letters.count) + String(letters)
    }

    func isRunning(atMs ts: Int64) -> Bool {
        guard let ignition = group.ignition else { return true }
        let periodMs = ignition.ofMin * 60_000
        return (ts + Int64(seed % UInt64(periodMs))) % periodMs < ignition.onMin * 60_000
    }

    /// In thousandths of the key's unit.
    private func value(_ key: String, _ ts: Int64) -> Int64 {
        if let wave = group.values[key] ?? EmulatedAdapter.standard[key] {
            return wave.value(atMs: ts, shift: Int64(seed % 1_000))
        }
        let values = drive.values(atMs: ts)
        return switch key {
        case "speed_kmh": values.speed
        case "rpm": values.rpm
        case "maf_gps": values.maf
        case "load_pct": values.load
        default: values.throttle
        }
    }

    // MARK: - The car's side (SAE J1979)

    /// The data bytes of a parameter of mode 01; nil: the car does not know it.
    package func data(_ pid: UInt8, atMs ts: Int64) -> [UInt8]? {
        if pid % 0x20 == 0 { return mask(pid) }
        guard group.pids.contains(pid) else { return nil }
        func byte(_ value: Int64) -> [UInt8] { [UInt8(clamping: value)] }
        func word(_ value: Int64) -> [UInt8] {
            let word = UInt16(clamping: value)
            return [UInt8(word >> 8), UInt8(word & 0xFF)]
        }
        switch pid {
        case 0x01:
            return [
                (group.stored.isEmpty ? 0 : 0x80) | UInt8(clamping: min(group.stored.count, 127)), 0x07, 0x65, 0x04,
            ]
        case 0x04: return byte(value("load_pct", ts) * 255 / 100_000)
        case 0x05: return byte(value("coolant_c", ts) / 1_000 + 40)
        case 0x0B: return byte(value("map_kpa", ts) / 1_000)
        case 0x0C: return word(value("rpm", ts) * 4 / 1_000)
        case 0x0D: return byte(value("speed_kmh", ts) / 1_000)
        case 0x0F: return byte(value("intake_air_c", ts) / 1_000 + 40)
        case 0x10: return word(value("maf_gps", ts) / 10)
        case 0x11: return byte(value("throttle_pct", ts) * 255 / 100_000)
        case 0x1F: return word(ts / 1_000 % 65_536)
        case 0x2F: return byte(value("fuel_level_pct", ts) * 255 / 100_000)
        case 0x42: return word(value("voltage_v", ts))
        case 0x46: return byte(value("ambient_c", ts) / 1_000 + 40)
        case 0x5E: return word(value("fuel_rate_lph", ts) * 20 / 1_000)
        default: return byte(0)
        }
    }

    private func mask(_ base: UInt8) -> [UInt8]? {
        guard base == 0 || group.pids.contains(where: { $0 > base }) else { return nil }
        var mask: UInt32 = 0
        for pid in group.pids where pid > base && pid <= base + 0x20 { mask |= 1 << (0x20 - UInt32(pid - base)) }
        // The last bit: there are more behind.
        if group.pids.contains(where: { $0 > base + 0x20 }) { mask |= 1 }
        return (0..<4).map { UInt8(truncatingIfNeeded: mask >> (24 - 8 * $0)) }
    }

    /// The car's answer, from the mode on; nil: it does not know the request.
    func answer(_ request: [UInt8], atMs ts: Int64) -> [UInt8]? {
        switch (request.first, request.count) {
        case (0x01, 2): return data(request[1], atMs: ts).map { [0x41, request[1]] + $0 }
        case (0x02, 3): return frozen(request[1]).map { [0x42, request[1], 0] + $0 }
        case (0x03, 1): return codes(0x43, group.stored)
        case (0x07, 1): return codes(0x47, group.pending)
        case (0x0A, 1): return codes(0x4A, group.permanent)
        case (0x09, 2) where request[1] == 0: return [0x49, 0x00, 0x40, 0, 0, 0]
        case (0x09, 2) where request[1] == 2: return [0x49, 0x02, 0x01] + Array(vin.utf8)
        default: return nil
        }
    }

    private func codes(_ mode: UInt8, _ codes: [UInt16]) -> [UInt8] {
        [mode, UInt8(clamping: codes.count)] + codes.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    }

    /// The first stored code froze coolant and speed of one moment.
    private func frozen(_ pid: UInt8) -> [UInt8]? {
        guard let code = group.stored.first else { return nil }
        switch pid {
        case 0x00: return [0x48, 0x08, 0, 0]
        case 0x02: return [UInt8(code >> 8), UInt8(code & 0xFF)]
        case 0x05: return [0x7B]
        case 0x0D: return [0x32]
        default: return nil
        }
    }

    /// As a CAN bus would: beyond seven bytes in numbered frames (ISO 15765-2, as an ELM327 prints them).
    private func lines(_ bytes: [UInt8]) -> [String] {
        func text(_ bytes: some Sequence<UInt8>) -> String {
            bytes.map { Hex.text([$0]).uppercased() + (group.spaces ? " " : "") }.joined()
        }
        guard bytes.count > 7 else { return [text(bytes)] }
        let length = String(bytes.count, radix: 16, uppercase: true)
        var lines = [String(repeating: "0", count: 3 - length.count) + length, "0:" + text(bytes.prefix(6))]
        for (number, start) in stride(from: 6, to: bytes.count, by: 7).enumerated() {
            let frame = bytes[start..<min(start + 7, bytes.count)]
            let padding = [UInt8](repeating: 0xAA, count: 7 - frame.count)
            lines.append(String((number + 1) % 16, radix: 16, uppercase: true) + ":" + text(frame + padding))
        }
        return lines
    }
}

// MARK: - The adapter's side (ELM327 data sheet)

extension EmulatedAdapter: EmulatedDevice {
    package var cutAfterBytes: Int { 0 }

    package struct Talk {
        var echoes = true
        var hasFoundBus = false
        var answers = 0
    }

    package func newTalk() -> Talk { Talk() }

    /// A command that never ends is not kept for ever.
    private static let commandBytesMax = 1_000

    package func steps(
        for received: inout [UInt8], _ talk: inout Talk, isBusy: Bool, atMs now: Int64,
        chance: inout SystemRandomNumberGenerator
    ) -> [WireStep] {
        var (steps, isBusy): ([WireStep], Bool) = ([], isBusy)
        while let end = received.firstIndex(of: 0x0D) {
            let typed = received[..<end].filter { $0 > 0x20 && $0 < 0x7F }
            received.removeFirst(end + 1)
            let command = String(decoding: typed, as: UTF8.self).uppercased()
            if isBusy { steps.append(.note("\(command) INTERRUPTED")) }
            steps += self.steps(for: command, &talk, atMs: now)
            isBusy = true
        }
        if received.count > EmulatedAdapter.commandBytesMax { received = [] }
        return steps
    }

    private func steps(for command: String, _ talk: inout Talk, atMs now: Int64) -> [WireStep] {
        if group.peer == .silent { return [] }
        let echo = talk.echoes ? command + "\r" : ""
        let request = EmulatedAdapter.bytes(command)
        guard let request else {
            return [.pause(ms: group.latencyMs), .send(Array((echo + own(command, &talk)).utf8))]
        }
        talk.answers += 1
        let pause = WireStep.pause(ms: group.latencyMs)
        if let trouble = trouble(request, echo, talk, atMs: now) { return [pause] + trouble }
        let (text, note) = reply(request, &talk, atMs: now)
        return [pause, .note("\(command) \(note)"), .send(Array((echo + text + "\r>").utf8))]
    }

    /// Hexadecimal digits; one left over tells how many lines to wait for. Nil: a command of the adapter's own.
    private static func bytes(_ command: String) -> [UInt8]? {
        let digits = command.compactMap(\.hexDigitValue)
        guard digits.count == command.count, digits.count >= 2 else { return nil }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Commands of the adapter's own.
    private func own(_ command: String, _ talk: inout Talk) -> String {
        switch command {
        case "ATZ":
            talk = Talk()
            return "\r\rELM327 v1.5\r\r>"
        case "ATI": return "ELM327 v1.5\r\r>"
        case "AT@1": return "OBDII to RS232 Interpreter\r\r>"
        case "ATE0", "ATE1": talk.echoes = command == "ATE1"
        // No identifier was ever stored.
        case _ where !command.hasPrefix("ATSP"): return "?\r\r>"
        default: break
        }
        return "OK\r\r>"
    }

    /// - Returns: what is printed, and what a journal says of it.
    private func reply(_ request: [UInt8], _ talk: inout Talk, atMs now: Int64) -> (text: String, note: String) {
        let isFirst = !talk.hasFoundBus
        guard isRunning(atMs: now) else {
            return (isFirst ? "SEARCHING...\rUNABLE TO CONNECT\r" : "NO DATA\r", "IGNITION OFF")
        }
        talk.hasFoundBus = true
        let searching = isFirst ? "SEARCHING...\r" : ""
        guard let bytes = answer(request, atMs: now) else {
            let isReading = [0x01, 0x02, 0x03, 0x07, 0x09, 0x0A].contains(request.first!)
            // A mask beyond the last, a frame that is not there: one may ask. The rest was never promised.
            let mayAsk = isReading && (request.first != 0x01 || request.last! % 0x20 == 0)
            return (searching + "NO DATA\r", mayAsk ? "NONE" : "FORBIDDEN")
        }
        // A second unit knows the speed and which parameters it has, as gearboxes do.
        var lines = lines(bytes)
        if group.units > 1, bytes.starts(with: [0x41, 0x0D]) {
            lines += Array(repeating: lines[0], count: group.units - 1)
        }
        return (searching + lines.joined(separator: "\r") + "\r", Hex.text(bytes))
    }

    /// Instead of an answer; nil: this one is a proper one. Most fail only after they have begun well.
    private func trouble(_ request: [UInt8], _ echo: String, _ talk: Talk, atMs now: Int64) -> [WireStep]? {
        func say(_ text: String) -> [WireStep] { [.send(Array((echo + text + "\r\r>").utf8))] }
        let isTurn = talk.answers > 5 && talk.answers % 5 == 0
        switch group.peer {
        case .answers, .silent: return nil
        case .noData: return say("NO DATA")
        case .unableToConnect: return say("SEARCHING...\rUNABLE TO CONNECT")
        case .unknown: return say("?")
        case .stopped: return isTurn ? say("STOPPED") : nil
        case .busError: return isTurn ? say("BUS ERROR") : nil
        case .closes: return talk.answers % 40 == 39 ? [.send(Array((echo + "41 0").utf8)), .close] : nil
        case .garbage:
            let bytes = (0..<40).map {
                UInt8(truncatingIfNeeded: SplitMix64.mixed(seed &+ UInt64(talk.answers * 64 + $0)))
            }
            return isTurn ? [.send(bytes.filter { $0 != 0x3E } + [0x0D, 0x3E])] : nil
        case .babble: return talk.answers > 10 ? [.endless(Array("41 0D 00 \r".utf8))] : nil
        case .latePrompt:
            var copy = talk
            let (text, note) = reply(request, &copy, atMs: now)
            return isTurn
                ? [.note("late \(note)"), .send(Array((echo + text).utf8)), .pause(ms: 1_500), .send([0x0D, 0x3E])]
                : nil
        case .slow:
            var copy = talk
            let text = Array((echo + reply(request, &copy, atMs: now).text + "\r>").utf8)
            return text.flatMap { [.send([$0]), .pause(ms: 40)] }
        }
    }
}
