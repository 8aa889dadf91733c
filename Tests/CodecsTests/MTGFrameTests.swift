import Basics
import Codecs
import Fleet
import SimKit
import Testing

/// docs/mtg-wire.md against the code, and the code against everything that a box may send.
struct MTGFrameTests {
    /// The reading of the page's examples.
    private static let reading = {
        var reading = MTGReading(sequence: 4_711, ts: 1_789_344_000_000)
        (reading.serial, reading.model) = ("MTG-8R-000042", "8R Tractor")
        (reading.firmware, reading.machineID) = ("4.11.2", "8R-000042")
        reading.isEngineRunning = true
        reading.values = [
            .gpsAvailable: 1, .rdaLicense: 1, .wdtLicense: 0, .lastReprogrammingStatus: 1, .engineHours: 1_200_500,
            .engineTurnOnCount: 800, .keyTurnOnCount: 1_500, .fuelLevel: 179_800, .coolantTemperature: 85_000,
            .hydraulicOilTemperature: 46_700, .tirePressure: 79_700, .connectedDevices: 1,
            .gpsFixTime: 1_789_343_996_000, .lastCellCallIn: 1_789_326_000_000,
        ]
        (reading.latitude, reading.longitude) = (416_066_240, -935_951_570)
        reading.connectedDevices = ["StarFire 6000"]
        return reading
    }()
    private static let proof = [UInt8](0xA0..<0xC0)

    private static let requests: [(String, MTGRequest)] = [
        ("reading", .reading), ("backlog", .backlog(after: 4_710, most: 64)), ("challenge", .challenge),
        ("debug log", .debugLog(from: 4_096, proof: proof)),
    ]
    private static let answers: [(String, MTGAnswer)] = [
        ("reading", .reading(reading)), ("backlog", .backlog(newest: 4_712, [reading])),
        ("challenge", .challenge([UInt8](0x00..<0x20))),
        ("debug log", .debugLog(from: 4_096, total: 4_101, Array("ready".utf8))), ("refused", .refused(.proofWrong)),
    ]

