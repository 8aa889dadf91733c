import Glibc
import Telemetry
import Testing

@Suite struct MetricsTests {
    @Test func textFormat() {
        let metrics = Metrics()
        let errors = metrics.counters(
            "drover_decode_errors_total", "Records that could not be \"read\"\nby kind.",
            ["stage": ["receiving", "sending"], "kind": ["short", "a\"b"]])
        let lag = metrics.gauge("drover_lag_records", "Records behind the end.")
        errors["receiving", "short"].add(3)
        lag.set(1.5)
        lag.add(-0.5)
        #expect(
            metrics.text() == """
                # HELP drover_decode_errors_total Records that could not be "read"\\nby kind.
                # TYPE drover_decode_errors_total counter
                drover_decode_errors_total{stage="receiving",kind="short"} 3
                drover_decode_errors_total{stage="receiving",kind="a\\"b"} 0
                drover_decode_errors_total{stage="sending",kind="short"} 0
                drover_decode_errors_total{stage="sending",kind="a\\"b"} 0
                # HELP drover_lag_records Records behind the end.
                # TYPE drover_lag_records gauge
                drover_lag_records 1

                """)
    }

    @Test func durationsAreCumulative() {
        let metrics = Metrics()
        let commit = metrics.durations("drover_commit_seconds", "Commit time.")
        commit.observe(ms: 1)
        commit.observe(ms: 30)
        commit.observe(ms: 90_000)
        let text = metrics.text()
        #expect(text.contains("drover_commit_seconds_bucket{le=\"0.001\"} 1\n"))
        #expect(text.contains("drover_commit_seconds_bucket{le=\"0.05\"} 2\n"))
        #expect(text.contains("drover_commit_seconds_bucket{le=\"60.0\"} 2\n"))
        #expect(text.contains("drover_commit_seconds_bucket{le=\"+Inf\"} 3\n"))
        #expect(text.contains("drover_commit_seconds_sum 90.031\n"))
        #expect(text.contains("drover_commit_seconds_count 3\n"))
    }

    @Test func countersCountFromManyThreads() async {
        let counter = Metrics().counter("drover_x_total", "X.")
        let gauge = Metrics().gauge("drover_y", "Y.")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.add()
                        gauge.add(1)
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(gauge.value == 80_000)
    }

    @Test func undeclaredLabelValueStopsUs() async {
        await #expect(processExitsWith: .failure) {
            let errors = Metrics().counters("drover_x_total", "X.", ["kind": ["short"]])
            errors["long"].add()
        }
    }

    @Test func theFirstSignalSetsTheFlagAndTheSecondEndsTheProcess() async {
        await #expect(processExitsWith: .exitCode(143)) {
            Signals.install()
            try #require(!StopFlag.isSet)
            raise(15)
            try #require(StopFlag.wait(timeoutMs: 60_000))
            raise(15)
        }
    }
}
