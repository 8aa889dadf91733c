import App
import Codecs
import Fleet
import Foundation
import Ingest
import Kafka
import Settings
import Telemetry

/// `drover import cars|machines FILE…`: recorded readings to their topic, closed by a tick.
extension Command {
    static let importCars = Command(
        name: "import cars", operands: "FILE… [options]",
        summary: "Pushes cars' recordings to \(Topic.cars). Importing the same file twice changes nothing.",
        options: [
            .init("--vehicle", "ID", "the car that was recorded (default: made from the file's name)"),
            .init("--start", "TIME", "when the recording began, for files without a date (2026-11-21T08:00:00Z)"),
            .init("--mapping", "FILE", "further column names: `column name,key[,unit]` a line"),
        ] + SettingsSource.options,
        example: "drover import cars drive1.csv --vehicle etios-1 --start 2026-11-21T08:00:00Z",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let vehicle = try arguments.text("--vehicle").map { text in
                guard let id = VehicleID(text) else {
                    throw UsageError("--vehicle \(text): must be 1 to 64 letters, digits, -, _ or .")
                }
                return id
            }
            let ok = try ImportJob(settings, topic: Topic.cars).run(arguments.files()) { path, importer in
                try importCar(path, vehicle, arguments, importer)
            }
            return ok ? .done : .failed
        })

    static let importMachines = Command(
        name: "import machines", operands: "FILE.jsonl… [options]",
        summary: "Pushes machines' readings, one JSON object a line, to \(Topic.machines).",
        options: SettingsSource.options,
        example: "drover import machines Tests/Fixtures/machines/readings.jsonl",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let ok = try ImportJob(settings, topic: Topic.machines).run(arguments.files(), importMachines)
            return ok ? .done : .failed
        })

    /// Returns what is said of the file when it is done.
    static func importCar(
        _ path: String, _ vehicle: VehicleID?, _ arguments: Arguments, _ importer: Importer
    ) throws -> String {
        let name = Files.name(path)
        guard let car = vehicle ?? VehicleID(sanitizing: (name as NSString).deletingPathExtension) else {
            throw Failure("no vehicle id can be made from the file's name: give --vehicle ID")
        }
        let recording = try CarFile.read(path, arguments, startNeeded: true)
        guard !recording.readings.isEmpty else { throw Failure("holds no reading that can be used") }
        let batch = SubmissionID.of(recording.readings)
        let progress = Progress(path, total: recording.readings.count)
        for (row, reading) in recording.readings.enumerated() {
            try importer.push(car: car, reading, id: "\(batch)-\(row)")
            progress.step(row)
        }
        progress.end()
        return "\(recording.readings.count) readings of \(car) from \(recording.rows) rows"
    }

    /// Lines that are no machine's reading are said, with their number, and the rest goes on.
    static func importMachines(_ path: String, _ importer: Importer) throws -> String {
        let lines = try Files.read(path).split(separator: 0x0A)
        guard !lines.isEmpty else { throw Failure("is empty") }
        let (decoder, progress) = (RecordDecoder(), Progress(path, total: lines.count))
        var (good, faults): ([(VehicleID, ArraySlice<UInt8>)], Int) = ([], 0)
        for (index, line) in lines.enumerated() {
            do throws(DecodeError) {
                let record = try decoder.decode(line: Array(line), isMachine: true)
                guard case .machine(let reading, _) = record else { throw .kindUnknown }
                good.append((reading.vehicle, line))
            } catch {
                faults += 1
                if faults <= 5 { Out.note("\(path): line \(index + 1): \(error)") }
            }
            progress.step(index)
        }
        progress.end()
        guard !good.isEmpty else { throw Failure("holds no machine's reading; a line must be one JSON object") }
        for (vehicle, line) in good { try importer.push(machine: vehicle, json: Array(line)) }
        return "\(good.count) readings" + (faults > 0 ? ", \(faults) lines not taken" : "")
    }
}

/// Imports files one after the other. A bad file does not keep the others out; the tick comes last.
struct ImportJob {
    private let settings: Settings
    private let topic: String
    /// Only faults are told.
    private let isQuiet: Bool

    init(_ settings: Settings, topic: String, isQuiet: Bool = false) {
        (self.settings, self.topic, self.isQuiet) = (settings, topic, isQuiet)
    }

    /// False when a file could not be imported.
    func run(_ files: [String], _ one: (String, Importer) throws -> String) throws -> Bool {
        let kafka = try settings.kafka(clientID: "drover-import")
        _ = try Topics.ensure(kafka, settings.topicShape)
        let importer = try Importer(kafka, topic: topic)
        do {
            return try run(files, importer, one)
        } catch let error as KafkaError {
            throw Failure(
                "\(error)\n\(importer.acknowledged) of \(importer.counts.readings) records were acknowledged before. "
                    + "Import again when the broker is well: what is there already changes nothing")
        }
    }

    private func run(_ files: [String], _ importer: Importer, _ one: (String, Importer) throws -> String) throws -> Bool
    {
        var ok = true
        for path in files {
            do {
                let said = try one(path, importer)
                if !isQuiet { Out.note("\(path): \(said)") }
            } catch let error as UsageError {
                throw error
            } catch let error as KafkaError {
                throw error
            } catch {
                Out.note("\(path): \(error)")
                ok = false
            }
        }
        guard importer.counts.readings > 0 else { return false }
        try importer.finish(tickMs: Clock.nowMs())
        if isQuiet { return ok }
        Out.note(
            "\(importer.counts.readings) readings on \(topic), acknowledged; \(importer.counts.ticks) ticks close them")
        return ok
    }
}

/// An id for what one file brings: the same readings give the same ids, so that a second import is recognised.
enum SubmissionID {
    /// FNV-1a, 64 bits (Fowler, Noll, Vo): an id, not a protection.
    static func of(_ text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return String(hash, radix: 36)
    }

    static func of(_ readings: [CarReading]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for reading in readings {
            for word in [reading.ts] + Signal.allCases.map({ Int64(reading[$0] ?? .min) }) {
                hash = (hash ^ UInt64(bitPattern: word)) &* 0x0000_0100_0000_01B3
            }
        }
        return String(hash, radix: 36)
    }
}

/// A line that counts up on a terminal; nothing in a log.
final class Progress {
    private let name: String
    private let total: Int
    private let isTerminal = isatty(2) == 1

    init(_ name: String, total: Int) { (self.name, self.total) = (name, total) }

    func step(_ index: Int) {
        guard isTerminal, index % 1_000 == 0 else { return }
        StandardError.write("\r\(name): \(index) of \(total)\u{1B}[K")
    }

    func end() { if isTerminal { StandardError.write("\r\u{1B}[K") } }
}