    /// Hexadecimal bytes by the heading that they stand under.
    private static func page() throws -> [String: [UInt8]] {
        var (examples, heading, isHex): ([String: [UInt8]], String, Bool) = ([:], "", false)
        for line in try Repository.text("docs/mtg-wire.md").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("### ") { heading = String(line.dropFirst(4)) }
            if line.hasPrefix("```") {
                isHex = line == "```hex"
            } else if isHex {
                let bytes = line.prefix { $0 != "|" }.split(separator: " ").compactMap { UInt8($0, radix: 16) }
                examples[heading, default: []] += bytes
            }
        }
        return examples
    }

    @Test func theExamplesOfThePageAreWhatTheCodeWritesAndReads() throws {
        let examples = try Self.page()
        #expect(examples.count == Self.requests.count + Self.answers.count)
        for (name, request) in Self.requests {
            let bytes = try #require(examples["Request: \(name)"], "\(name)")
            #expect(Hex.text(request.encoded()) == Hex.text(bytes), "request \(name)")
            let frame = try #require(try MTGFrame.first(of: bytes, contentMax: MTGFrame.requestBytesMax)).frame
            #expect(try MTGRequest(frame) == request)
        }
        for (name, answer) in Self.answers {
            let bytes = try #require(examples["Answer: \(name)"], "\(name)")
            #expect(Hex.text(answer.encoded()) == Hex.text(bytes), "answer \(name)")
            #expect(try Self.decode(bytes) == answer)
        }
        #expect(
            Hex.text(MTGRequest.proofMessage(challenge: [1, 2], from: 258)) == Hex.text(Array("MTG debug log".utf8))
                + "01020201000000000000")
    }

    private static func decode(_ bytes: [UInt8]) throws -> MTGAnswer? {
        guard let (frame, count) = try MTGFrame.first(of: bytes, contentMax: MTGFrame.answerBytesMax) else {
            return nil
        }
        #expect(count <= bytes.count)
        return try MTGAnswer(frame)
    }

    @Test("What is written is read back", arguments: 0..<20 as Range<UInt64>) func identity(seed: UInt64) throws {
        var chance = MTGChance(seed: seed)
        for _ in 0..<100 {
            let answer = chance.answer()
            #expect(try Self.decode(answer.encoded()) == answer, "seed \(seed)")
        }
    }

    @Test("A record holds all of a reading that a worker reads", arguments: 0..<20 as Range<UInt64>)
    func records(seed: UInt64) throws {
        var chance = MTGChance(seed: seed)
        let decoder = RecordDecoder()
        for _ in 0..<100 {
            let reading = chance.reading(sequence: 1 + chance.chance.below(1 << 40)).machineReading(
                vehicle: VehicleID("tractor-1")!, model: chance.chance.once(in: 2) ? "S690 Combine" : nil)
            #expect(
                try decoder.decode(line: RecordWriter.machine(reading), isMachine: true)
                    == .machine(reading, droppedFields: 0), "seed \(seed)")
        }
    }

    @Test func aReadingKeepsItsIDWhateverIsFetchedAgain() {
        let machine = Self.reading.machineReading(vehicle: VehicleID("tractor-1")!, model: nil)
        #expect(machine.id == "MTG-8R-000042-4711" && machine.model == "8R Tractor" && machine.isReporting)
        var parked = Self.reading
        parked.isEngineRunning = false
        (parked.serial, parked.model) = (nil, nil)
        let other = parked.machineReading(vehicle: VehicleID("tractor-1")!, model: nil)
        #expect(other.id == "tractor-1-4711" && other.model == "unknown" && !other.isReporting)
    }

    @Test("A frame that is not all there is waited for, at every byte") func everyTruncationOfAFrame() throws {
        for (name, answer) in Self.answers {
            let bytes = answer.encoded()
            for count in 0..<bytes.count { #expect(try Self.decode(Array(bytes.prefix(count))) == nil, "\(name)") }
        }
    }

    @Test("A structure that ends earlier has the fields that it reaches, at every length")
    func everyTruncationOfAStructure() throws {
        let whole = Self.reading.encoded()
        for count in 0...whole.count {
            guard count >= MTGReading.structureBytesMin else {
                #expect(throws: MTGError.tooShort(bytes: count, least: 32)) { try MTGReading(whole[..<count]) }
                continue
            }
            let short = try MTGReading(whole[..<count])
            #expect(short.sequence == 4_711 && short.serial == "MTG-8R-000042" && short.droppedFields == 0)
            #expect((short.model != nil) == (count >= 56) && (short.isEngineRunning != nil) == (count >= 89))
            #expect((short.values[.coolantTemperature] == 85_000) == (count >= 116))
            #expect((short.values[.lastCellCallIn] != nil) == (count >= 152))
            #expect((short.connectedDevices != nil) == (count >= 176))
            #expect(short.values.allSatisfy { Self.reading.values[$0.key] == $0.value })
        }
    }

    @Test("A page and a reading of longer structures are read as far as known", arguments: [160, 288, 289, 1_000])
    func otherSizes(structureBytes: Int) throws {
        let answer = MTGAnswer.backlog(newest: 4_712, [Self.reading])
        guard case .backlog(4_712, let readings) = try Self.decode(answer.encoded(structureBytes: structureBytes))
        else {
            Issue.record("no page")
            return
        }
        #expect(readings[0].values == Self.reading.values && readings[0].droppedFields == 0)
        #expect((readings[0] == Self.reading) == (structureBytes >= 288))
    }

    @Test func impossibleValuesAreDroppedAndCounted() throws {
        var bytes = Self.reading.encoded()
        bytes.replaceSubrange(112..<116, with: [0xFF, 0xFF, 0xFF, 0x7F])  // coolant 2147483.647 °C
        bytes.replaceSubrange(124..<128, with: [0xFF, 0xFF, 0xFF, 0x7F])  // latitude 214°
        bytes[89] = 7
        bytes[16] = 0xC0  // no UTF-8
        let reading = try MTGReading(bytes[...])
        #expect(reading.droppedFields == 3 && reading.serial == nil && reading.latitude == nil)
        #expect(reading.values[.coolantTemperature] == nil && reading.values[.gpsAvailable] == nil)
    }

    /// Of twelve bytes.
    private static func page(_ content: [UInt8]) -> [UInt8] { [0x4D, 0x54, 1, 0x82, 12, 0, 0, 0] + content }

    @Test(
        "What is no answer is refused as soon as it shows",
        arguments: [
            ([0x48], .magicMissing), ([0x4D, 0x53], .magicMissing), ([0x4D, 0x54, 2], .versionUnknown(2)),
            ([0x4D, 0x54, 1, 0x42, 0, 0, 0, 0], .kindUnknown(0x42)),
            ([0x4D, 0x54, 1, 0x81, 1, 0, 2, 0], .tooLong(bytes: 131_073, most: 131_072)),
            ([0x4D, 0x54, 1, 0x81, 0xFF, 0xFF, 0xFF, 0xFF], .tooLong(bytes: 4_294_967_295, most: 131_072)),
            ([0x4D, 0x54, 1, 0x81, 0, 0, 0, 0], .tooShort(bytes: 0, least: 32)),
            ([0x4D, 0x54, 1, 0x82, 0, 0, 0, 0], .tooShort(bytes: 0, least: 12)),
            (page([UInt8](repeating: 0, count: 10) + [1, 0]), .tooShort(bytes: 0, least: 32)),
            (
                page([UInt8](repeating: 0xFF, count: 7) + [0x7F, 0xFF, 0xFF, 0xFF, 0xFF]),
                .tooShort(bytes: 12, least: 12 + 65_535 * 65_535)
            ),
            (page([UInt8](repeating: 0xFF, count: 8) + [0, 0, 0, 0]), .sequenceImpossible),
            ([0x4D, 0x54, 1, 0x81, 32, 0, 0, 0] + [UInt8](repeating: 0, count: 32), .sequenceImpossible),
            ([0x4D, 0x54, 1, 0x83, 1, 0, 0, 0, 9], .tooShort(bytes: 1, least: 32)),
            ([0x4D, 0x54, 1, 0x84, 1, 0, 0, 0, 9], .tooShort(bytes: 1, least: 16)),
        ] as [([UInt8], MTGError)])
    func refuses(_ bytes: [UInt8], _ error: MTGError) {
        #expect(throws: error) { try Self.decode(bytes) }
        #expect(!error.description.isEmpty)
    }

    @Test func aPageThatDoesNotRiseIsRefused() {
        let page = MTGAnswer.backlog(newest: 9, [MTGReading(sequence: 4, ts: 0), MTGReading(sequence: 4, ts: 1)])
        #expect(throws: MTGError.sequenceNotRising) { try Self.decode(page.encoded()) }
    }

    /// In the long form ten million.
    private static let inputsPerSeed = Length.count(10_000, long: 500_000)

    @Test("No answer crashes, hangs or grows the decoder", arguments: 0..<20 as Range<UInt64>) func fuzz(seed: UInt64) {
        var chance = MTGChance(seed: seed)
        var (decoded, refused, waited) = (0, 0, 0)
        for input in 0..<Self.inputsPerSeed {
            let bytes = chance.hostile()
            do {
                guard let (frame, count) = try MTGFrame.first(of: bytes, contentMax: MTGFrame.answerBytesMax) else {
                    waited += 1
                    continue
                }
                #expect(count <= bytes.count && frame.content.count == count - 8, "seed \(seed), input \(input)")
                if case .backlog(_, let readings) = try MTGAnswer(frame) {
                    #expect(readings.count * 32 <= bytes.count, "seed \(seed), input \(input)")
                }
                decoded += 1
            } catch { refused += 1 }
        }
        // Each of the three is met often, or the generator tests nothing.
        #expect(min(decoded, refused, waited) > Self.inputsPerSeed / 20, "\(decoded) \(refused) \(waited)")
    }
}

