import Glibc
import HTTPServer
import Testing

@Suite("Bodies that go on")
struct BodyStreamTests {
    private static let request = "GET /s HTTP/1.1\r\nHost: h\r\n\r\n"

    private static func server(_ streams: Handed<BodyStream>) throws -> Server {
        try Server(port: 0) { request in
            if request.path != "/s" { return .text("[other]") }
            return .streaming(streams.add(BodyStream(bytesMax: 100_000)), type: "text/event-stream")
        }
    }

    @Test("What is sent arrives at once and in order, while other requests are answered; the end is told")
    func order() throws {
        let streams = Handed<BodyStream>()
        let server = try Self.server(streams)
        defer { server.stop() }
        let socket = Socket(server, Self.request)
        let stream = streams.wait(1)[0]
        for number in 0..<50 {
            #expect(stream.send(Array("<\(number)>".utf8)))
            let other = Socket(server, "GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            if number % 10 == 0 { #expect(other.readAll().contains("[other]")) }
            #expect(socket.read(until: "<\(number)>").contains("<\(number)>"))
        }
        stream.send(Array("last".utf8))
        stream.end()
        #expect(socket.readAll().contains("last"))
        #expect(!stream.send([1]))
    }

    @Test("A hundred streams get everything that many threads send") func many() throws {
        let streams = Handed<BodyStream>()
        let server = try Self.server(streams)
        defer { server.stop() }
        let sockets = (0..<100).map { _ in Socket(server, Self.request) }
        let open = streams.wait(100)
        #expect(open.count == 100)
        for number in 0..<20 { for stream in open { stream.send(Array("<\(number)>".utf8)) } }
        for stream in open { stream.end() }
        for socket in sockets {
            let text = socket.readAll()
            #expect((0..<20).allSatisfy { text.contains("<\($0)>") })
        }
    }

    @Test("A client that is gone ends its stream; one that does not read ends when too much waits") func gone() throws {
        let streams = Handed<BodyStream>()
        let server = try Self.server(streams)
        defer { server.stop() }
        var socket: Socket? = Socket(server, Self.request)
        let stream = streams.wait(1)[0]
        #expect(stream.send(Array("x".utf8)))
        _ = socket?.read(until: "x")
        socket = nil
        for _ in 0..<20_000 where stream.send(Array(": \n\n".utf8)) { usleep(5_000) }
        #expect(stream.isEnded)

        let silent = Socket(port: server.port)
        silent.send(Self.request)
        let full = streams.wait(2)[1]
        for _ in 0..<200_000 where full.send([UInt8](repeating: 0x78, count: 50_000)) { usleep(100) }
        #expect(full.isEnded)
    }

    @Test("A client that left is noticed without a word to it, even with something unread; one that is there is not")
    func left() throws {
        let streams = Handed<BodyStream>()
        let server = try Self.server(streams)
        defer { server.stop() }
        let stays = Socket(server, Self.request)
        _ = stays.read(until: "\r\n\r\n")
        var leaves: Socket? = Socket(server, Self.request + "GET /more HTTP/1.1")
        _ = leaves?.read(until: "\r\n\r\n")
        let open = streams.wait(2)
        #expect(open.allSatisfy { !$0.endsIfLeft() })
        leaves = nil
        for _ in 0..<20_000 where !open[1].endsIfLeft() { usleep(5_000) }
        #expect(open[1].isEnded && !open[1].send([1]))
        #expect(!open[0].endsIfLeft() && open[0].send(Array("still".utf8)))
        #expect(stays.read(until: "still").contains("still"))
        open[0].end()
        #expect(open[0].endsIfLeft())
    }

    @Test("Stopping the server ends the streams at once, also those without a word to send") func stopped() throws {
        let streams = Handed<BodyStream>()
        let server = try Self.server(streams)
        let sockets = (0..<5).map { _ in Socket(server, Self.request) }
        let open = streams.wait(5)
        server.stop(graceMs: 20_000)
        #expect(open.allSatisfy { $0.isEnded })
        for socket in sockets { #expect(socket.readAll().hasPrefix("HTTP/1.1 200")) }
    }
}
