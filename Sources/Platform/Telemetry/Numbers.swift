internal import Synchronization

/// A number that only grows; safe from any thread.
public final class Counter: Metric {
    private let count = Atomic<Int64>(0)

    /// Count once a batch, not once a record. Precondition: not negative.
    public func add(_ n: Int = 1) {
        precondition(n >= 0, "a counter never goes down")
        count.wrappingAdd(Int64(n), ordering: .relaxed)
    }

    public var value: Int { Int(count.load(ordering: .relaxed)) }

    public func append(_ name: String, labels: String, to text: inout String) {
        appendSample(name, labels, String(value), to: &text)
    }
}

/// A number that goes up and down; safe from any thread.
public final class Gauge: Metric {
    private let bits = Atomic<UInt64>(0)

    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    public func set(_ value: some BinaryInteger) { set(Double(value)) }

    /// Adds, also from several threads at once.
    public func add(_ n: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + n).bitPattern
            let result = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if result.exchanged { return }
            old = result.original
        }
    }

    public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    public func append(_ name: String, labels: String, to text: inout String) {
        appendSample(name, labels, numberText(value), to: &text)
    }
}

/// A histogram of durations, in buckets from a millisecond to a minute; safe from any thread. A scrape during an observation may see the
/// bucket before the sum; the next scrape has both.
public final class Durations: Metric {
    private static let boundsMs: [Double] = [
        1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000,
    ]
    /// One bucket more than bounds: what took longer than all of them.
    private let buckets = boundsMs.map { _ in Counter() } + [Counter()]
    private let sumMicroseconds = Atomic<Int64>(0)

    public func observe(ms: Double) {
        let bounded = max(0, min(ms, 1e12))
        buckets[Durations.boundsMs.firstIndex { bounded <= $0 } ?? Durations.boundsMs.count].add()
        sumMicroseconds.wrappingAdd(Int64(bounded * 1000), ordering: .relaxed)
    }

    public var count: Int { buckets.reduce(0) { $0 + $1.value } }

    public func append(_ name: String, labels: String, to text: inout String) {
        var total = 0
        for (bound, bucket) in zip(Durations.boundsMs, buckets) {
            total += bucket.value
            appendSample(name + "_bucket", labels + "le=\"\(bound / 1000)\",", String(total), to: &text)
        }
        total += buckets[buckets.count - 1].value
        appendSample(name + "_bucket", labels + "le=\"+Inf\",", String(total), to: &text)
        let seconds = Double(sumMicroseconds.load(ordering: .relaxed)) / 1e6
        appendSample(name + "_sum", labels, numberText(seconds), to: &text)
        appendSample(name + "_count", labels, String(total), to: &text)
    }
}

private func appendSample(_ name: String, _ labels: String, _ value: String, to text: inout String) {
    text += name
    if !labels.isEmpty { text += "{" + labels.dropLast() + "}" }
    text += " " + value + "\n"
}

/// Whole numbers without a fraction, as Prometheus itself writes them.
private func numberText(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return Int64(exactly: value).map { String($0) } ?? String(value)
}
