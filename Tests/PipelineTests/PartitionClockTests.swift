import Codecs
import Pipeline
import SimKit
import Testing

/// One clock a partition, whoever ticks, whatever their clocks say, and wherever the owner changes.
struct PartitionClockTests {
    private static let nowMs: Int64 = 1_780_000_000_000
    private static let year: Int64 = 365 * 86_400_000

    /// A tick on the log, with the broker's stamp.
    private struct Pushed {
        var tick: Tick
        var pushedMs: Int64
        init(_ ts: Int64, _ by: String?, pushedMs: Int64? = nil) {
            (tick, self.pushedMs) = (Tick(ts, by: by), pushedMs ?? ts)
        }
    }

    /// Where the clock stands after each record.
    private func run(_ log: [Pushed], from clock: PartitionClock = PartitionClock()) -> [PartitionClock] {
        var clock = clock
        return log.map {
            _ = clock.accept($0.tick, pushedMs: $0.pushedMs)
            return clock
        }
    }

    /// Ticks of each of these senders every 5 s.
    private func ticks(_ senders: [String?], from: Int64, seconds: Int64) -> [Pushed] {
        stride(from: from, to: from + seconds * 1_000, by: 5_000).flatMap { at in
            senders.enumerated().map { Pushed(at + Int64($0.offset) * 700, $0.element) }
        }
    }

    @Test(
        "Ticks that come as they should count each, whoever sends them",
        arguments: [["a"], ["a", "b"], [nil], [nil, "b", "c"]])
    func everyday(_ senders: [String?]) {
        let log = ticks(senders, from: Self.nowMs, seconds: 600)
        for (clock, pushed) in zip(run(log), log) { #expect(clock.clockMs == pushed.tick.ts && clock.waiting == nil) }
    }

    @Test("The first tick of a partition counts, of whatever time", arguments: [-20 * Self.year, -1, 0])
    func first(_ offMs: Int64) {
        var clock = PartitionClock()
        let ts = Self.nowMs + offMs
        #expect(clock.accept(Tick(ts), pushedMs: Self.nowMs) == .counts(ts) && clock.clockMs == ts)
    }

    @Test(
        "After an outage the clock follows within a minute",
        arguments: [60_000, 3_600_000, 86_400_000, Self.year], [["a"], ["a", "b"], [nil]])
    func outage(_ lengthMs: Int64, _ senders: [String?]) {
        let before = ticks(senders, from: Self.nowMs, seconds: 60)
        let backMs = Self.nowMs + 60_000 + lengthMs
        let after = ticks(senders, from: backMs, seconds: 120)
        let clocks = run(before + after)
        for (clock, pushed) in zip(clocks, before + after) where pushed.pushedMs >= backMs + 60_000 {
            #expect(clock.clockMs == pushed.tick.ts)
        }
        #expect(clocks.allSatisfy { $0.clockMs <= backMs + 120_000 })
    }

    @Test("Two senders are believed at once, one that is alone after some seconds, one that is gone again never")
    func agreement() {
        let start = PartitionClock(clockMs: Self.nowMs)
        let at = Self.nowMs + Self.year
        #expect(
            run([Pushed(at, "a"), Pushed(at + 300, "b")], from: start).map(\.clockMs) == [start.clockMs, at + 300])
        let alone = run([Pushed(at, "a"), Pushed(at + 5_000, "a"), Pushed(at + 10_000, "a")], from: start)
        #expect(alone.map(\.clockMs) == [start.clockMs, start.clockMs, at + 10_000])
        #expect(run([Pushed(at, "a"), Pushed(at + 200_000, "a")], from: start).last?.clockMs == start.clockMs)
    }

    @Test(
        "A sender whose clock runs forward moves nothing, with a stamp of its own or of a broker that believes it",
        arguments: [true, false])
    func oneWrongClock(_ brokerBelieves: Bool) {
        let offMs = 70 * Self.year
        var log = ticks(["a", "b"], from: Self.nowMs, seconds: 600)
        for at in stride(from: log.count - 3, to: 4, by: -3) {
            let pushed = log[at]
            log.insert(
                Pushed(pushed.tick.ts + offMs, "wrong", pushedMs: pushed.pushedMs + (brokerBelieves ? offMs : 0)),
                at: at)
        }
        let right = log.filter { $0.tick.by != "wrong" }.map(\.tick.ts).max()!
        let clocks = run(log)
        #expect(clocks.allSatisfy { $0.clockMs <= right })
        #expect(clocks.last!.clockMs == right)
    }

