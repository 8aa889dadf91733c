internal import Observe
public import Sockets
internal import Wire

/// Serves emulated boxes, each on a port of its own of the loopback: one thread, one event queue.
public final class BoxServer {
    private static let roundMs: Int32 = 20
    private static let unsentMax = 65_536

    public let boxes: [EmulatedBox]
    private let listeners: [Listening]
    private let poller: Poller
    private let tls: TLSContext?
    private var visits: [Visit?] = []
    private var freeSlots: [Int] = []
    private var chance = SystemRandomNumberGenerator()

    /// - Parameter port: of the first box, the others follow; 0: any free ones.
    public init(_ boxes: [EmulatedBox], port: UInt16, tls: TLSContext?) throws {
        (self.boxes, self.tls) = (boxes, tls)
        let needed = boxes.count * 2 + 100
        let limit = Descriptors.raiseLimit()
        guard limit >= needed else {
            throw SocketError("\(boxes.count) boxes need \(needed) open files, \(limit) are allowed: raise `ulimit -n`")
        }
        poller = try Poller()
        let loopback = Address("127.0.0.1")!
        listeners = try boxes.indices.map { index in
            try Listening(loopback, port: port == 0 ? 0 : port + UInt16(index))
        }
        for (index, listener) in listeners.enumerated() {
            try poller.add(listener.descriptor, tag: index, reading: true, writing: false)
        }
    }

    public func port(ofBox index: Int) -> UInt16 { listeners[index].port }

    public func run(shouldStop: () -> Bool) throws {
        while !shouldStop() {
            for tag in poller.wait(timeoutMs: BoxServer.roundMs) {
                if tag < listeners.count {
                    try accept(tag)
                } else if let visit = visits[tag - listeners.count] {
                    goOn(visit)
                }
            }
            let now = Clock.steadyMs()
            for case let visit? in visits where visit.isDue(now) { step(visit, now) }
        }
    }

    private func accept(_ index: Int) throws {
        while let stream = try listeners[index].accept(tls: tls) {
            let slot = freeSlots.popLast() ?? visits.count
            if slot == visits.count { visits.append(nil) }
            visits[slot] = Visit(stream, box: index, slot: slot)
            try poller.add(stream.descriptor, tag: listeners.count + slot, reading: true, writing: stream.wantsWriting)
        }
    }

    private func end(_ visit: Visit) {
        guard visits[visit.slot] === visit else { return }
        visits[visit.slot] = nil
        freeSlots.append(visit.slot)
    }

    private func goOn(_ visit: Visit) {
        switch visit.stream.open() {
        case .waiting: return watch(visit)
        case .failed, .distrusted: return end(visit)
        case .done: break
        }
        if case .failed = visit.stream.flush() { return end(visit) }
        switch visit.stream.read() {
        case .nothingYet: break
        case .bytes(let bytes): take(bytes, visit)
        case .ended, .failed: return end(visit)
        }
        step(visit, Clock.steadyMs())
    }

    private func take(_ bytes: [UInt8], _ visit: Visit) {
        visit.received += bytes
        do throws(MTGError) {
            while let (frame, count) = try MTGFrame.first(
                of: visit.received, contentMax: MTGFrame.requestBytesMax)
            {
                visit.received.removeFirst(count)
                visit.steps += boxes[visit.box].steps(for: answer(try MTGRequest(frame), visit))
            }
        } catch {
            // As a box does: it hangs up on what it does not understand.
            visit.steps.append(.close)
        }
    }

    private func answer(_ request: MTGRequest, _ visit: Visit) -> MTGAnswer {
        let box = boxes[visit.box]
        var isProven = false
        if case .debugLog(let from, let proof) = request, let challenge = visit.challenge {
            let message = MTGRequest.proofMessage(challenge: challenge, from: from)
            isProven = MAC.isRight(proof, of: message, key: box.debugLogKey)
        }
        let challenge = (0..<MTGRequest.challengeBytes).map { _ in UInt8.random(in: 0...255, using: &chance) }
        visit.challenge = request == .challenge ? challenge : nil
        return box.answer(request, atMs: Clock.nowMs(), challenge: challenge, isProven: isProven)
    }

    /// Does what is due of the visit's steps.
    private func step(_ visit: Visit, _ now: Int64) {
        while visit.isDue(now), visits[visit.slot] === visit, visit.stream.unsentCount < BoxServer.unsentMax {
            switch visit.steps[0] {
            case .send(let bytes):
                visit.steps.removeFirst()
                send(bytes, visit)
            case .endless(let bytes): send(bytes, visit)
            case .pause(let ms):
                visit.steps.removeFirst()
                visit.resumeMs = now + ms
            case .close: end(visit)
            }
        }
        if visits[visit.slot] === visit { watch(visit) }
    }

    private func send(_ bytes: [UInt8], _ visit: Visit) {
        var bytes = bytes
        let cutAfter = boxes[visit.box].group.cutAfterBytes
        if cutAfter > 0, visit.sent + bytes.count > cutAfter {
            bytes = Array(bytes.prefix(max(0, cutAfter - visit.sent)))
            visit.steps = [.close]
        }
        visit.sent += bytes.count
        if case .failed = visit.stream.send(bytes) { end(visit) }
    }

    private func watch(_ visit: Visit) {
        let writing = visit.stream.wantsWriting
        guard writing != visit.watchesWriting else { return }
        visit.watchesWriting = writing
        let tag = listeners.count + visit.slot
        // It fails for a descriptor that is gone, and then the visit has ended.
        do { try poller.change(visit.stream.descriptor, tag: tag, reading: true, writing: writing) } catch {
            end(visit)
        }
    }
}

/// One connection of a gateway to a box.
private final class Visit {
    let stream: Stream
    let box: Int
    let slot: Int
    var received: [UInt8] = []
    var steps: [EmulatedBox.Step] = []
    var resumeMs: Int64 = 0
    var sent = 0
    /// Good for the next request.
    var challenge: [UInt8]?
    var watchesWriting: Bool

    init(_ stream: Stream, box: Int, slot: Int) {
        (self.stream, self.box, self.slot) = (stream, box, slot)
        watchesWriting = stream.wantsWriting
    }

    func isDue(_ now: Int64) -> Bool { !steps.isEmpty && now >= resumeMs }
}
