import Alerts
import Codecs
import Emulators
import Fleet
import Formats
import Reports
import Settings
import SimKit
import Testing
import Tours

/// Decoders of bytes from outside, tried with inputs of Tests/Fixtures/fuzz that were changed by chance: a value or a fault, bounded by what
/// came. `make fuzz` runs the long form. A crash ends the process: the last test case that was started names decoder and seed.
struct FuzzTests {
    /// One decoder.
    struct Target: CustomTestStringConvertible, Sendable {
        /// The folder of its inputs, too.
        let name: String
        var tokens: [String] = []
        /// How much of the whole form is tried: some take longer for an input.
        var share = 1
        /// Whether something came of it; a fault's message is looked at by `isRefused`.
        let takes: @Sendable ([UInt8]) -> Bool
        var testDescription: String { name }
    }

    static let targets: [Target] = [
        Target(name: "mtg", takes: boxes), Target(name: "record", tokens: jsonTokens, takes: records),
        Target(name: "survey", tokens: jsonTokens + ["taxon,count\n", "\"\"", ";"], takes: surveys),
        Target(name: "json", tokens: jsonTokens, takes: { bytes in works { _ = try JSONValue(bytes) } }),
        Target(name: "xml", tokens: xmlTokens + ["<value>", "<struct>", "<member>", "<array><data>"]) { bytes in
            works { _ = try XMLRPC.call(bytes) }
        },
        Target(name: "iso", tokens: xmlTokens + ["<Equipment>", "missing", "<Latitude>"], share: 4, takes: fleets),
        Target(name: "threshold", tokens: xmlTokens + ["<parameter>", "<for>", "-1", "1e9"], share: 4) { bytes in
            works { _ = try ThresholdFile.parse(fileName: "8R Tractor-thresholds.xml", bytes: bytes) }
        },
        Target(
            name: "gpx", tokens: xmlTokens + ["<trkseg>", "lat=\"91\"", #"<rtept lat="1" lon="2"/>"#], share: 4,
            takes: walks),
        Target(
            name: "settings", tokens: ["{", "[", "&a ", "*a", "!!x ", "---\n", ": ", "- ", "\t", "|\n", ">\n", "? "],
            takes: settings),
        Target(
            name: "cron", tokens: ["*", "/", "-", ",", "jan", "sun", " ", "59", "0", "99999999999999999999"], share: 4,
            takes: times), Target(name: "image", share: 1, takes: photos), Target(name: "film", takes: media),
        Target(name: "logger", tokens: [",", ";", "\"", "NaN", "1e400", "\r\n", "-"]) { bytes in
            works { _ = try LoggerFile(fileName: "2026-01-01.csv").read(bytes) }
        },
        Target(name: "gzip", takes: unpacked), Target(name: "archive", takes: archives),
        Target(name: "debug-log", tokens: ["\u{1B}[2J", "2026-11-21T08:00:00Z ", "ERROR"], takes: logs),
        Target(name: "trouble-codes", tokens: [",", "\"", "P0000", "\n"]) { bytes in
            works { _ = try TroubleCodeFile(bytes) }
        },
    ]

    private static let inputs = Length.count(2_000, long: 50_000)

    /// By the name of their file: `refused-…` was trouble once, and is refused now.
    static func named(_ name: String) throws -> [(file: String, bytes: [UInt8])] {
        let folder = "Tests/Fixtures/fuzz/\(name)"
        return try Repository.names(folder).map { ($0, try Repository.bytes("\(folder)/\($0)")) }
    }

    static func corpus(_ name: String) throws -> [[UInt8]] { try named(name).map(\.bytes) }

    @Test("What stands in the corpus is taken, or the changed inputs would be refused at the door", arguments: targets)
    func corpusIsTaken(_ target: Target) throws {
        for input in try Self.named(target.name) {
            #expect(target.takes(input.bytes) == !input.file.hasPrefix("refused-"), "\(input.file)")
        }
    }

    @Test("No input crashes a decoder, and what it makes holds together", arguments: targets, 0..<3 as Range<UInt64>)
    func changedInputs(_ target: Target, seed: UInt64) throws {
        var mutation = Mutation(seed: seed, corpus: try Self.corpus(target.name), tokens: target.tokens)
        var taken = 0
        let count = Self.inputs / target.share
        for _ in 0..<count where target.takes(mutation.next()) { taken += 1 }
        // Both are met, or the changes are too small or too large to try anything.
        #expect(taken > 0 && taken < count, "\(taken) of \(count)")
    }

    /// Samples have no file: their inputs are made from a real drive.
    @Test("Changed samples are decoded to what can be encoded again, or refused", arguments: 0..<3 as Range<UInt64>)
    func samples(seed: UInt64) throws {
        let file = "sensor-52430807-track10.csv"
        let readings = try LoggerFile(fileName: file).read(Repository.bytes("Tests/Fixtures/cars/envirocar/\(file)"))
            .readings
        let minutes = Dictionary(grouping: readings) { $0.ts - $0.ts % 60_000 }.sorted { $0.key < $1.key }.prefix(5)
        try #require(minutes.count == 5)
        for (minute, readings) in minutes {
            let packed = PackedSamples.encode(readings, minuteMs: minute)
            #expect(try PackedSamples.decode(packed, minuteMs: minute).count == readings.count)
            var mutation = Mutation(seed: seed, corpus: [packed])
            for _ in 0..<Self.inputs / 5 {
                let bytes = mutation.next()
                guard let found = try? PackedSamples.decode(bytes, minuteMs: minute) else { continue }
                let again = PackedSamples.encode(found, minuteMs: minute)
                #expect(try PackedSamples.decode(again, minuteMs: minute) == found, "seed \(seed): \(bytes)")
            }
        }
    }
}

// MARK: Decoders

private let jsonTokens = [
    "{", "}", "[", "]", ",", ":", "\"", "\\u0000", "\\ud800", "null", "1e999", "-0", "0.1", "99999999999999999999",
    "{\"a\":", "[[[[",
]
private let xmlTokens = [
    "<", ">", "</", "&amp;", "&#0;", "&#x110000;", "<![CDATA[", "]]>", "<!--", "-->", "<!DOCTYPE a>", "<?x ?>",
    " xmlns=\"\"",
]

/// Whether it did what was asked; a fault says so in few words.
private func works(_ body: () throws -> Void) -> Bool {
    do {
        try body()
        return true
    } catch {
        // Whatever came, what is said of it is short: it goes into logs and answers. Files have a line for each mistake.
        if "\(error)".split(separator: "\n").contains(where: { $0.utf8.count > 20_000 }) {
            Issue.record("a long message: \("\(error)".prefix(200))")
        }
        return false
    }
}

@Sendable private func boxes(_ bytes: [UInt8]) -> Bool {
    works {
        guard let (frame, count) = try MTGFrame.first(of: bytes, contentMax: MTGFrame.answerBytesMax) else {
            throw Cut()
        }
        #expect(count <= bytes.count && frame.content.count <= MTGFrame.answerBytesMax)
        if frame.kind < 0x80 {
            let request = try MTGRequest(frame)
            let (again, _) = try #require(
                try MTGFrame.first(of: request.encoded(), contentMax: MTGFrame.requestBytesMax))
            #expect(try MTGRequest(again) == request)
        } else {
            _ = try MTGAnswer(frame)
        }
    }
}

