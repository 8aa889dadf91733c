package import Telemetry

/// Metrics of calls to external services, per process.
package struct ExternalServiceMetrics: Sendable {
    static let services = ["weather", "weather-history", "travel", "geocoder"]

    private let questions: Family<Counter>
    private let dropped: Family<Counter>

    /// Once a registry: names are taken then.
    package init(_ metrics: Metrics) {
        questions = metrics.counters(
            "drover_outside_questions_total", "Questions to services of others by what became of them.",
            [
                "service": ExternalServiceMetrics.services,
                "outcome": ["answered"] + ServiceError.Reason.allCases.map(\.rawValue),
            ])
        dropped = metrics.counters(
            "drover_outside_values_dropped_total", "Values of services of others that were not believed.",
            ["service": ExternalServiceMetrics.services])
    }

    package func answered(_ service: String, dropped count: Int) {
        questions[service, "answered"].add()
        dropped[service].add(count)
    }

    package func failed(_ service: String, _ reason: ServiceError.Reason) { questions[service, reason.rawValue].add() }
}
