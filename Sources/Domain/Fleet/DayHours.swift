import Basics

/// A number for each hour of a local day, written like `0-6 40, 6-10 22, 10-24 30`.
public struct DayHours: Equatable, Sendable {
    public struct Fault: Error, CustomStringConvertible { public let description: String }

    /// In thousandths, by hour.
    public let thousandths: [Int64]

    /// - Parameter range: of each number, in thousandths.
    public init(_ text: String, _ range: ClosedRange<Int64>) throws(Fault) {
        var hours = [Int64?](repeating: nil, count: 24)
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ").map(String.init)
            let span = (words.first ?? "").split(separator: "-").map { Int($0) }
            guard words.count == 2, span.count == 2, let from = span[0], let to = span[1], (0..<24).contains(from),
                (from + 1...24).contains(to), let number = Decimal.scaled(words[1].utf8, decimals: 3),
                range.contains(number)
            else {
                let least = Decimal.text(range.lowerBound, decimals: 3)
                let most = Decimal.text(range.upperBound, decimals: 3)
                throw Fault(
                    description: "`\(part)`: write hours and a number from \(least) to \(most) like `0-6 1, 6-24 2`")
            }
            for hour in from..<to {
                guard hours[hour] == nil else { throw Fault(description: "hour \(hour) stands there twice") }
                hours[hour] = number
            }
        }
        if let hour = hours.firstIndex(of: nil) { throw Fault(description: "hour \(hour) to \(hour + 1) is missing") }
        thousandths = hours.compactMap { $0 }
    }
}

/// A number from each of some thresholds on, written like `0.5 1.1, 2.5 1.25`: 1.1 from 0.5 on.
public struct StepTable: Equatable, Sendable {
    public static let stepsMax = 20
    /// In thousandths, the lowest threshold first.
    private let steps: [(from: Int64, number: Int64)]

    /// - Parameter range: of each number, in thousandths.
    public init(_ text: String, _ range: ClosedRange<Int64>) throws(DayHours.Fault) {
        var steps: [(from: Int64, number: Int64)] = []
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ").map { Decimal.scaled($0.utf8, decimals: 3) }
            guard words.count == 2, let from = words[0], let number = words[1], range.contains(number), from >= 0,
                from > steps.last?.from ?? -1, steps.count < StepTable.stepsMax
            else {
                let least = Decimal.text(range.lowerBound, decimals: 3)
                let most = Decimal.text(range.upperBound, decimals: 3)
                throw DayHours.Fault(
                    description:
                        "`\(part)`: write at most \(StepTable.stepsMax) thresholds that rise, each with a number "
                        + "from \(least) to \(most), like `0.5 1.1, 2.5 1.25`")
            }
            steps.append((from, number))
        }
        self.steps = steps
    }

    /// Below the first threshold 1, in thousandths.
    public func number(at value: Int64) -> Int64 { steps.last { $0.from <= value }?.number ?? 1_000 }

    public static func == (a: StepTable, b: StepTable) -> Bool {
        a.steps.elementsEqual(b.steps) { $0 == $1 }
    }
}
