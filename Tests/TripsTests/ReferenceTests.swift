import Codecs
import Fleet
import Foundation
import SimKit
import Testing
import Trips

/// Where the recordings and their reference answers are.
enum Reference {
    struct Case: Sendable, CustomTestStringConvertible {
        let folder: URL
        let columns: [String: String]
        var testDescription: String { "\(columns["file"]!) gap \(columns["gap_s"]!)" }
        func number(_ name: String) -> Double? { Double(columns[name]!) }
    }

    static let shipped = ["kit-seat-leon", "envirocar"].map {
        Repository.root.appending(path: "Tests/Fixtures/cars/\($0)")
    }
    static let shared = ["obd-carobd-etios", "obd-envirocar", "obd-kit-seat-leon"].map {
        Repository.shared.appending(path: $0)
    }
    static let hasShared = Repository.hasShared("obd-carobd-etios")

    static func cases(_ folders: [URL]) -> [Case] {
        folders.flatMap { folder -> [Case] in
            guard let text = try? String(contentsOf: folder.appending(path: "expected.csv"), encoding: .utf8) else {
                return []
            }
            let lines = text.split(separator: "\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            }
            return lines.dropFirst().map {
                Case(folder: folder, columns: Dictionary(uniqueKeysWithValues: zip(lines[0], $0)))
            }
        }
    }
}

/// Recorded drives against reference answers that were computed independently (the README beside each recording).
/// The shipped recordings are always judged; those marked for tests only where `../shared` is.
struct ReferenceTests {
    @Test("The shipped recordings are there") func shippedRecordings() {
        #expect(Reference.cases(Reference.shipped).count == 12)
    }

    @Test("Shipped recordings", arguments: Reference.cases(Reference.shipped)) func shipped(_ reference: Reference.Case)
        throws
    { try judge(reference) }

    @Test(
        "All recordings",
        .enabled(if: Reference.hasShared, "put the project's ../shared beside the checkout"),
        arguments: Reference.cases(Reference.shared))
    func all(_ reference: Reference.Case) throws { try judge(reference) }

    private func judge(_ reference: Reference.Case) throws {
        let name = reference.columns["file"]!
        let bytes = [UInt8](try Data(contentsOf: reference.folder.appending(path: name)))
        let recording = try LoggerFile(fileName: name, startMs: 1_500_000_000_000).read(bytes)
        var rules = TripRules()
        rules.gapMs = Int64(reference.number("gap_s")! * 1_000)
        rules.tripGapMs = 6_000_000_000
        let trips = Drive.whole(recording.readings.unioned(), rules: rules).trips
        try #require(trips.count == 1)
        let (figures, totals) = (TripFigures(trips[0], price: .standard), trips[0].totals)

        // Every row of the file is a reading, or says the same as the row before it.
        let readings = Int(totals.readings) + (recording.skipped[.rowRepeated] ?? 0)
        #expect(readings == Int(reference.columns["samples"]!))
        #expect(String(trips[0].segments) == reference.columns["segments"])
        #expect(String(totals.sharpAccelerations) == reference.columns["sharp_accel"])
        #expect(String(totals.sharpBrakings) == reference.columns["sharp_brake"])
        equal(figures.maxSpeedKmh, reference.number("max_speed_kmh"), within: 0.0006)
        equal(figures.maxCoolantC, reference.number("max_coolant_c"), within: 0)
        equal(figures.minVoltageV, reference.number("min_voltage"), within: 0.0006)
        equal(figures.maxVoltageV, reference.number("max_voltage"), within: 0.0006)
        // Rows of one time stamp that contradict each other stand 1 ms apart here and 0 ms in the reference, so each
        // such pair may move these sums by a millisecond; the reference itself is rounded to one.
        let pairsMs = Double(readings == Int(totals.readings) ? 0 : totals.readings) / 1_000
        equal(figures.durationS, reference.number("duration_s"), within: 0.0016)
        equal(figures.integratedS, reference.number("integrated_s"), within: 0.0011 + pairsMs * 0.2)
        equal(figures.idleS, reference.number("idle_s"), within: 0.0011 + pairsMs * 0.2)
        for (figure, column) in [
            (figures.distanceKm, "distance_km"), (figures.averageSpeedKmh, "avg_speed_kmh"),
            (figures.fuelUSGal, "fuel_gal"), (figures.averageMpg, "avg_mpg"),
        ] {
            let wanted = reference.number(column)
            equal(figure, wanted, within: 0.001 * (wanted ?? 0) + 0.00006)
        }
    }

    private func equal(
        _ figure: String?, _ wanted: Double?, within limit: Double, line: SourceLocation = #_sourceLocation
    ) {
        guard let wanted else {
            #expect(figure == nil, sourceLocation: line)
            return
        }
        #expect(
            abs(Double(figure ?? "nan")! - wanted) <= limit, "\(figure ?? "nil") is not \(wanted)", sourceLocation: line
        )
    }
}
