internal import Telemetry

/// The worker's figures, by the names that Prometheus reads.
struct WorkerMetrics: Sendable {
    let records: Counter
    let rejected: Counter
    let droppedFields: Counter
    let droppedTicks: Counter
    let decidedAnew: Counter
    let failures: Counter
    let commits: Durations
    let lag: Family<Gauge>
    let partitions: Gauge
    let vehicles: Gauge
    let quarantined: Family<Gauge>

    init(_ metrics: Metrics, topics: [String]) {
        records = metrics.counter("drover_records_total", "Records taken from the topics and committed.")
        rejected = metrics.counter("drover_records_rejected_total", "Records that could not be decoded.")
        droppedFields = metrics.counter("drover_fields_dropped_total", "Fields whose value was impossible.")
        droppedTicks = metrics.counter("drover_ticks_dropped_total", "Ticks ahead of the broker's clock.")
        decidedAnew = metrics.counter(
            "drover_dispatch_decisions_anew_total",
            "Decisions on the log that did not fit what they were made on, and were made anew.")
        failures = metrics.counter(
            "drover_worker_failures_total", "Times that partitions started again from the stored offsets.")
        commits = metrics.durations("drover_commit_seconds", "Time of a commit.")
        lag = metrics.gauges(
            "drover_worker_lag_records", "Records on the log of this worker's partitions that are not written yet.",
            ["topic": topics])
        partitions = metrics.gauge("drover_worker_partitions", "Partitions that this worker reads.")
        vehicles = metrics.gauge(
            "drover_worker_vehicles", "Vehicles of this worker's partitions whose state is in memory.")
        quarantined = metrics.gauges(
            "drover_quarantined_vehicles", "Vehicles of this worker's partitions that are set apart.",
            ["topic": topics.filter(QuarantineSearch.topics.contains)])
    }

    func publish(_ counts: RecordCounts, _ outcome: Commit.Outcome) {
        records.add(counts.records)
        rejected.add(counts.rejected)
        droppedFields.add(counts.droppedFields)
        droppedTicks.add(counts.droppedTicks)
        decidedAnew.add(counts.decidedAnew)
        commits.observe(ms: Double(outcome.durationMs))
    }
}