private struct Cut: Error {}

@Sendable private func records(_ bytes: [UInt8]) -> Bool {
    let decoder = RecordDecoder()
    let isCar = works { _ = try decoder.decode(line: bytes, isMachine: false) }
    let isMachine = works { _ = try decoder.decode(line: bytes, isMachine: true) }
    _ = works { _ = try decoder.decode(upload: bytes, by: "miller") }
    return isCar || isMachine
}

@Sendable private func surveys(_ bytes: [UInt8]) -> Bool {
    let isJSON = works { _ = try SurveyText.decode(bytes) }
    return works { _ = try SurveyCSV.decode(bytes) } || isJSON
}

@Sendable private func fleets(_ bytes: [UInt8]) -> Bool {
    let fleet = try? ISOFleet.snapshot(FuzzTests.corpus("iso")[0])
    let isSeries = works { if let machine = fleet?.machines.first { _ = try ISOFleet.series(bytes, of: machine) } }
    return works { _ = try ISOFleet.snapshot(bytes) } || isSeries
}

@Sendable private func walks(_ bytes: [UInt8]) -> Bool {
    works {
        let track = try GPXTrack(bytes)
        #expect(track.places.count <= track.points)
    }
}

@Sendable private func settings(_ bytes: [UInt8]) -> Bool {
    let source = YAML.settings(bytes, name: "fuzz")
    let reading = Settings.read([source])
    // Whatever is wrong, each setting has a value of its kind.
    for row in SettingRow.table {
        switch row.kind {
        case .integer(let range): #expect(range.contains(reading.settings.integer(row.key)))
        case .thousandths(let range): #expect(range.contains(reading.settings.thousandths(row.key)))
        case .choice(let words): #expect(words.contains(reading.settings.text(row.key)))
        case .text, .connection, .secret, .file, .secretFile, .folder, .shipped, .fileToMake: break
        }
    }
    _ = works { _ = try Scenario(yaml: bytes, name: "fuzz") }
    return reading.faults.isEmpty
}

@Sendable private func times(_ bytes: [UInt8]) -> Bool {
    works {
        let times = try CronTimes(String(decoding: bytes, as: UTF8.self))
        if let next = times.next(afterMs: 1_767_225_600_000, zone: "UTC") {
            #expect(next > 1_767_225_600_000 && next % 60_000 == 0)
        }
    }
}

/// What was cleaned is clean.
@Sendable private func photos(_ bytes: [UInt8]) -> Bool {
    works {
        let photo = try PhotoFile(bytes)
        #expect(try PhotoFile(photo.content).content == photo.content && photo.content.count <= bytes.count + 64)
    }
}

@Sendable private func media(_ bytes: [UInt8]) -> Bool {
    works {
        let medium = try TourMedium(bytes)
        #expect(try TourMedium(medium.content) == medium)
    }
}

@Sendable private func unpacked(_ bytes: [UInt8]) -> Bool {
    works {
        let whole = try Gunzip.unpack(bytes, bytesMax: 100_000)
        #expect(whole.count <= 100_000)
    }
}

@Sendable private func archives(_ bytes: [UInt8]) -> Bool {
    let names = ["tour.json", "media/a.png", ""]
    return names.compactMap { StoredArchive.file($0, in: bytes) }.allSatisfy { $0.count <= bytes.count }
        && StoredArchive.file("media/a.png", in: bytes) != nil
}

@Sendable private func logs(_ bytes: [UInt8]) -> Bool {
    let lines = DebugLogText(bytes).lines
    let isHarmless = lines.allSatisfy { line in line.text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\t" } }
    #expect(isHarmless && lines.count <= bytes.count + 1)
    return lines.contains { $0.level == .warning }
}
