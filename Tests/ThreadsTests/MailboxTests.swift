import Synchronization
import Testing
import Threads

@Suite struct MailboxTests {
    @Test func itemsComeInOrderAndNilWhenItIsClosed() {
        let box = Mailbox<Int>()
        for number in 0..<3_000 { box.put(number) }
        #expect((0..<2_999).allSatisfy { box.dequeue() == $0 })
        box.close()
        #expect(box.dequeue() == 2_999)
        #expect(box.dequeue() == nil && box.dequeueAll() == nil && box.dequeue(timeoutMs: 0) == nil)
        #expect(!box.offer(1, atMost: 10))
    }

    @Test func anOfferIsRefusedWhenSoManyWait() {
        let box = Mailbox<Int>()
        #expect(box.offer(1, atMost: 2) && box.offer(2, atMost: 2) && !box.offer(3, atMost: 2))
        #expect(box.dequeue() == 1)
        #expect(box.offer(4, atMost: 2))
        #expect(box.dequeueAll() == [2, 4])
    }

    @Test func whatIsWantedIsTakenWhateverWaitsBefore() {
        let box = Mailbox<Int>()
        for number in 0..<3 { box.put(number, weight: 10) }
        #expect(box.dequeue(timeoutMs: 0) { $0 == 2 } == 2)
        #expect(
            box.waiting == 20 && box.waitUntil(atMost: 20, timeoutMs: 0) && !box.waitUntil(atMost: 10, timeoutMs: 0))
        #expect(box.dequeue(timeoutMs: 0) { $0 == 2 } == nil)
        #expect(box.dequeueAll() == [0, 1] && box.waiting == 0)
    }

    @Test func eachItemIsTakenOnceByWhicheverThread() {
        let box = Mailbox<Int>()
        let taken = Mutex<[Int]>([])
        let threads = (0..<8).map { _ in WorkerThread() }
        for thread in threads {
            thread.start("taker") { _ in while let item = box.dequeue() { taken.withLock { $0.append(item) } } }
        }
        for number in 0..<20_000 { box.put(number) }
        box.close()
        for thread in threads { thread.stop() }
        #expect(taken.withLock { $0.sorted() } == Array(0..<20_000))
    }

    @Test func whoWaitsForRoomIsWoken() {
        let box = Mailbox<Int>()
        for number in 0..<100 { box.put(number, weight: 1) }
        let thread = WorkerThread()
        let hadRoom = Mutex(false)
        thread.start("filler") { _ in
            let isRoom = box.waitUntil(atMost: 10, timeoutMs: 60_000)
            hadRoom.withLock { $0 = isRoom }
        }
        for _ in 0..<90 { _ = box.dequeue() }
        thread.stop()
        #expect(hadRoom.withLock { $0 })
    }
}
