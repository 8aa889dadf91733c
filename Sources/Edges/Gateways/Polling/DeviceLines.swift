internal import Sockets

/// A connection to a box or an adapter.
class DeviceLine {
    let stream: Stream
    let slot: Int
    let startMs: Int64
    /// For the answer that is awaited, or for the connection.
    var deadlineMs: Int64
    fileprivate(set) var isOpen = false
    fileprivate var watchesWriting = true

    init(_ stream: Stream, slot: Int, startMs: Int64, deadlineMs: Int64) {
        self.stream = stream
        self.slot = slot
        self.startMs = startMs
        self.deadlineMs = deadlineMs
    }
}

/// Why a connection does not work.
enum LineFault: Error, Equatable {
    case unreachable(String)
    /// The certificate is not the pinned one, or has expired.
    case distrusted(String)

    static let noConnectionInTime = LineFault.unreachable("no connection in time (gateway.answer_timeout_ms)")
}

/// A fact of a connection.
enum LineFact: Equatable {
    case opened, closed
    case received([UInt8])
    case failed(LineFault)
}

/// All connections of one thread, and the one event queue that it waits for.
final class DeviceLines<Line: DeviceLine> {
    private let poller: Poller
    private let tls: TLSContext
    private(set) var all: [Line?] = []
    private var freeSlots: [Int] = []

    init() throws { (poller, tls) = (try Poller(), try TLSContext()) }

    var count: Int { all.count - freeSlots.count }

    /// Whether it has not been closed.
    func has(_ line: Line) -> Bool { all[line.slot] === line }

    /// Begins to connect.
    func open(
        to device: DeviceRegistration, make: (_ stream: Stream, _ slot: Int) -> Line
    ) throws(LineFault) -> Line {
        do {
            let pinned = device.certificateSHA256
            let stream = try Stream(
                to: device.address, port: device.port, tls: pinned == nil ? nil : tls, pinned: pinned)
            let slot = freeSlots.last ?? all.count
            try poller.add(stream.descriptor, tag: slot, reading: true, writing: true)
            let line = make(stream, slot)
            if freeSlots.isEmpty { all.append(line) } else { all[freeSlots.removeLast()] = line }
            return line
        } catch {
            throw .unreachable("\(error)")
        }
    }

    func close(_ line: Line) {
        all[line.slot] = nil
        freeSlots.append(line.slot)
    }

    /// The lines that can be read or written.
    func ready(timeoutMs: Int32) -> [Line] { poller.wait(timeoutMs: timeoutMs).compactMap { all[$0] } }

    /// The facts of a ready line; after a fault or an end there are no more.
    func facts(of line: Line) -> [LineFact] {
        var facts: [LineFact] = []
        switch line.stream.open() {
        case .waiting:
            watch(line, &facts)
            return facts
        case .failed(let error): return [.failed(.unreachable(error.description))]
        case .distrusted(let error): return [.failed(.distrusted(error.description))]
        case .done: break
        }
        if !line.isOpen {
            line.isOpen = true
            facts.append(.opened)
        } else if case .failed(let error) = line.stream.flush() {
            return [.failed(.unreachable(error.description))]
        }
        switch line.stream.read() {
        case .nothingYet: break
        case .bytes(let bytes): facts.append(.received(bytes))
        case .ended: facts.append(.closed)
        case .failed(let error): facts.append(.failed(.unreachable(error.description)))
        }
        watch(line, &facts)
        return facts
    }

    /// Sends what goes; the rest when there is room.
    func send(_ bytes: [UInt8], to line: Line) throws(LineFault) {
        if case .failed(let error) = line.stream.send(bytes) { throw .unreachable(error.description) }
        var facts: [LineFact] = []
        watch(line, &facts)
        if case .failed(let fault)? = facts.first { throw fault }
    }

    private func watch(_ line: Line, _ facts: inout [LineFact]) {
        let writing = line.stream.wantsWriting
        guard writing != line.watchesWriting else { return }
        line.watchesWriting = writing
        do {
            try poller.change(line.stream.descriptor, tag: line.slot, reading: true, writing: writing)
        } catch {
            facts.append(.failed(.unreachable("\(error)")))
        }
    }
}
