import Gateways
import Testing

struct BackfillTriesTests {
    @Test func itWaitsTwiceAsLongEachTime() {
        var (tries, now) = (BackfillTries(), Int64(1_000))
        for wait in [
            600_000, 1_200_000, 2_400_000, 4_800_000, 9_600_000, 19_200_000, 38_400_000, 76_800_000, 86_400_000,
            86_400_000,
        ] as [Int64] {
            #expect(tries.isDue("a", nowMs: now))
            tries.tried("a", isFilled: false, nowMs: now)
            #expect(!tries.isDue("a", nowMs: now + wait - 1))
            now += wait
        }
        tries.tried("a", isFilled: true, nowMs: now)
        #expect(!tries.isDue("a", nowMs: now + 59_999))
        tries.tried("a", isFilled: false, nowMs: now + 60_000)
        #expect(tries.isDue("a", nowMs: now + 660_000))
    }

    @Test func whatItRemembersIsBounded() {
        var tries = BackfillTries()
        for number in 0..<(BackfillTries.entriesMax + 5) { tries.tried("\(number)", isFilled: false, nowMs: 1) }
        #expect(tries.isDue("0", nowMs: 2))
        #expect(!tries.isDue("\(BackfillTries.entriesMax + 4)", nowMs: 2))
    }
}
