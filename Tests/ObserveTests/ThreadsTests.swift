import Foundation
import Observe
import Synchronization
import Testing

@Suite struct ThreadsTests {
    @Test("Every thread has its name from its first line on, cut to what the kernel keeps")
    func names() {
        let found = Mutex<[String: Int]>([:])
        let ended = DispatchSemaphore(value: 0)
        for number in 0..<1_000 {
            Threads.start(number % 2 == 0 ? "lane-0" : "a-name-of-twenty-bytes") {
                let name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "unknown"
                found.withLock { $0[name, default: 0] += 1 }
                ended.signal()
            }
        }
        for _ in 0..<1_000 { ended.wait() }
        #expect(found.withLock { $0 } == ["lane-0\n": 500, "a-name-of-twent\n": 500])
    }
}
