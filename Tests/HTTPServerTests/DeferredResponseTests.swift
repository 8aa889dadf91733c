import Glibc
import HTTPServer
import Synchronization
import Testing

@Suite("Answers that come later")
struct DeferredResponseTests {
    private static let request = "POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"

    private static func server(_ answers: Handed<DeferredResponse>) throws -> Server {
        try Server(port: 0, threads: 1) { request in
            request.path == "/later" ? .later(answers.add(DeferredResponse())) : .text("[other]")
        }
    }

    @Test("A hundred that wait hold none of the one thread, and each gets its own answer, the first that is given")
    func many() throws {
        let handed = Handed<DeferredResponse>()
        let server = try Self.server(handed)
        defer { server.stop() }
        let sockets = (0..<100).map { number in
            let socket = Socket(server, Self.request)
            // One after the other: so their order is known.
            _ = handed.wait(number + 1)
            return socket
        }
        let other = Socket(server, "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(other.readAll().contains("[other]"))
        for (number, answer) in handed.wait(100).enumerated().reversed() {
            answer.give(.text("<\(number)>"))
            answer.give(.text("again"))
        }
        for (number, socket) in sockets.enumerated() {
            #expect(socket.read(until: "<\(number)>").contains("<\(number)>"))
        }
        // The connection goes on.
        sockets[0].send(Self.request)
        handed.wait(101)[100].give(.text("<second>"))
        #expect(sockets[0].read(until: "<second>").contains("200 OK"))
    }

    @Test("A handler that waits keeps nobody waiting but its own client, on however few connections' threads")
    func blocking() throws {
        let open = Mutex<Set<Int>>([])
        let server = try Server(port: 0, threads: 4) { request in
            if let gate = Int(request.path.dropFirst()) {
                while !open.withLock({ $0.contains(gate) }) { usleep(1_000) }
            }
            return .text("[\(request.path)]")
        }
        defer { server.stop() }
        func ask(_ path: String) -> Socket {
            let socket = Socket(server, "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            return socket
        }
        let blocked = (0..<3).map { ask("/\($0)") }
        for number in 0..<50 { #expect(ask("/free-\(number)").read(until: "[/free-\(number)]").contains("200 OK")) }
        for number in (0..<3).reversed() {
            open.withLock { _ = $0.insert(number) }
            #expect(blocked[number].read(until: "[/\(number)]").contains("200 OK"))
        }
    }

    @Test("One that is given before the handler returns goes out at once") func early() throws {
        let server = try Server(port: 0) { _ in
            let answer = DeferredResponse()
            answer.give(.text("[early]"))
            return .later(answer)
        }
        defer { server.stop() }
        let socket = Socket(server, Self.request)
        #expect(socket.read(until: "[early]").contains("[early]"))
    }

    @Test("A client that is gone, and a server that stops, leave nothing waiting") func gone() throws {
        let handed = Handed<DeferredResponse>()
        let server = try Self.server(handed)
        do {
            let socket = Socket(port: server.port)
            socket.send(Self.request)
            _ = handed.wait(1)
        }
        let waiting = Socket(server, Self.request)
        let answers = handed.wait(2)
        answers[0].give(.text("nobody hears it"))
        server.stop()
        #expect(waiting.readAll().contains("503"))
        answers[1].give(.text("too late"))
    }
}
