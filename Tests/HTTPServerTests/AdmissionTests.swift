import HTTPServer
import Testing

@Suite struct AdmissionTests {
    /// Small is up to 100 bytes, usual up to 1,000. Whoever says `X-Who` is known.
    private func limits() -> Limits {
        var limits = Limits()
        (limits.smallBodyBytes, limits.bodyBytesMax, limits.bodyBytesMaxByPath) = (100, 1_000, ["/film": 5_000])
        (limits.allBodiesBytesMax, limits.roomForSmallBytes, limits.roomForUsualBytes) = (6_000, 200, 1_000)
        (limits.bodiesPerAddressBytesMax, limits.bodiesPerAccountBytesMax) = (250, 5_500)
        return limits
    }

    private func ask(_ head: String, _ body: String) throws -> String {
        let server = try Server(
            port: 0, limits: limits(),
            admit: { $0.headers["x-who"].map { .known($0) } ?? .stranger(.problem(401, type: "who", detail: "Who?")) }
        ) { .text("[\($0.body.count)]") }
        defer { server.stop(graceMs: 0) }
        return Socket(server, "POST /film HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(head)\r\n\r\n\(body)").readAll()
    }

    @Test(arguments: [
        ("a small body of anybody", "Content-Length: 100", 100, "200"),
        ("a large one of a stranger", "Content-Length: 101", 101, "401"),
        ("a film of a stranger who waits to be told", "Expect: 100-continue\r\nContent-Length: 5000", 0, "401"),
        ("a film of somebody who is known", "X-Who: ann\r\nContent-Length: 5000", 5_000, "200"),
        ("more than a film", "X-Who: ann\r\nContent-Length: 5001", 5_001, "413"),
    ])
    func whatIsTakenOfWhom(_ name: String, _ head: String, _ count: Int, _ status: String) throws {
        let answer = try ask(head, String(repeating: "x", count: count))
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(name): \(answer.prefix(60))")
    }

    /// What comes in chunks does not say how much it will be.
    @Test(arguments: [("", 1, "200"), ("", 3, "401"), ("X-Who: ann\r\n", 3, "200")])
    func chunksOfAStrangerStaySmall(_ who: String, _ chunks: Int, _ status: String) throws {
        let chunk = "32\r\n" + String(repeating: "x", count: 50) + "\r\n"
        let answer = try ask(who + "Transfer-Encoding: chunked", String(repeating: chunk, count: chunks) + "0\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer.prefix(60))")
    }

    @Test func largerBodiesLeaveRoomToSmallerOnes() {
        let held = BodyMemory(limits())
        func take(_ count: Int, _ size: Int, _ holder: BodyOwner) -> Int {
            held.reserve(count, of: size, for: holder)?.status ?? 200
        }
        #expect(take(5_000, 5_000, .account("ann")) == 200)
        // A second film: of hers it is too much, of anybody there is no room.
        #expect(take(501, 5_000, .account("ann")) == 429)
        #expect(take(1, 5_000, .account("bob")) == 503)
        #expect(take(800, 800, .account("bob")) == 200)
        #expect(take(101, 101, .account("cat")) == 503)
        #expect(take(100, 100, .address("a")) == 200)
        #expect(take(100, 100, .address("b")) == 200)
        #expect(take(1, 1, .address("c")) == 503)
        held.release(5_000, of: .account("ann"))
        #expect(take(50, 100, .address("a")) == 200)
        #expect(take(100, 100, .address("a")) == 200)
        #expect(take(1, 100, .address("a")) == 429)
        for (count, holder) in [(800, BodyOwner.account("bob")), (250, .address("a")), (100, .address("b"))] {
            held.release(count, of: holder)
        }
        #expect(held.inAll == 0)
    }
}
