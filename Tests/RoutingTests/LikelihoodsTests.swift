import Glibc
import Routing
import SimKit
import Testing

/// What is learned of places, against a sum over all trials with the library's power.
struct LikelihoodsTests {
    private struct MachineBacktest {
        var place: CampusPoint
        var isWait: Bool
        var isWrong: Bool
        var atMs: Int64
    }

    private static let halfLifeMs: Int64 = 30 * 86_400_000

    private static func day(_ seed: UInt64, _ count: Int) -> [MachineBacktest] {
        var chance = SeededChance(seed: seed)
        var atMs: Int64 = 1_790_000_000_000 + chance.below(1_000_000_000)
        return (0..<count).map { _ in
            atMs += chance.once(in: 4) ? 0 : chance.below(5 * 86_400_000)
            let place = CampusPoint(xM: Double(chance.below(2_400)) - 1_200, yM: Double(chance.below(1_600)) - 800)
            return MachineBacktest(place: place, isWait: chance.once(in: 2), isWrong: chance.once(in: 5), atMs: atMs)
        }
    }

    private static func learned(_ trials: [MachineBacktest]) -> Likelihoods {
        var likelihoods = Likelihoods(halfLifeMs: halfLifeMs)
        for trial in trials { add(trial, &likelihoods) }
        return likelihoods
    }

    private static func add(_ trial: MachineBacktest, _ likelihoods: inout Likelihoods) {
        if trial.isWait {
            likelihoods.waited(at: trial.place, cancelled: trial.isWrong, atMs: trial.atMs)
        } else {
            likelihoods.offered(at: trial.place, refused: trial.isWrong, atMs: trial.atMs)
        }
    }

    /// Every trial again for every question.
    private static func brute(_ trials: [MachineBacktest], at place: CampusPoint, isWait: Bool, nowMs: Int64) -> Double
    {
        func cell(_ point: CampusPoint) -> (Int, Int) { (Int(floor(point.xM / 250)), Int(floor(point.yM / 250))) }
        var (all, allWrong, near, nearWrong) = (0.0, 0.0, 0.0, 0.0)
        let home = cell(place)
        for trial in trials where trial.isWait == isWait {
            let weight = pow(0.5, Double(nowMs - trial.atMs) / Double(halfLifeMs))
            let (column, row) = cell(trial.place)
            all += weight
            allWrong += trial.isWrong ? weight : 0
            let steps = max(abs(column - home.0), abs(row - home.1))
            guard steps <= 1 else { continue }
            near += weight * (steps == 0 ? 1 : 0.25)
            nearWrong += trial.isWrong ? weight * (steps == 0 ? 1 : 0.25) : 0
        }
        return (nearWrong + 10 * allWrong / (all + 20)) / (near + 10)
    }

    @Test(arguments: 0..<UInt64(20)) func areWhatASumOverAllTrialsSays(_ seed: UInt64) {
        let trials = Self.day(seed, 300)
        let likelihoods = Self.learned(trials)
        var chance = SeededChance(seed: seed &+ 1_000)
        let nowMs = trials.last!.atMs + chance.below(90 * 86_400_000)
        for _ in 0..<20 {
            let place = CampusPoint(xM: Double(chance.below(3_000)) - 1_500, yM: Double(chance.below(2_000)) - 1_000)
            let cancel = Self.brute(trials, at: place, isWait: true, nowMs: nowMs)
            let override = Self.brute(trials, at: place, isWait: false, nowMs: nowMs)
            #expect((likelihoods.cancel(at: place, nowMs: nowMs) - cancel).magnitude < 1e-9, "seed \(seed)")
            #expect((likelihoods.override(at: place, nowMs: nowMs) - override).magnitude < 1e-9, "seed \(seed)")
        }
        let total = likelihoods.total(nowMs)
        let entries = likelihoods.entries(nowMs: nowMs)
        #expect((entries.reduce(0) { $0 + $1.counts.waits } - total.waits).magnitude < 1e-9 * (1 + total.waits))
    }

