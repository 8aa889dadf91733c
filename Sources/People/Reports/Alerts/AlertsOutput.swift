package import Alerts
internal import Basics
internal import Codecs
internal import Fleet
internal import Formats

/// Alerts in the three formats, as judged offline. Keys and units are those of the report's alerts.
package struct AlertsOutput: Sendable {
    private let episodes: [Episode]

    package init(_ episodes: [Episode]) {
        self.episodes = episodes.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
    }

    package static let formats: [String: @Sendable (AlertsOutput) -> String] = [
        "json": { output in JSONValue.list(output.episodes.map(json)).rendered(indent: true) },
        "csv": { table($0.episodes, AlertRow.columns).csv() },
        "table": { output in
            table(
                output.episodes,
                AlertRow.columns.filter { !["since", "worst_at", "recommended", "advice"].contains($0) }
            ).text()
        },
    ]

    private static func cells(_ episode: Episode) -> [String: String?] {
        func value(_ value: Int64?) -> String? { value.map { Decimal.text($0, decimals: 3) } }
        return [
            "vehicle": episode.vehicle.text, "model": episode.model, "parameter": episode.name,
            "severity": episode.severity.rawValue, "state": episode.state.rawValue, "test": episode.test.rawValue,
            "threshold": value(episode.threshold), "unit": episode.unit, "since": UTC.text(episode.sinceMs),
            "opened": UTC.text(episode.openedMs), "resolved": episode.resolvedMs.map(UTC.text),
            "opening_value": value(episode.openingValue), "worst_value": value(episode.worstValue),
            "worst_at": UTC.text(episode.worstMs), "recommended": value(episode.recommended), "advice": episode.advice,
        ]
    }

    private static func json(_ episode: Episode) -> JSONValue {
        let cells = cells(episode)
        return .object(AlertRow.columns.map { ($0, AlertRow.json($0, cells[$0] ?? nil)) })
    }

    private static func table(_ episodes: [Episode], _ columns: [String]) -> Table {
        var table = Table(columns)
        table.rows = episodes.map { episode in columns.map { cells(episode)[$0] ?? nil } }
        return table
    }
}
