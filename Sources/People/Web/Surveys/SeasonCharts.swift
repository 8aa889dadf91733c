internal import Basics
internal import Fleet
internal import Presentation
internal import Reports
internal import Storage
internal import Surveys

/// When a question's sightings were: by week, the flight curve of a season, by band of temperature. Each chart has its table.
struct SeasonCharts {
    let caller: PageCaller

    func curve(_ season: SightingView.Season) -> HTML {
        let curve = FlightCurve(
            weeks: season.walks.map {
                FlightCurve.Week(
                    week: $0.week, visits: $0.surveys, meanCount: Double($0.individuals) / Double($0.surveys))
            })
        guard !curve.weeks.isEmpty else { return "" }
        let points = curve.weeks.map { week -> LineChart.Point in
            let ms = monday(season.year, week.week)
            return LineChart.Point(ms: ms, least: week.meanCount, most: week.meanCount)
        }
        // From the first week of the year to the last; a week without a walk lies on the line between its neighbours.
        let span = monday(season.year, 1)..<monday(season.year + 1, 1)
        let chart = LineChart(
            title: t("Individuals a walk, \(season.year)"), points: points, limits: [], span: span,
            gapMs: 60 * 7 * UTC.msPerDay, clock: { String(UTC.dateText($0).suffix(5)) }
        ).svg
        let rows = season.walks.map { walk -> [HTML?] in
            [
                "\(walk.week)", .text(UTC.dateText(monday(season.year, walk.week))), "\(walk.surveys)",
                "\(walk.individuals)", .text(number(Double(walk.individuals) / Double(walk.surveys))),
            ]
        }
        return """
            <h2 id="flight-curve">Flight curve of \(season.year)</h2>
            <p id="curve">\(curve.meanWeek.map {
                t("Index \(number(curve.index)) individuals × weeks (trapezoid rule), mean week \(number($0)).")
            } ?? t("Index \(number(curve.index)) individuals × weeks (trapezoid rule)."))
            \(season.sites > 1
                ? t("All walks of the year that fit the site, place and surveyor count, those that did not find it as 0; of \(season.sites) sites together.")
                : t("All walks of the year that fit the site, place and surveyor count, those that did not find it as 0."))</p>
            <div class="charts"><figure>\(chart ?? "")<figcaption>Mean count of a walk by week</figcaption></figure></div>
            <details><summary>The curve as a table</summary>
            \(HTML.table(
                caption: t("Walks and counts by week of \(season.year)"),
                headers: [.number(t("Week")), .word(t("From Monday")), .number(t("Walks")), .number(t("Individuals")), .number(t("Mean"))],
                rows: rows, empty: ""))
            </details>
            """
    }

    func weeks(_ weeks: [(year: Int, week: Int, count: SightingExport.Count)]) -> HTML {
        guard let first = weeks.first, let last = weeks.last else { return "" }
        let span = monday(first.year, first.week)..<(monday(last.year, last.week) + 7 * UTC.msPerDay)
        let points = weeks.map { entry -> LineChart.Point in
            let individuals = Double(entry.count.individuals)
            return LineChart.Point(ms: monday(entry.year, entry.week), least: individuals, most: individuals)
        }
        let chart = LineChart(
            title: t("Individuals a week"), points: points, limits: [], span: span, gapMs: 8 * UTC.msPerDay,
            clock: { UTC.dateText($0) }
        ).svg
        return """
            <h2 id="weeks">By week</h2>
            <div class="charts"><figure>\(chart ?? "")<figcaption>Individuals by week, by the surveyors’ clocks</figcaption></figure></div>
            <details><summary>The weeks as a table</summary>
            \(HTML.table(
                caption: t("Counts by week"), headers: [.word(t("Week")), .word(t("From Monday")), .number(t("Sightings")), .number(t("Individuals"))],
                rows: weeks.map {
                    [
                        "\($0.year)-W\($0.week < 10 ? "0" : "")\($0.week)", .text(UTC.dateText(monday($0.year, $0.week))),
                        "\($0.count.sightings)", "\($0.count.individuals)",
                    ]
                }, empty: ""))
            </details>
            """
    }

    func bands(_ bands: [(fromC: Int?, count: SightingExport.Count)]) -> HTML {
        func edge(_ celsius: Int) -> String { ShownValue(Double(celsius), unit: "°C", in: caller.units).text }
        return HTML.table(
            caption: t("By temperature, as the weather service says it"),
            headers: [.word(t("Temperature")), .number(t("Sightings")), .number(t("Individuals"))],
            rows: bands.map { fromC, count in
                [
                    HTML(fromC.map { t("\(edge($0)) to below \(edge($0 + 5))") } ?? t("not known")),
                    "\(count.sightings)",
                    "\(count.individuals)",
                ]
            }, empty: "")
    }

    private func monday(_ year: Int, _ week: Int) -> Int64 { ISOWeek(year: year, week: week).monday * UTC.msPerDay }

    private func number(_ value: Double) -> String {
        Decimal.scaled(value, decimals: 3).map { Decimal.text($0, decimals: 3) } ?? "–"
    }
}
