import Foundation
import Synchronization
import Telemetry
import Testing
import Threads

@Suite struct ThreadsTests {
    @Test("Every thread has its name from its first line on, cut to what the kernel keeps") func names() {
        let found = Mutex<[String: Int]>([:])
        let ended = DispatchSemaphore(value: 0)
        for number in 0..<1_000 {
            WorkerThread.start(number % 2 == 0 ? "lane-0" : "a-name-of-twenty-bytes") {
                let name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "unknown"
                found.withLock { $0[name, default: 0] += 1 }
                ended.signal()
            }
        }
        for _ in 0..<1_000 { ended.wait() }
        #expect(found.withLock { $0 } == ["lane-0\n": 500, "a-name-of-twent\n": 500])
    }

    @Test func aPauseEndsWithANoticeAndWithTheStop() {
        let thread = WorkerThread()
        let turns = Mailbox<Int>()
        thread.start("sleeper") { thread in
            while !thread.isStopping {
                thread.pause(ms: 3_600_000)
                turns.put(1)
            }
            turns.close()
        }
        thread.notice()
        #expect(turns.dequeue() == 1)
        thread.stop()
        while turns.dequeue() != nil {}
    }

    @Test func aPartOfTheProgramIsToldToStop() {
        let turns = Mailbox<Int>()
        let thread = WorkerThread("part") { shouldStop in
            while !shouldStop() { turns.put(1) }
            turns.put(2)
        }
        #expect(turns.dequeue() == 1)
        thread.stop()
        #expect(turns.dequeueAll()?.last == 2)
    }

    @Test func troubleIsToldOncePerKindAndSoIsItsEnd() {
        let lines = Mutex<[String]>([])
        let log = Log(level: .info, nowMs: { 0 }) { line in
            lines.withLock { $0.append(String(line.dropFirst(25).dropLast())) }
        }
        var trouble = FailureLog(cannot: "it does not go", again: "it goes again", level: .warning, log: log)
        for kind in ["", "", "disk", "disk"] { trouble.failed("no", of: kind) }
        #expect(trouble.isInTrouble)
        for _ in 0..<2 { trouble.isOver() }
        #expect(!trouble.isInTrouble)
        #expect(
            lines.withLock { $0 } == [
                #"warning "it does not go" error=no"#, #"warning "it does not go" of=disk error=no"#,
                #"info "it goes again" after_trouble_with=disk"#,
            ])
    }
}
