internal import Synchronization

/// The process's counters and gauges, and their Prometheus text. Metrics are declared once, at start; their labels
/// and every value a label may take are part of the declaration, so the number of series is fixed.
public final class Metrics: Sendable {
    private let families = Mutex<[any MetricText]>([])

    public init() {}

    /// A number that only grows. The name ends in `_total`.
    public func counter(_ name: String, _ help: String) -> Counter {
        counters(name, help, [:])[]
    }

    /// One counter for each combination of label values.
    public func counters(_ name: String, _ help: String, _ labels: KeyValuePairs<String, [String]>) -> Family<Counter> {
        precondition(name.hasSuffix("_total"), "\(name): a counter's name ends in _total")
        return add(Family(name, help, "counter", labels, Counter.init))
    }

    /// A number that goes up and down, in the base unit its name ends in.
    public func gauge(_ name: String, _ help: String) -> Gauge {
        gauges(name, help, [:])[]
    }

    public func gauges(_ name: String, _ help: String, _ labels: KeyValuePairs<String, [String]>) -> Family<Gauge> {
        add(Family(name, help, "gauge", labels, Gauge.init))
    }

    /// Durations in seconds, counted in buckets.
    public func durations(_ name: String, _ help: String) -> Durations {
        precondition(name.hasSuffix("_seconds"), "\(name): a duration's name ends in _seconds")
        return add(Family(name, help, "histogram", [:], Durations.init))[]
    }

    /// All metrics in Prometheus' text format 0.0.4, in the order of their declaration.
    public func text() -> String {
        var text = ""
        for family in families.withLock({ $0 }) { family.append(to: &text) }
        return text
    }

    /// The content type that `text()` is served with.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private func add<M>(_ family: Family<M>) -> Family<M> {
        families.withLock { families in
            precondition(!families.contains { $0.name == family.name }, "\(family.name) is declared twice")
            families.append(family)
        }
        return family
    }
}

/// A metric's name, help and series, ready to be written.
protocol MetricText: Sendable {
    var name: String { get }
    func append(to text: inout String)
}

/// One kind of number.
public protocol Metric: Sendable {
    /// `labels` is empty or ends in a comma.
    func append(_ name: String, labels: String, to text: inout String)
}

/// All series of one name.
public final class Family<M: Metric>: MetricText {
    let name: String
    private let head: String
    private let series: [[String]: M]
    private let order: [(values: [String], labels: String)]

    init(
        _ name: String, _ help: String, _ type: String, _ labels: KeyValuePairs<String, [String]>,
        _ make: () -> M
    ) {
        precondition(Family.isName(name), "\(name) is no metric name")
        self.name = name
        head = "# HELP \(name) \(Family.escaped(help, quotes: false))\n# TYPE \(name) \(type)\n"
        var order: [(values: [String], labels: String)] = [([], "")]
        for (label, values) in labels {
            precondition(Family.isName(label) && !values.isEmpty, "\(name): label \(label) needs a name and values")
            order = order.flatMap { row in
                values.map { (row.values + [$0], row.labels + "\(label)=\"\(Family.escaped($0))\",") }
            }
        }
        precondition(order.count <= 10_000, "\(name) has \(order.count) series")
        self.order = order
        series = Dictionary(uniqueKeysWithValues: order.map { ($0.values, make()) })
    }

    /// The series with these label values, in the order of the declaration. Keep it: the look-up is not for hot paths.
    /// Precondition: each value was declared.
    public subscript(_ values: String...) -> M {
        guard let metric = series[values] else { preconditionFailure("\(name) has no series \(values)") }
        return metric
    }

    func append(to text: inout String) {
        text += head
        for (values, labels) in order { series[values]!.append(name, labels: labels, to: &text) }
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
        }
    }

    private static func escaped(_ text: String, quotes: Bool = true) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"" where quotes: escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
