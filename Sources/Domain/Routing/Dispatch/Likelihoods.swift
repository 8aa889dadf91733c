/// How often people take a request back and drivers refuse one, by place: old observations fade.
///
/// Each wait ends as one trial of its place: taken back, or picked up. Each offer to a driver ends as one trial of both its stops' places:
/// refused, or accepted. A trial that is a half-life old counts half. To a cell, its neighbours add a quarter, and ten trials of the
/// campus's mean are added; to that mean, twenty successes.
///
/// Sums are kept as of a landmark in the past, where a later trial weighs more (Cormode et al., "Forward decay", 2009), so
/// nothing is rounded by time that passes. Landmarks are whole half-lives: moving one is exact, too.
public struct Likelihoods: Equatable, Sendable {
    static let cellM = 250.0
    /// Cells with the fewest trials are forgotten beyond that.
    public static let cellsMax = 4_096
    static let neighbourShare = 0.25
    static let priorTrials = 10.0
    static let assumedTrials = 20.0

    /// A square of `cellM`, counted from the campus's middle.
    public struct Cell: Hashable, Comparable, Sendable {
        public var column: Int32
        public var row: Int32

        public init(_ point: CampusPoint) {
            column = Int32((point.xM / Likelihoods.cellM).rounded(.down))
            row = Int32((point.yM / Likelihoods.cellM).rounded(.down))
        }

        init(column: Int32, row: Int32) { (self.column, self.row) = (column, row) }

        public var middle: CampusPoint {
            CampusPoint(
                xM: (Double(column) + 0.5) * Likelihoods.cellM, yM: (Double(row) + 0.5) * Likelihoods.cellM)
        }

        public static func < (a: Cell, b: Cell) -> Bool { (a.row, a.column) < (b.row, b.column) }
    }

    /// Trials and how many of them went wrong.
    public struct Counts: Equatable, Sendable {
        public var waits = 0.0
        public var cancelled = 0.0
        public var offers = 0.0
        public var refused = 0.0

        package init(waits: Double = 0, cancelled: Double = 0, offers: Double = 0, refused: Double = 0) {
            self.waits = waits
            self.cancelled = cancelled
            self.offers = offers
            self.refused = refused
        }

        static func += (a: inout Counts, b: Counts) {
            a.waits += b.waits
            a.cancelled += b.cancelled
            a.offers += b.offers
            a.refused += b.refused
        }

        static func * (a: Counts, factor: Double) -> Counts {
            Counts(
                waits: a.waits * factor, cancelled: a.cancelled * factor, offers: a.offers * factor,
                refused: a.refused * factor)
        }

        var isValid: Bool {
            [waits, cancelled, offers, refused].allSatisfy { $0 >= 0 && $0.isFinite } && cancelled <= waits
                && refused <= offers
        }
    }

    /// One cell as of a time.
    public struct Entry: Equatable, Sendable {
        public var cell: Cell
        public var counts: Counts
        public var cancel: Double
        public var override: Double
    }

    public private(set) var halfLifeMs: Int64
    /// In whole half-lives since 1970.
    private(set) var landmark: Int64 = 0
    /// As of the landmark.
    private(set) var sums: [Cell: Counts] = [:]

    /// Precondition: a half-life of a millisecond or more.
    public init(halfLifeMs: Int64) {
        precondition(halfLifeMs > 0)
        self.halfLifeMs = halfLifeMs
    }

    init?(halfLifeMs: Int64, landmark: Int64, sums: [Cell: Counts]) {
        guard halfLifeMs > 0, sums.count <= Likelihoods.cellsMax, sums.values.allSatisfy(\.isValid) else { return nil }
        self.halfLifeMs = halfLifeMs
        self.landmark = landmark
        self.sums = sums
    }

    // MARK: Trials

    /// A rider who waited there does so no longer.
    public mutating func waited(at place: CampusPoint, cancelled: Bool, atMs: Int64) {
        add(Counts(waits: 1, cancelled: cancelled ? 1 : 0), at: place, atMs)
    }

    /// A driver who had a stop there refused it, or came.
    public mutating func offered(at place: CampusPoint, refused: Bool, atMs: Int64) {
        add(Counts(offers: 1, refused: refused ? 1 : 0), at: place, atMs)
    }

    private mutating func add(_ counts: Counts, at place: CampusPoint, _ atMs: Int64) {
        move(atMs)
        let cell = Cell(place)
        if sums[cell] == nil, sums.count >= Likelihoods.cellsMax { forgetLeast() }
        sums[cell, default: Counts()] += counts * weight(atMs)
    }

