import Glibc
import HTTPServer
import Synchronization
import Testing

@Suite("Answers that come later")
struct LaterAnswerTests {
    /// Each request gets an answer of its own, which is handed to the test.
    private final class Desk: Sendable {
        let all = Mutex<[LaterAnswer]>([])
        func make() -> Response {
            let answer = LaterAnswer()
            all.withLock { $0.append(answer) }
            return .later(answer)
        }
        /// Waits until so many are open.
        func open(_ count: Int) -> [LaterAnswer] {
            for _ in 0..<20_000 where all.withLock({ $0.count }) < count { usleep(5_000) }
            return all.withLock { $0 }
        }
    }

    private static let request = "POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"

    private static func server(_ desk: Desk, threads: Int = 1) throws -> Server {
        try Server(port: 0, threads: threads) { request in request.path == "/later" ? desk.make() : .text("[other]") }
    }

    @Test("A hundred that wait hold none of the one thread, and each gets its own answer, the first that is given")
    func many() throws {
        let desk = Desk()
        let server = try Self.server(desk)
        defer { server.stop() }
        let sockets = (0..<100).map { number in
            let socket = Socket(port: server.port)
            socket.send(Self.request)
            // One after the other: so their order is known.
            _ = desk.open(number + 1)
            return socket
        }
        let other = Socket(port: server.port)
        other.send("GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(other.readAll().contains("[other]"))
        for (number, answer) in desk.open(100).enumerated().reversed() {
            answer.give(.text("<\(number)>"))
            answer.give(.text("again"))
        }
        for (number, socket) in sockets.enumerated() {
            #expect(socket.read(until: "<\(number)>").contains("<\(number)>"))
        }
        // The connection goes on.
        sockets[0].send(Self.request)
        desk.open(101)[100].give(.text("<second>"))
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
            let socket = Socket(port: server.port)
            socket.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            return socket
        }
        let blocked = (0..<3).map { ask("/\($0)") }
        for number in 0..<50 {
            #expect(ask("/free-\(number)").read(until: "[/free-\(number)]").contains("200 OK"))
        }
        for number in (0..<3).reversed() {
            open.withLock { _ = $0.insert(number) }
            #expect(blocked[number].read(until: "[/\(number)]").contains("200 OK"))
        }
    }

    @Test("One that is given before the handler returns goes out at once")
    func early() throws {
        let server = try Server(port: 0) { _ in
            let answer = LaterAnswer()
            answer.give(.text("[early]"))
            return .later(answer)
        }
        defer { server.stop() }
        let socket = Socket(port: server.port)
        socket.send(Self.request)
        #expect(socket.read(until: "[early]").contains("[early]"))
    }

    @Test("A client that is gone, and a server that stops, leave nothing waiting")
    func gone() throws {
        let desk = Desk()
        let server = try Self.server(desk)
        do {
            let socket = Socket(port: server.port)
            socket.send(Self.request)
            _ = desk.open(1)
        }
        let waiting = Socket(port: server.port)
        waiting.send(Self.request)
        let answers = desk.open(2)
        answers[0].give(.text("nobody hears it"))
        server.stop()
        #expect(waiting.readAll().contains("503"))
        answers[1].give(.text("too late"))
    }
}
