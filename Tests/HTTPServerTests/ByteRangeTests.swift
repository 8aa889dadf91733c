import Glibc
import HTTPServer
import Testing

@Suite struct ByteRangeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let range, ifRange: String?
        let expected: ByteRange
        var testDescription: String { "\(range ?? "none") \(ifRange ?? "")" }
        init(_ range: String?, _ expected: ByteRange, ifRange: String? = nil) {
            (self.range, self.expected, self.ifRange) = (range, expected, ifRange)
        }
    }

    @Test(arguments: [
        Case(nil, .whole), Case("bytes=0-0", .part(0..<1)), Case("bytes=0-99", .part(0..<100)),
        Case("bytes=10-", .part(10..<100)), Case("bytes=99-", .part(99..<100)), Case("bytes=50-1000", .part(50..<100)),
        Case("bytes=-1", .part(99..<100)), Case("bytes=-1000", .part(0..<100)), Case("Bytes= 1 - 2", .part(1..<3)),
        Case("bytes=100-", .unsatisfiable), Case("bytes=1000-2000", .unsatisfiable), Case("bytes=-0", .unsatisfiable),
        Case("bytes=99999999999999999999999-", .unsatisfiable), Case("bytes=5-99999999999999999999999", .part(5..<100)),
        // Not a range: the header counts for nothing.
        Case("bytes=2-1", .whole), Case("bytes=-", .whole), Case("bytes=", .whole), Case("bytes=a-b", .whole),
        Case("bytes=+1-2", .whole), Case("bytes=1", .whole), Case("items=0-1", .whole), Case("bytes", .whole),
        Case("bytes=0-1,5-6", .whole), Case("bytes=1--2", .whole), Case("bytes=1-2", .part(1..<3), ifRange: "\"tag\""),
        Case("bytes=1-2", .whole, ifRange: "\"other\""), Case("bytes=1-2", .whole, ifRange: "W/\"tag\""),
        Case("bytes=1-2", .whole, ifRange: "Sun, 22 Nov 2026 08:00:00 GMT"),
        Case("bytes=100-", .whole, ifRange: "\"other\""),
    ])
    func whatIsAskedFor(_ c: Case) {
        #expect(ByteRange(range: c.range, ifRange: c.ifRange, tag: "\"tag\"", count: 100) == c.expected)
    }

    // MARK: By a server

    private static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: 0x21 + $0 * 31 % 90) }

    private func server() throws -> Server {
        let file = unsafe tmpfile()!
        _ = unsafe Self.content.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
        unsafe fflush(file)
        let body = FileBody(descriptor: dup(unsafe fileno(file)), count: Self.content.count)
        unsafe fclose(file)
        return try Server(port: 0) { request in
            .file(body, to: request, tag: "\"tag\"", headers: [("Content-Type", "application/zip")])
        }
    }

    private func ask(_ server: Server, _ method: String = "GET", _ headers: String = "") -> (
        head: String, body: [UInt8]
    ) {
        let socket = Socket(server, "\(method) /f HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(headers)\r\n")
        let all = Array(socket.readAll().utf8)
        let end = all.firstRange(of: Array("\r\n\r\n".utf8))!
        return (String(decoding: all[..<end.lowerBound], as: UTF8.self) + "\r\n", Array(all[end.upperBound...]))
    }

    @Test func aFileAndItsParts() throws {
        let server = try server()
        defer { server.stop() }
        let content = Self.content
        let whole = ask(server)
        #expect(whole.head.hasPrefix("HTTP/1.1 200") && whole.body == content)
        #expect(whole.head.contains("Accept-Ranges: bytes\r\n") && whole.head.contains("ETag: \"tag\"\r\n"))
        let part = ask(server, "GET", "Range: bytes=100000-250000\r\n")
        #expect(part.head.hasPrefix("HTTP/1.1 206") && part.body == Array(content[100_000...250_000]))
        #expect(part.head.contains("Content-Range: bytes 100000-250000/300000\r\n"))
        #expect(
            part.head.contains("Content-Length: 150001\r\n") && part.head.contains("Content-Type: application/zip\r\n"))
        let head = ask(server, "HEAD", "Range: bytes=0-1\r\n")
        #expect(
            head.head.hasPrefix("HTTP/1.1 200") && head.head.contains("Content-Length: 300000\r\n") && head.body.isEmpty
        )
        let past = ask(server, "GET", "Range: bytes=300000-\r\n")
        #expect(past.head.hasPrefix("HTTP/1.1 416") && past.head.contains("Content-Range: bytes */300000\r\n"))
        let known = ask(server, "GET", "If-None-Match: \"x\", W/\"tag\"\r\nRange: bytes=0-1\r\n")
        #expect(known.head.hasPrefix("HTTP/1.1 304") && known.body.isEmpty)
        #expect(ask(server, "GET", "If-Range: \"old\"\r\nRange: bytes=5-6\r\n").body == content)
        #expect(ask(server, "GET", "If-Range: \"tag\"\r\nRange: bytes=-7\r\n").body == Array(content.suffix(7)))
    }
}