    /// The weight of a trial at that time, as of the landmark.
    private func weight(_ atMs: Int64) -> Double {
        let (whole, rest) = Likelihoods.split(atMs, halfLifeMs)
        let half = Double(sign: .plus, exponent: Int(max(-1_000, min(1_000, whole - landmark))), significand: 1)
        return half * Likelihoods.powerOfTwo(Double(rest) / Double(halfLifeMs))
    }

    /// Sums stay far below the greatest number: every 256 half-lives the landmark follows.
    private mutating func move(_ atMs: Int64) {
        let whole = Likelihoods.split(atMs, halfLifeMs).whole
        if sums.isEmpty { landmark = whole }
        guard whole - landmark > 256 else { return }
        let factor = Double(sign: .plus, exponent: Int(max(-1_000, landmark - whole)), significand: 1)
        landmark = whole
        // Too little left to count.
        sums = sums.mapValues { $0 * factor }.filter { $0.value.waits + $0.value.offers > 1e-9 }
    }

    private mutating func forgetLeast() {
        let least = sums.min { a, b in
            (a.value.waits + a.value.offers, a.key) < (b.value.waits + b.value.offers, b.key)
        }
        if let least { sums[least.key] = nil }
    }

    private static func split(_ ms: Int64, _ halfLifeMs: Int64) -> (whole: Int64, rest: Int64) {
        let rest = ((ms % halfLifeMs) + halfLifeMs) % halfLifeMs
        return ((ms - rest) / halfLifeMs, rest)
    }

    /// 2 to the power of 0 to 1, by its series: the same bits on every machine, which a library's function is not.
    static func powerOfTwo(_ x: Double) -> Double {
        let exponent = x * 0.693147180559945309417
        var (term, sum) = (1.0, 1.0)
        for n in 1...20 {
            term *= exponent / Double(n)
            sum += term
        }
        return sum
    }

    /// Changes the half-life from now on: the sums keep their present value.
    public mutating func setHalfLife(_ ms: Int64, nowMs: Int64) {
        precondition(ms > 0)
        guard ms != halfLifeMs else { return }
        let factor = 1 / weight(nowMs)
        var changed = Likelihoods(halfLifeMs: ms)
        changed.landmark = Likelihoods.split(nowMs, ms).whole
        let now = changed.weight(nowMs)
        changed.sums = sums.mapValues { $0 * factor * now }
        self = changed
    }

    // MARK: What follows

    public func cancel(at place: CampusPoint, nowMs: Int64) -> Double {
        entry(Cell(place), mean: total(nowMs), nowMs).cancel
    }

    public func override(at place: CampusPoint, nowMs: Int64) -> Double {
        entry(Cell(place), mean: total(nowMs), nowMs).override
    }

    /// All cells with trials of their own, the southernmost first.
    public func entries(nowMs: Int64) -> [Entry] {
        let mean = total(nowMs)
        return sums.keys.sorted().map { entry($0, mean: mean, nowMs) }
    }

    /// Trials of the whole campus, as of a time.
    public func total(_ nowMs: Int64) -> Counts {
        // In a fixed order: sums of decimals depend on it.
        var total = Counts()
        for cell in sums.keys.sorted() { total += sums[cell]! }
        return total * (1 / weight(nowMs))
    }

    private func entry(_ cell: Cell, mean total: Counts, _ nowMs: Int64) -> Entry {
        let factor = 1 / weight(nowMs)
        let own = (sums[cell] ?? Counts()) * factor
        var around = Counts()
        for row in -1...1 as ClosedRange<Int32> {
            for column in -1...1 as ClosedRange<Int32> where row != 0 || column != 0 {
                let neighbour = Cell(column: cell.column &+ column, row: cell.row &+ row)
                if let counts = sums[neighbour] { around += counts * factor }
            }
        }
        var known = own
        known += around * Likelihoods.neighbourShare
        func likelihood(_ wrong: Double, _ trials: Double, _ allWrong: Double, _ all: Double) -> Double {
            let mean = allWrong / (all + Likelihoods.assumedTrials)
            let share = (wrong + Likelihoods.priorTrials * mean) / (trials + Likelihoods.priorTrials)
            return min(1, max(0, share))
        }
        return Entry(
            cell: cell, counts: own,
            cancel: likelihood(known.cancelled, known.waits, total.cancelled, total.waits),
            override: likelihood(known.refused, known.offers, total.refused, total.offers))
    }
}
