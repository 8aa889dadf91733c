import Foundation
import Gateways
import Sockets
import Synchronization
import Testing

struct NameLookupTests {
    /// Names that begin with `dead` are answered only when the test is over.
    private final class Servers: Sendable {
        let isOver = Mutex(false)
        func resolve(_ host: String) throws(SocketError) -> IPAddress {
            if host.hasPrefix("gone") { throw SocketError("\(host): not known") }
            while host.hasPrefix("dead"), !isOver.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.005) }
            return IPAddress("10.0.0.\(host.utf8.count)")!
        }
    }

    private func wait(_ what: () -> Bool) -> Bool {
        for _ in 0..<20_000 where !what() { Thread.sleep(forTimeInterval: 0.005) }
        return what()
    }

    @Test func aNameWhoseServersDoNotAnswerDelaysNoOther() {
        let servers = Servers()
        let names = NameLookup(refreshMs: 1_000) { host throws(SocketError) in try servers.resolve(host) }
        names.start()
        defer {
            servers.isOver.withLock { $0 = true }
            names.stop()
        }
        for number in 0..<3 { #expect(names.finding(of: "dead-\(number)", nowMs: 0).address == nil) }
        for number in 0..<100 { _ = names.finding(of: "box-\(number)", nowMs: 0) }
        #expect(wait { (0..<100).allSatisfy { names.finding(of: "box-\($0)", nowMs: 10).address != nil } })
        #expect(names.finding(of: "dead-0", nowMs: 10).address == nil && names.consumeChange())
    }

    @Test func namesThatFailedWaitApartFromTheOthers() {
        let servers = Servers()
        let isDown = Mutex(false)
        let names = NameLookup(refreshMs: 1_000) { host throws(SocketError) in
            if host.hasPrefix("weak"), isDown.withLock({ $0 }) { return try servers.resolve("dead") }
            if host.hasPrefix("weak") { throw SocketError("\(host): not known") }
            return try servers.resolve(host)
        }
        names.start()
        defer {
            servers.isOver.withLock { $0 = true }
            names.stop()
        }
        // They fail once, then hang: more of them than there are threads.
        for number in 0..<20 { _ = names.finding(of: "weak-\(number)", nowMs: 0) }
        #expect(wait { (0..<20).allSatisfy { names.finding(of: "weak-\($0)", nowMs: 0).fault != nil } })
        isDown.withLock { $0 = true }
        for number in 0..<20 { _ = names.finding(of: "weak-\(number)", nowMs: 2_000) }
        _ = names.finding(of: "good", nowMs: 2_000)
        #expect(wait { names.finding(of: "good", nowMs: 2_000).address != nil })
    }

    @Test func aNameThatIsLostKeepsItsAddress() {
        let isDown = Mutex(false)
        let names = NameLookup(refreshMs: 1_000) { host throws(SocketError) in
            if isDown.withLock({ $0 }) { throw SocketError("\(host): not known") }
            return IPAddress("10.0.0.7")!
        }
        names.start()
        defer { names.stop() }
        _ = names.finding(of: "box", nowMs: 0)
        #expect(wait { names.finding(of: "box", nowMs: 0).address != nil })
        isDown.withLock { $0 = true }
        _ = names.finding(of: "box", nowMs: 5_000)
        #expect(wait { names.finding(of: "box", nowMs: 5_000).fault != nil })
        #expect(names.finding(of: "box", nowMs: 5_000).address == IPAddress("10.0.0.7"))
        // An address needs nobody.
        #expect(names.finding(of: "192.168.1.4", nowMs: 0) == .init(address: IPAddress("192.168.1.4")))
    }
}