/// Seeded readings and answers, good and bad.
struct MTGChance {
    var chance: SeededChance
    init(seed: UInt64) { chance = SeededChance(seed: seed) }

    private mutating func text(_ bytesMax: Int64) -> String? {
        guard !chance.once(in: 4) else { return nil }
        let alphabet = Array("ABCXYZ019-_. äß°")
        let text = (0...chance.below(bytesMax / 2 - 1)).map { _ in chance.pick(alphabet) }
        return String(text)
    }

    mutating func reading(sequence: Int64) -> MTGReading {
        var reading = MTGReading(
            sequence: sequence, ts: UTC.plausible.lowerBound + chance.below(UTC.plausible.upperBound / 2))
        (reading.serial, reading.model) = (text(16), text(24))
        (reading.firmware, reading.machineID) = (text(16), text(16))
        reading.isEngineRunning = chance.once(in: 3) ? nil : chance.once(in: 2)
        for parameter in MachineParameter.ofBox where !chance.once(in: 4) {
            let row = parameter.row
            reading.values[parameter] =
                switch row.kind {
                case .flag: chance.below(2)
                case .time: UTC.plausible.lowerBound + chance.below(UTC.plausible.upperBound / 2)
                case .count: row.least + chance.below(row.most - row.least + 1)
                case .number: row.least * 1_000 + chance.below((row.most - row.least) * 1_000 + 1)
                }
        }
        if chance.once(in: 2) {
            reading.latitude = Int32(chance.below(1_800_000_001) - 900_000_000)
            reading.longitude = Int32(chance.below(3_600_000_001) - 1_800_000_000)
        }
        reading.connectedDevices = (0..<chance.below(9)).compactMap { _ in text(16) }
        return reading
    }

