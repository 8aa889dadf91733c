import Crypto
import Foundation
import Synchronization
import Testing

@Suite struct ConcurrencyLimiterTests {
    @Test("Whoever finds the line full is sent away at once, and nobody else waits for that")
    func aFloodHoldsNoMoreThanTheLine() {
        let line = ConcurrencyLimiter(atWork: 1, waiting: 1)
        let (began, mayEnd, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        for _ in 0..<2 {
            Thread.detachNewThread {
                _ = line.run {
                    began.signal()
                    mayEnd.wait()
                }
                ended.signal()
            }
        }
        began.wait()
        while !line.isFull { sched_yield() }
        // One is at work, one waits: this thread goes on without a turn, however often it asks.
        for _ in 0..<1_000 { #expect(line.run { true } == nil) }
        mayEnd.signal()
        began.wait()
        mayEnd.signal()
        for _ in 0..<2 { ended.wait() }
        #expect(!line.isFull && line.run { true } == true)
    }

    @Test("Of a hundred at once no more than two are at work") func neverMoreAreAtWork() {
        let line = ConcurrencyLimiter(atWork: 2, waiting: 4)
        let atWork = Atomic(0)
        let most = Atomic(0)
        let done = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 100) { _ in
            let isDone = line.run {
                let now = atWork.add(1, ordering: .relaxed).newValue
                most.max(now, ordering: .relaxed)
                sched_yield()
                atWork.subtract(1, ordering: .relaxed)
                return true
            }
            if isDone == true { done.add(1, ordering: .relaxed) }
        }
        #expect((1...2).contains(most.load(ordering: .relaxed)) && done.load(ordering: .relaxed) >= 1)
    }
}
