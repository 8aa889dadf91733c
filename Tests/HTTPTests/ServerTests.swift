import Foundation
import HTTP
import Synchronization
import Testing

/// What the handler was asked; it answers with it.
final class Seen: Sendable {
    private let requests = Mutex<[Request]>([])
    var all: [Request] { requests.withLock { $0 } }

    func answer(_ request: Request) -> Response {
        requests.withLock { $0.append(request) }
        let query = request.query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return .html("path[\(request.path)] query\(query)")
    }
}

struct ServerTests {
    private func withServer<R>(_ body: (UInt16, Seen) throws -> R) throws -> R {
        let seen = Seen()
        let server = try Server(host: "127.0.0.1", port: 0, threads: 2) { seen.answer($0) }
        defer { server.stop() }
        #expect(server.port != 0)
        return try body(server.port, seen)
    }

    private static let end = "Connection: close\r\n\r\n"

    struct Refused: CustomTestStringConvertible {
        let testDescription: String, request: String, statuses: Set<Int>
        init(_ name: String, _ request: String, _ statuses: Set<Int> = [400]) { (testDescription, self.request, self.statuses) = (name, request, statuses) }
    }

    static let refused = [
        Refused("a length beside chunks", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("GET with a length beside chunks", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Refused("chunks alone", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        Refused("chunks in disguise", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"),
        Refused("two lengths", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"),
        Refused("two lengths that differ", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"),
        Refused("a negative length", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
        Refused("a length that is none", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x0\r\n\r\n"),
        Refused("a length over 64 bits", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", [400, 413]),
        Refused("no Host", "GET / HTTP/1.1\r\nAccept: */*\r\n\r\n"), Refused("no Host, HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"),
        Refused("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), Refused("the same Host twice", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
        Refused("POST", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", [405]), Refused("DELETE", "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", [405]),
        Refused("a method in small letters", "get / HTTP/1.1\r\nHost: a\r\n\r\n", [405]), Refused("TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", [405]),
        Refused("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", [400, 405]), Refused("GET *", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a path that is not UTF-8", "GET /%FF%FE HTTP/1.1\r\nHost: a\r\n\r\n"), Refused("an overlong slash", "GET /%C0%AF HTTP/1.1\r\nHost: a\r\n\r\n"),
        Refused("a header of 20 KB", "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n", [413, 431]),
        Refused("a path of 20 KB", "GET /\(String(repeating: "p", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", [413, 414, 431]),
    ]

    @Test("Refused, and the connection with it; no handler is asked", arguments: refused) func refuses(_ test: Refused) throws {
        try withServer { port, seen in
            let answer = try #require(RawClient.exchange(port, Array(test.request.utf8)))
            #expect(test.statuses.contains(answer.status), "\(answer.status): \(answer.text)")
            #expect(seen.all.isEmpty)
            #expect(answer.header("connection").map { $0.lowercased() }.allSatisfy { $0 == "close" } && !answer.header("connection").isEmpty)
            // A hidden request would have been answered, too. (The library says the head of its own refusals twice.)
            #expect(String(decoding: answer.bytes, as: UTF8.self).ranges(of: "HTTP/1.1 200").isEmpty)
            // Our own refusals are problem details.
            if answer.header("content-type") == ["application/problem+json"] {
                let problem = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
                #expect(problem["status"] as? Int == answer.status)
                #expect((problem["type"] as? String)?.hasPrefix("urn:drover:problem:") == true)
            }
            if answer.status == 405 { #expect(answer.header("allow") == ["GET, HEAD"]) }
            // The server goes on.
            #expect(RawClient.exchange(port, Array("GET /after HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8))?.status == 200)
        }
    }

    @Test("Lines that are no request are closed without an answer of ours", arguments: [
        "\r\n\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0", "GET\r\n\r\n", "hello\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
    ])
    func noRequest(_ text: String) throws {
        try withServer { port, seen in
            // Silence is as good as a refusal here, so it is not waited for long.
            let descriptor = RawClient.connect(port, patience: 1)
            try #require(descriptor >= 0)
            RawClient.send(Array(text.utf8), to: descriptor)
            shutdown(descriptor, Int32(SHUT_WR))
            let answer = Answer(RawClient.receive(descriptor))
            close(descriptor)
            #expect(answer.status != 200, "\(answer.text)")
            #expect(seen.all.isEmpty)
            #expect(RawClient.exchange(port, Array("GET /after HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8))?.status == 200)
        }
    }

    struct Taken: CustomTestStringConvertible {
        let target: String, path: String, query: [String: String]
        init(_ target: String, _ path: String, _ query: [String: String] = [:]) { (self.target, self.path, self.query) = (target, path, query) }
        var testDescription: String { target }
    }

    @Test("Paths and queries as the handler sees them", arguments: [
        Taken("/", "/"), Taken("/alerts", "/alerts"), Taken("/8R%20Tractor", "/8R Tractor"), Taken("/caf%C3%A9", "/café"),
        Taken("/a%2Fb", "/a/b"), Taken("/..%2F..%2Fetc", "/../../etc"), Taken("/a%", "/a%"), Taken("/a%zz", "/a%zz"), Taken("/a+b", "/a+b"),
        Taken("/%0D%0ASet-Cookie:%20x=1", "/\r\nSet-Cookie: x=1"), Taken("/a?b=c", "/a", ["b": "c"]), Taken("/a?b", "/a", ["b": ""]),
        Taken("/a?b=%0D%0ASet-Cookie:%20x=1", "/a", ["b": "\r\nSet-Cookie: x=1"]), Taken("/a?b=1&b=2", "/a", ["b": "1"]),
        Taken("/a?b=x+y", "/a", ["b": "x y"]), Taken("/a?b=%FF", "/a", ["b": ""]), Taken("/a?%FF=1&c=2", "/a", ["c": "2"]),
        Taken("/a?b=1%26c=2", "/a", ["b": "1&c=2"]), Taken("/a?<script>=1", "/a", ["<script>": "1"]),
    ])
    func taken(_ test: Taken) throws {
        try withServer { port, seen in
            let answer = try #require(RawClient.exchange(port, Array("GET \(test.target) HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8)))
            #expect(answer.status == 200, "\(answer.text)")
            #expect(seen.all.map(\.path) == [test.path])
            #expect(seen.all.map(\.query) == [test.query])
            #expect(answer.header("set-cookie").isEmpty)
        }
    }

    @Test("Security headers on pages") func headers() throws {
        try withServer { port, _ in
            let answer = try #require(RawClient.exchange(port, Array("GET / HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8)))
            #expect(answer.header("content-type") == ["text/html; charset=utf-8"])
            #expect(answer.header("x-content-type-options") == ["nosniff"] && answer.header("referrer-policy") == ["no-referrer"])
            #expect(answer.header("cache-control") == ["no-store"])
            let policy = try #require(answer.header("content-security-policy").first)
            for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"] { #expect(policy.contains(part)) }
            #expect(!policy.contains("script-src") && !policy.contains("*"))
        }
    }

    @Test("HEAD has the headers of GET and no body") func head() throws {
        try withServer { port, seen in
            let get = try #require(RawClient.exchange(port, Array("GET /x HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8)))
            let head = try #require(RawClient.exchange(port, Array("HEAD /x HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8)))
            #expect(head.status == 200 && head.body.isEmpty && !get.body.isEmpty)
            #expect(head.header("content-length") == get.header("content-length") && head.header("content-length") == ["\(get.body.count)"])
            #expect(seen.all.map(\.method) == ["GET", "HEAD"])
        }
    }

    @Test("An empty body declared as such is none") func lengthZero() throws {
        try withServer { port, _ in
            #expect(RawClient.exchange(port, Array("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\(ServerTests.end)".utf8))?.status == 200)
        }
    }

    @Test("Connections are kept, and each request has its own answer") func kept() throws {
        try withServer { port, seen in
            let descriptor = RawClient.connect(port)
            try #require(descriptor >= 0)
            RawClient.send(Array("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n".utf8), to: descriptor)
            var first: [UInt8] = []
            while !String(decoding: first, as: UTF8.self).hasSuffix("query[]") {
                let more = RawClient.some(descriptor)
                if more.isEmpty { break }
                first += more
            }
            RawClient.send(Array("GET /2 HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8), to: descriptor)
            let second = Answer(RawClient.receive(descriptor))
            close(descriptor)
            #expect(Answer(first).text == "path[/1] query[]" && second.text == "path[/2] query[]")
            #expect(seen.all.map(\.path) == ["/1", "/2"])
        }
    }

    @Test("Two requests on one connection, the second in pieces") func keepAlive() throws {
        try withServer { port, seen in
            let descriptor = RawClient.connect(port)
            try #require(descriptor >= 0)
            RawClient.send(Array("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HT".utf8), to: descriptor)
            RawClient.send(Array("TP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8), to: descriptor)
            let answer = String(decoding: RawClient.receive(descriptor), as: UTF8.self)
            close(descriptor)
            #expect(answer.ranges(of: "HTTP/1.1 200 OK").count == 2)
            #expect(seen.all.map(\.path) == ["/1", "/2"])
        }
    }

    @Test("A hundred connections at once: those within the limit are answered, no other harms them") func parallel() throws {
        try withServer { port, seen in
            let open = (0..<100).map { _ in RawClient.connect(port) }
            for descriptor in open where descriptor >= 0 {
                RawClient.send(Array("GET /p HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8), to: descriptor)
            }
            let answers = open.map { $0 >= 0 ? Answer(RawClient.receive($0)) : Answer([]) }
            for descriptor in open where descriptor >= 0 { close(descriptor) }
            let answered = answers.count { $0.status == 200 && $0.text == "path[/p] query[]" }
            #expect(answered >= 32)
            #expect(answers.allSatisfy { $0.status == 200 || $0.bytes.isEmpty })
            #expect(seen.all.count == answered)
            #expect(RawClient.exchange(port, Array("GET /after HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8))?.status == 200)
        }
    }

    // MARK: The listener

    @Test("A taken port: the error names it and says what to do") func takenPort() throws {
        try withServer { port, _ in
            let error = try #require(throws: HTTPError.self) { try Server(host: "127.0.0.1", port: port, threads: 1) { _ in .html("") } }
            #expect(error.description.contains("port \(port)") && error.description.contains("127.0.0.1"))
            #expect(error.description.contains("--port"))
        }
    }

    @Test("Hosts that are no IPv4 address of ours", arguments: ["localhost", "::1", "256.0.0.1", "127.0.0.1 ", "203.0.113.7"])
    func hosts(_ host: String) throws {
        let error = try #require(throws: HTTPError.self) { try Server(host: host, port: 0, threads: 1) { _ in .html("") } }
        #expect(error.description.contains(host))
    }

    @Test("A server that is let go answers no more; its port is free again") func letGo() throws {
        var server: Server? = try Server(host: "127.0.0.1", port: 0, threads: 2) { _ in .html("") }
        let port = try #require(server?.port)
        let request = Array("GET / HTTP/1.1\r\nHost: a\r\n\(ServerTests.end)".utf8)
        #expect(RawClient.exchange(port, request)?.status == 200)
        server = nil
        #expect(RawClient.exchange(port, request) == nil)
        let again = try Server(host: "127.0.0.1", port: port, threads: 1) { _ in .html("") }
        #expect(RawClient.exchange(port, request)?.status == 200)
        again.stop()
        again.stop()
        #expect(RawClient.exchange(port, request) == nil)
    }

    @Test("Problem details are JSON, whatever the text", arguments: ["plain", "a \"quote\"", "back\\slash", "line\r\nbreak\0", "größe 🛞", "\u{7F}\u{2028}", ""])
    func problem(_ text: String) throws {
        let response = Response.problem(404, type: "vehicle", title: text, detail: text)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
        let shown = String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
        #expect(object["title"] as? String == shown && object["detail"] as? String == shown)
        #expect(object["status"] as? Int == 404 && object["type"] as? String == "urn:drover:problem:vehicle")
        #expect(response.status == 404 && response.contentType == "application/problem+json")
    }
}
