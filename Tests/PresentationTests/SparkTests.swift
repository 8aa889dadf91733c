import Presentation
import Testing

/// Small pictures in tables and tiles: what the words beside them say is what they draw.
@Suite struct SparkTests {
    private func lines(_ picture: HTML, of ink: String) -> [[(x: Double, y: Double)]] {
        picture.markup.matches(of: /<polyline points="([^"]*)" fill="none" stroke="([^"]*)"/).filter { $0.2 == ink }
            .map { match in
                match.1.split(separator: " ").map { pair in
                    let parts = pair.split(separator: ",").compactMap { Double($0) }
                    return (parts[0], parts[1])
                }
            }
    }

    @Test func aGapStaysAGap() {
        let drawn = lines(HTML.sparkline(values: [1, 2, nil, 3, 4, 5]), of: "var(--accent)")
        #expect(drawn.map(\.count) == [2, 3])
        #expect(drawn[0][0].x < drawn[0][1].x && drawn[0][1].x < drawn[1][0].x)
        // More is higher.
        #expect(drawn[0][0].y > drawn[1][2].y)
    }

    @Test func whatLiesBeyondTheLimitIsRedFromTheLimitOn() {
        let picture = HTML.sparkline(values: [80, 90, 100, 90], limit: HTML.SparkLimit(95), width: 106, height: 46)
        let red = lines(picture, of: "var(--critical)")
        #expect(red.map(\.count) == [3])
        #expect(red[0][0].y == red[0][2].y && red[0][1].y < red[0][0].y)
        #expect(picture.markup.contains("stroke-dasharray"))
    }

    @Test(arguments: [
        (false, [80.0, 99], true), (false, [99, 80], false), (true, [99, 80], true), (true, [80, 99], false),
    ])
    func theLastValueIsRedWhereItIsBeyond(_ isLeast: Bool, _ values: [Double], _ isRed: Bool) {
        let picture = HTML.sparkline(values: values, limit: HTML.SparkLimit(90, isLeast: isLeast))
        #expect(picture.markup.contains("r=\"2.5\" fill=\"var(--critical)\"") == isRed)
    }

    @Test func valuesThatDoNotChangeAreInTheMiddle() {
        let drawn = lines(HTML.sparkline(values: [7, 7, 7], height: 34), of: "var(--accent)")
        #expect(drawn.map { $0.map(\.y) } == [[17, 17, 17]])
    }

    @Test func nothingIsDrawnOfNothing() {
        #expect(HTML.sparkline(values: []).isEmpty && HTML.sparkline(values: [nil, nil]).isEmpty)
        #expect(HTML.bars(values: []).isEmpty && HTML.miniTrack([]).isEmpty)
    }

    @Test func onlyTheLastBarIsFullAndNoneVanishes() {
        let bars = HTML.bars(values: [0, 5, 10], height: 22).markup
        let heights = bars.matches(of: /<rect [^>]* height="([^"]*)"/).compactMap { Double($0.1) }
        #expect(heights == [1.5, 10, 20])
        #expect(bars.matches(of: /opacity/).count == 2 && bars.contains("var(--line-strong)"))
    }

    @Test func northIsUpAndNothingIsStretched() {
        // A degree of longitude is half as long as one of latitude at 60° north.
        let track = HTML.miniTrack([(60, 24), (60.01, 24.02)], width: 60, height: 60)
        let way = lines(track, of: "var(--accent)")[0]
        #expect(way[0].y > way[1].y && way[0].x < way[1].x)
        #expect(abs((way[1].x - way[0].x) - (way[0].y - way[1].y)) < 0.3)
    }

    @Test func aVehicleThatStoodStillIsADotInTheMiddle() {
        let way = lines(HTML.miniTrack([(60, 24), (60, 24)], width: 64, height: 40), of: "var(--accent)")[0]
        #expect(way.allSatisfy { $0 == (32, 20) })
    }
}