    @Test("The order of trials of one time, and snapshots between, change no bit", arguments: 0..<UInt64(20))
    func orderAndSplitting(_ seed: UInt64) throws {
        let trials = Self.day(seed, 200)
        var chance = SeededChance(seed: seed)
        // Stable by time: those of one time in any order.
        let mixed = trials.shuffled(using: &chance).sorted { $0.atMs < $1.atMs }
        var split = Likelihoods(halfLifeMs: Self.halfLifeMs)
        for trial in mixed {
            Self.add(trial, &split)
            if chance.once(in: 5) { split = try Likelihoods(packed: split.packed()) }
        }
        #expect(split == Self.learned(trials), "seed \(seed)")
    }

    @Test("After years the landmark has moved, and nothing is lost by it") func yearsLater() {
        let place = CampusPoint(xM: 10, yM: 10)
        var likelihoods = Likelihoods(halfLifeMs: 86_400_000)
        let first: Int64 = 1_790_000_000_000
        likelihoods.waited(at: place, cancelled: true, atMs: first)
        // 300 half-lives on, the first says nothing, and the new ones all.
        let later = first + 300 * 86_400_000
        for _ in 0..<5 { likelihoods.waited(at: place, cancelled: false, atMs: later) }
        #expect(likelihoods.total(later).waits == 5 && likelihoods.cancel(at: place, nowMs: later) < 1e-12)
        likelihoods.waited(at: place, cancelled: true, atMs: later + 86_400_000)
        #expect(likelihoods.total(later + 86_400_000) == .init(waits: 3.5, cancelled: 1, offers: 0, refused: 0))
    }

    @Test("Another half-life keeps what a trial is worth now") func anotherHalfLife() {
        let place = CampusPoint(xM: 10, yM: 10)
        var likelihoods = Likelihoods(halfLifeMs: 1_000)
        likelihoods.waited(at: place, cancelled: true, atMs: 500_000)
        likelihoods.setHalfLife(4_000, nowMs: 502_000)
        #expect((likelihoods.total(502_000).waits - 0.25).magnitude < 1e-12)
        #expect((likelihoods.total(506_000).waits - 0.125).magnitude < 1e-12)
    }

    @Test("A campus of any size takes no more memory than a bounded one") func bounded() throws {
        var likelihoods = Likelihoods(halfLifeMs: Self.halfLifeMs)
        for n in 0..<Likelihoods.cellsMax + 500 {
            let place = CampusPoint(xM: Double(n % 100) * 250, yM: Double(n / 100) * 250)
            for _ in 0..<(n < 500 ? 1 : 2) { likelihoods.waited(at: place, cancelled: false, atMs: 1_790_000_000_000) }
        }
        let entries = likelihoods.entries(nowMs: 1_790_000_000_000)
        #expect(entries.count == Likelihoods.cellsMax)
        // Those with one trial went first.
        #expect(entries.allSatisfy { ($0.counts.waits - 2).magnitude < 1e-9 })
        #expect(try Likelihoods(packed: likelihoods.packed()) == likelihoods)
    }

    @Test("Nothing learned is no likelihood; one wrong trial in a rare place says little") func little() {
        var likelihoods = Likelihoods(halfLifeMs: Self.halfLifeMs)
        let (rare, common) = (CampusPoint(xM: 0, yM: 0), CampusPoint(xM: 2_000, yM: 2_000))
        #expect(likelihoods.cancel(at: rare, nowMs: 0) == 0)
        for n in 0..<100 { likelihoods.waited(at: common, cancelled: n < 10, atMs: 0) }
        likelihoods.waited(at: rare, cancelled: true, atMs: 0)
        #expect(likelihoods.cancel(at: rare, nowMs: 0) < 0.2 && likelihoods.cancel(at: common, nowMs: 0) > 0.09)
    }

    @Test(
        "Bytes that are cut off or changed are refused or read as something else that can be",
        arguments: 0..<UInt64(300))
    func hostile(_ seed: UInt64) {
        var chance = SeededChance(seed: seed)
        var bytes = Self.learned(Self.day(seed, 20)).packed()
        if chance.once(in: 2) { bytes.removeLast(Int(1 + chance.below(Int64(bytes.count)))) }
        for _ in 0..<chance.below(4) where !bytes.isEmpty {
            bytes[chance.index(bytes.count)] = UInt8(truncatingIfNeeded: chance.next())
        }
        guard let read = try? Likelihoods(packed: bytes) else { return }
        #expect((0...1).contains(read.cancel(at: CampusPoint(xM: 0, yM: 0), nowMs: 1_790_000_000_000)), "seed \(seed)")
    }
}
