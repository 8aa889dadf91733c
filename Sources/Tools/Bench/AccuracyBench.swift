internal import Codecs
internal import Fleet
internal import Foundation
internal import Trips

/// `drover bench accuracy`: trips of recordings beside what the same recording says of itself by other means: the
/// distance by its positions, the fuel by the consumption that its logger wrote down.
package struct AccuracyBench {
    /// Recordings with positions write a row every 5 to 7 s: shorter holes would cut most of them away.
    private static let gapS: Int64 = 15
    /// The columns of enviroCar's own figure of consumption.
    private static let loggedFuel = "consumption_lph,fuel_rate_lph"

    private let stand: BenchEnvironment
    private let rules: TripRules

    /// - Parameter gapS: the hole limit; nil: 15 s.
    package init(gapS: Int64?, on stand: BenchEnvironment) {
        self.stand = stand
        var rules = TripRules()
        rules.gapMs = (gapS ?? AccuracyBench.gapS) * 1_000
        self.rules = rules
    }

    package func run(_ files: [String]) throws -> [Figure] {
        var (figures, errors): ([Figure], [Double]) = ([], [])
        for path in try files.isEmpty ? [stand.home() + "/Tests/Fixtures/cars/envirocar"] : files {
            for path in try AccuracyBench.recordings(path) {
                let name = URL(fileURLWithPath: path).lastPathComponent
                var file = LoggerFile(fileName: name)
                file.startMs = 0
                file.extraColumns = try LoggerColumns.mapping(AccuracyBench.loggedFuel)
                let readings = try file.read(stand.read(path)).readings.unioned()
                if let distance = DistanceAccuracy(readings, rules: rules) {
                    figures.append(
                        Figure(
                            name: "distance \(name)", value: distance.speedMetres, unit: "m",
                            baseline: distance.positionMetres))
                    errors.append(distance.error.magnitude)
                } else {
                    stand.note(
                        "\(path): has no positions beside speeds: there is no independent measure of its distance")
                }
                figures += fuel(readings, rules, name)
            }
        }
        guard !errors.isEmpty else { return figures }
        let mean = exp(errors.reduce(0) { $0 + log($1) } / Double(errors.count))
        return figures + [
            Figure(
                name: "distance error, geometric mean of \(errors.count)", value: mean * 100, unit: "%", baseline: nil)
        ]
    }

    /// By air flow, over the readings that have a logged rate as well.
    private func fuel(_ readings: [CarReading], _ rules: TripRules, _ name: String) -> [Figure] {
        let both = readings.filter { $0[.fuelRate] != nil && ($0[.maf] ?? $0[.mafCalculated]) != nil }
        let withoutRate = both.map { reading in
            var reading = reading
            reading[.fuelRate] = nil
            return reading
        }
        let litres = Drive.whole(withoutRate, rules: rules).trips.reduce(0.0) { sum, trip in
            guard case .litres(let litres, _) = FuelUse(trip.totals, car: nil) else { return sum }
            return sum + litres
        }
        let logged = zip(both, both.dropFirst()).reduce(0.0) { sum, pair in
            guard pair.1.ts - pair.0.ts <= rules.gapMs else { return sum }
            let twice = Double(pair.0[.fuelRate]!) + Double(pair.1[.fuelRate]!)
            return sum + twice / 2_000 * Double(pair.1.ts - pair.0.ts) / 3_600_000
        }
        guard litres > 0, logged > 0 else { return [] }
        return [Figure(name: "fuel \(name)", value: litres, unit: "L", baseline: logged)]
    }

    private static func recordings(_ path: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: path) else { throw BenchFailure("\(path): there is no such file") }
        let values = try URL(fileURLWithPath: path).resourceValues(forKeys: [.isDirectoryKey])
        guard values.isDirectory == true else { return [path] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter {
            $0.hasSuffix(".csv") && $0 != "expected.csv"
        }.map { path + "/" + $0 }
    }
}
