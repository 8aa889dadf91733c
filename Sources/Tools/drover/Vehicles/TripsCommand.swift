import App
import Basics
import Codecs
import Fleet
import Reports
import Trips

/// `drover trips FILE…`: the trips of recordings, computed by the same code as the worker's, no server needed.
extension Command {
    static let trips = Command(
        name: "trips", operands: "FILE… [options]",
        summary:
            "Trips in files of cars' recordings: distance, fuel, sharp events. Needs no server. A stored one: `drover trip`.",
        options: [
            .init("--gap", "S", "hole limit in seconds: readings further apart are not bridged (default 10)"),
            .init("--trip-gap", "MIN", "a longer silence ends a trip, minutes (default 5)"),
            .init("--start", "TIME", "when the recording began, for files without a date (2026-11-21T08:00:00Z)"),
            .init("--mapping", "FILE", "further column names: `column name,key[,unit]` a line"),
            .init("--fuel-price", "P", "price per US gallon (default 2.39 USD; `none`: costs are unknown)"),
            .init("--currency", "CODE", "currency of the price (default USD)"),
            .init("--fuel", "KIND", "what the car burns: \(fuels) (default gasoline)"),
            .init("--displacement", "CC", "of its engine, cm³: fuel from manifold pressure where there is no air flow"),
            .init("--efficiency", "PCT", "its volumetric efficiency, percent (default 80)"),
            .init("--sharp", "M/S2", "limit of sharp acceleration and braking (default 3.0)"),
            .init("--sharp-speed", "KMH", "changes below this speed are never sharp (default 0)"),
            .init("--sharp-hold", "MS", "how long a change must stay beyond the limit (default 0)"),
            .init("--format", "F", "table, csv or json (default table)"),
        ],
        example: "drover trips Tests/Fixtures/cars/*.csv --format json",
        run: runTrips)

    private static var fuels: String { Action.Car.Fuel.allCases.map(\.rawValue).joined(separator: ", ") }

    private static func runTrips(_ arguments: Arguments) throws -> ExitCode {
        let format = try arguments.one("--format", of: TripsOutput.formats, standard: "table")
        let rules = try tripRules(arguments)
        let (car, price) = (try car(arguments), try fuelPrice(arguments))
        var (output, failed) = (TripsOutput(nameKey: "file"), false)
        for path in try arguments.files() {
            do {
                let recording = try CarFile.read(path, arguments, startNeeded: false)
                let readings = recording.readings.unioned()
                guard !readings.isEmpty else { throw Failure("holds no reading that can be used") }
                for trip in Drive.whole(readings, rules: rules).trips {
                    output.add(path, TripFigures(trip, car: car, price: price))
                }
            } catch let error as UsageError {
                throw error
            } catch {
                // One bad file does not keep the others from being read; the exit code tells.
                let said = "\(error)"
                Out.note(said.hasPrefix(path) ? said : "\(path): \(said)")
                failed = true
            }
        }
        Out.result(format(output))
        return failed ? .failed : .done
    }

    static func tripRules(_ arguments: Arguments) throws -> TripRules {
        var rules = TripRules()
        if let gap = try arguments.integer("--gap", in: 1...600) { rules.gapMs = gap * 1_000 }
        if let gap = try arguments.integer("--trip-gap", in: 1...100_000) { rules.tripGapMs = gap * 60_000 }
        if let limit = try number("--sharp", arguments, in: 0.5...20) {
            rules.sharpMmPerS2 = Int64((limit * 1_000).rounded())
        }
        if let speed = try arguments.integer("--sharp-speed", in: 0...200) {
            rules.sharpLeastMetresPerHour = speed * 1_000
        }
        if let hold = try arguments.integer("--sharp-hold", in: 0...10_000) { rules.sharpHoldMs = hold }
        if let fault = rules.fault { throw UsageError(fault) }
        return rules
    }

    /// The car of the recordings, as a registration would describe it.
    private static func car(_ arguments: Arguments) throws -> Action.Car {
        var car = Action.Car()
        if arguments.has("--fuel") {
            let known = Dictionary(uniqueKeysWithValues: Action.Car.Fuel.allCases.map { ($0.rawValue, $0) })
            car.fuel = try arguments.one("--fuel", of: known, standard: Action.Car.Fuel.gasoline.rawValue)
        }
        car.displacementCc = try arguments.integer("--displacement", in: 50...30_000).map { Int32($0) }
        car.volumetricEfficiencyMilliPct = try number("--efficiency", arguments, in: 10...300)
            .map { Int32(($0 * 1_000).rounded()) }
        return car
    }

    private static func number(
        _ option: String, _ arguments: Arguments, in range: ClosedRange<Double>
    ) throws -> Double? {
        guard let text = arguments.text(option) else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw UsageError("\(option) \(text): must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    private static func fuelPrice(_ arguments: Arguments) throws -> FuelPrice? {
        var price = FuelPrice.standard
        if let text = arguments.text("--fuel-price") {
            if text == "none" { return nil }
            guard let value = Double(text), value >= 0, value.isFinite else {
                throw UsageError("--fuel-price \(text): must be a number, or `none`")
            }
            price.perUSGallon = value
        }
        if let currency = arguments.text("--currency") { price.currency = currency }
        return price
    }
}

/// Reads one car's recording and says on standard error what was not taken.
enum CarFile {
    /// Where recordings without any date are put when only their trips are asked for.
    private static let arbitraryStart = "2000-01-01T00:00:00Z"

    static func read(_ path: String, _ arguments: Arguments, startNeeded: Bool) throws -> LoggerRecording {
        let bytes = try Files.read(path)
        var file = LoggerFile(fileName: Files.name(path))
        if let text = arguments.text("--start") {
            guard let start = UTC.parse(text) else {
                throw UsageError("--start \(text): must be like 2026-11-21T08:00:00Z or 2026-11-21T08:00:00+01:00")
            }
            file.startMs = start
        }
        if let mapping = arguments.text("--mapping") {
            do {
                file.extraColumns = try LoggerColumns.mapping(String(decoding: Files.read(mapping), as: UTF8.self))
            } catch let error as LoggerError {
                throw UsageError("\(mapping): \(error)")
            }
        }
        let recording = try read(bytes, file, path, startNeeded: startNeeded)
        if file.startMs != nil, !recording.usesStart, !recording.readings.isEmpty {
            Out.note("\(path): --start is not used: the file has dates")
        }
        report(path, recording)
        return recording
    }

    private static func read(
        _ bytes: [UInt8], _ file: LoggerFile, _ path: String, startNeeded: Bool
    ) throws -> LoggerRecording {
        do {
            return try file.read(bytes)
        } catch let error {
            guard case .startNeeded = error, !startNeeded else { throw error }
        }
        var file = file
        file.startMs = UTC.parse(arbitraryStart)
        Out.note("\(path): has no date; times are shown as if it began at \(arbitraryStart) (--start TIME sets it)")
        return try file.read(bytes)
    }

    private static func report(_ path: String, _ recording: LoggerRecording) {
        let skipped = LoggerRecording.Skipped.allCases.compactMap { reason in
            recording.skipped[reason].map { "\($0) \(reason.rawValue)" }
        }
        guard !skipped.isEmpty else { return }
        Out.note("\(path): \(recording.rows) rows, not taken: " + skipped.joined(separator: ", "))
    }
}
