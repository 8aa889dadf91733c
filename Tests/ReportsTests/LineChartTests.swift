import Alerts
import Presentation
import Reports
import Testing

@Suite struct LineChartTests {
    @Test(arguments: [
        (0.0, 4.0, [0.0, 1, 2, 3, 4]), (70, 97, [70, 80, 90, 100]), (11.8, 15, [11, 12, 13, 14, 15]),
        (160, 193, [160, 170, 180, 190, 200]), (88, 88, [87.5, 88, 88.5]), (-12, 31, [-20, -10, 0, 10, 20, 30, 40]),
    ])
    func marksAreRoundAndHoldAllValues(_ low: Double, _ high: Double, _ roughly: [Double]) {
        let scale = LineChart.Scale(low, high)
        #expect(scale.least <= low && scale.most >= high && scale.least < scale.most)
        #expect((2...7).contains(scale.marks.count))
        let step = scale.marks[1] - scale.marks[0]
        for (a, b) in zip(scale.marks, scale.marks.dropFirst()) { #expect(abs(b - a - step) < 1e-9 * max(1, abs(b))) }
        if high - low > 1 { #expect(zip(scale.marks, roughly).allSatisfy { abs($0 - $1) < 1e-9 }) }
    }

    static func chart(_ points: [(Int64, Double, Double)], limits: [LineChart.Limit] = []) -> LineChart {
        LineChart(
            title: "Coolant, °C", points: points.map { LineChart.Point(ms: $0.0, least: $0.1, most: $0.2) },
            limits: limits, span: 0..<10_000, gapMs: 1_000, clock: { "at \($0) <" })
    }

    @Test func aHoleStaysAHole() throws {
        let svg = try #require(Self.chart([(0, 1, 1), (1_000, 2, 2), (5_000, 3, 3), (6_000, 1, 4), (9_000, 2, 2)]).svg)
            .markup
        let path = try #require(svg.firstMatch(of: /d="([^"]*)"/)).1
        #expect(path.count { $0 == "M" } == 3)
        // The last one stands alone; the piece with a least and a greatest has both.
        #expect(svg.components(of: "<circle") == 1)
        #expect(path.count { $0 == "L" } == 3)
    }

    @Test func limitsAreDrawnAndSaid() throws {
        let svg = try #require(
            Self.chart([(0, 80, 80)], limits: [LineChart.Limit(85, .warning), LineChart.Limit(95, .critical)]).svg
        ).markup
        #expect(svg.contains("warning at 85, critical at 95"))
        #expect(svg.contains("class=\"limit warning\"") && svg.contains("class=\"limit critical\""))
        #expect(!svg.contains("at 0 <") && svg.contains("at 0 &lt;"), "what is shown is escaped")
    }

    @Test func nothingIsDrawnOfNothing() { #expect(Self.chart([]).svg == nil) }
}

extension String { fileprivate func components(of part: String) -> Int { ranges(of: part).count } }

@Suite struct ShownValueTests {
    @Test(arguments: [
        (65.0, "gallons", "246.1 L", "65 US gal"), (100, "US gal", "378.5 L", "100 US gal"),
        (10, "Gallons", "37.9 L", "10 US gal"), (10, " U.S. gal ", "37.9 L", "10 US gal"),
        (10, "gal", "37.9 L", "10 US gal"),
        (193, "kPa", "193 kPa", "28 psi"), (441, "kPa", "441 kPa", "64 psi"), (95, "°C", "95 °C", "203 °F"),
        (100, "km/h", "100 km/h", "62.1 mph"), (50, "hours", "50 h", "50 h"), (1, " ", "1", "1"),
    ])
    func eachUnitAsItsReaderHasIt(_ value: Double, _ unit: String, _ metric: String, _ us: String) {
        #expect(ShownValue(value, unit: unit, in: .metric).text == metric)
        #expect(ShownValue(value, unit: unit, in: .us).text == us)
    }
}