    @Test(
        "A broker whose clock jumps moves nothing, and the way back neither",
        arguments: [-70 * Self.year, -3_600_000, 3_600_000, 70 * Self.year])
    func brokerJumps(_ offMs: Int64) {
        var log = ticks(["a"], from: Self.nowMs, seconds: 900)
        for at in log.indices where (60..<120).contains(at) { log[at].pushedMs += offMs }
        // A broker that runs behind lets nobody be ahead of it; it is over when it is right again.
        let clocks = run(log)
        #expect(clocks.last!.clockMs == log.last!.tick.ts)
        for (clock, pushed) in zip(clocks, log) { #expect(clock.clockMs <= pushed.tick.ts) }
    }

    @Test("After an outage the right clock is believed beside one that is far ahead") func outageBesideAWrongClock() {
        let back = Self.nowMs + 86_400_000
        var log: [Pushed] = []
        for pushed in ticks(["a"], from: back, seconds: 60) {
            log.append(Pushed(pushed.tick.ts + Self.year, "wrong", pushedMs: pushed.pushedMs + Self.year))
            log.append(pushed)
        }
        // By the broker's stamps they contradict each other for ever; what never happens is that the wrong one wins.
        #expect(run(log, from: PartitionClock(clockMs: Self.nowMs)).allSatisfy { $0.clockMs <= back + 60_000 })
        // Where the broker is right, the wrong one is ahead of it and nobody hears it.
        let judged = log.map { Pushed($0.tick.ts, $0.tick.by, pushedMs: min($0.pushedMs, back + 60_000)) }
        #expect(run(judged, from: PartitionClock(clockMs: Self.nowMs)).last!.clockMs >= back)
    }

    @Test("An import's closing tick counts at once, into an empty partition, a live one and one of years ago")
    func imports() {
        let old = Self.nowMs - 8 * Self.year
        func closing(_ ts: Int64) -> Pushed { Pushed(ts, "import.file", pushedMs: Self.nowMs) }
        #expect(run([closing(old), closing(old + Self.year)]).map(\.clockMs) == [old, old + Self.year])
        let live = PartitionClock(clockMs: Self.nowMs - 1_000)
        #expect(run([closing(old)], from: live).last == live)
        // Who ticks behind it is believed, as in an empty partition.
        let present = Pushed(Self.nowMs, "a")
        #expect(run([closing(old), present]).last!.clockMs == present.tick.ts)
        #expect(run([closing(Self.nowMs + 100_000)], from: live).last == live)
    }

    @Test("A clock that was moved wrongly is set back, never forward, and goes on from there") func setBack() {
        var clock = PartitionClock(clockMs: Self.nowMs + Self.year)
        let forward = Tick(Self.nowMs + 2 * Self.year, isSetBack: true)
        #expect(clock.accept(forward, pushedMs: Self.nowMs) == .dropped)
        let back = Tick(Self.nowMs, isSetBack: true)
        #expect(clock.accept(back, pushedMs: Self.nowMs) == .setBack(Self.nowMs))
        let next = Tick(Self.nowMs + 5_000, by: "a")
        #expect(clock.accept(next, pushedMs: next.ts) == .counts(next.ts) && clock.clockMs == next.ts)
    }

    @Test("A log without stamps has the greatest tick, as ever") func withoutStamps() {
        #expect(run([Pushed(5, "a", pushedMs: -1), Pushed(1 << 50, "a", pushedMs: -1)]).last!.clockMs == 1 << 50)
    }

    @Test("Whoever takes over at whatever place decides the same", arguments: UInt64(1)...40)
    func restarts(_ seed: UInt64) {
        var chance = SeededChance(seed: seed)
        var (log, brokerMs): ([Pushed], Int64) = ([], Self.nowMs)
        for _ in 0..<400 {
            brokerMs += Int64(chance.below(8_000))
            if chance.below(60) == 0 { brokerMs += Int64(chance.below(3)) * 86_400_000 }
            let by = [nil, "a", "b", "wrong", "import.file"][Int(chance.below(5))]
            let offMs: Int64 = by == "wrong" ? Int64(chance.below(3)) * 900_000_000 : -Int64(chance.below(20_000))
            var pushed = Pushed(brokerMs + offMs, by, pushedMs: brokerMs + (chance.below(9) == 0 ? offMs : 0))
            if chance.below(80) == 0 { pushed.tick = Tick(brokerMs - 1_000_000, isSetBack: true) }
            log.append(pushed)
        }
        let whole = run(log)
        for place in log.indices {
            // As it stands beside the offset.
            let stored = PartitionClock(clockMs: whole[place].clockMs, text: whole[place].text)
            #expect(run(Array(log[(place + 1)...].prefix(50)), from: stored) == Array(whole[(place + 1)...].prefix(50)))
        }
    }
}