    mutating func answer() -> MTGAnswer {
        switch chance.below(5) {
        case 0: return .reading(reading(sequence: 1 + chance.below(1 << 50)))
        case 1:
            var (sequence, readings): (Int64, [MTGReading]) = (chance.below(1 << 40), [])
            for _ in 0..<chance.below(4) {
                sequence += 1 + chance.below(3)
                readings.append(reading(sequence: sequence))
            }
            return .backlog(newest: sequence + chance.below(1_000), readings)
        case 2: return .challenge((0..<32).map { _ in chance.byte() })
        case 3: return .debugLog(from: chance.below(1 << 40), total: chance.below(1 << 40), Array("a line\n".utf8))
        default: return .refused(MTGRefusal(rawValue: UInt16(1 + chance.below(3))))
        }
    }

    /// Good answers of which some are made once, changed, cut, with a wrong length or with more behind; and noise.
    mutating func hostile() -> [UInt8] {
        if chance.once(in: 10) { return chance.bytes(chance.below(64)) }
        var bytes = chance.pick(MTGChance.good)
        for _ in 0..<chance.below(4) { bytes[chance.index(bytes.count)] = chance.byte() }
        switch chance.below(4) {
        case 0: bytes.removeLast(chance.index(bytes.count))
        case 1: bytes.replaceSubrange(4..<6, with: [chance.byte(), UInt8(chance.below(2))])
        case 2: bytes += [UInt8](repeating: chance.byte(), count: Int(chance.below(300)))
        default: break
        }
        return bytes
    }

    private static let good: [[UInt8]] = {
        var chance = MTGChance(seed: 1)
        return (0..<200).map { _ in
            chance.answer().encoded(structureBytes: [160, 288, 300][Int(chance.chance.below(3))])
        }
    }()
}
