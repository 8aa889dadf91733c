package import Sockets
internal import Telemetry

/// A step of a device on the wire.
package enum WireStep: Equatable, Sendable {
    case send([UInt8])
    case pause(ms: Int64)
    /// The same again and again, as fast as it is taken.
    case endless([UInt8])
    case close
    /// For whoever keeps a journal; nothing is sent.
    case note(String)
}

/// A device without its machine or car.
package protocol EmulatedDevice {
    /// The device's memory of one connection.
    associatedtype Talk
    /// A connection is closed after so many bytes of answers; 0: never.
    var cutAfterBytes: Int { get }
    func newTalk() -> Talk
    /// The steps that follow from the bytes that have come; those that it has understood are taken away.
    /// - Parameter isBusy: it still does what it was to do before.
    func steps(
        for received: inout [UInt8], _ talk: inout Talk, isBusy: Bool, atMs now: Int64,
        chance: inout SystemRandomNumberGenerator
    ) -> [WireStep]
}

/// Serves emulated devices, each on a port of its own of the loopback: one thread, one event queue.
package final class DeviceServer<Device: EmulatedDevice> {
    private let roundMs: Int32 = 20
    private let unsentMax = 65_536

    package let devices: [Device]
    /// Takes the devices' notes, each with its device and the time; nil: nobody reads them.
    package var journal: ((_ device: Int, _ nowMs: Int64, _ note: String) -> Void)?
    private let listeners: [Listening]
    private let poller: Poller
    private let tls: TLSContext?
    private var visits: [Visit<Device.Talk>?] = []
    private var freeSlots: [Int] = []
    private var chance = SystemRandomNumberGenerator()

    /// - Parameter port: of the first device, the others follow; 0: any free ones.
    package init(_ devices: [Device], port: UInt16, tls: TLSContext?) throws {
        self.devices = devices
        self.tls = tls
        let needed = devices.count * 2 + 100
        let limit = Descriptors.raiseLimit()
        guard limit >= needed else {
            throw SocketError(
                "\(devices.count) devices need \(needed) open files, \(limit) are allowed: raise `ulimit -n`")
        }
        poller = try Poller()
        let loopback = IPAddress("127.0.0.1")!
        listeners = try devices.indices.map { index in
            try Listening(loopback, port: port == 0 ? 0 : port + UInt16(index))
        }
        for (index, listener) in listeners.enumerated() {
            try poller.add(listener.descriptor, tag: index, reading: true, writing: false)
        }
    }

    package func port(of index: Int) -> UInt16 { listeners[index].port }

    package func run(shouldStop: () -> Bool) throws {
        while !shouldStop() {
            for tag in poller.wait(timeoutMs: roundMs) {
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
            visits[slot] = Visit(stream, device: index, slot: slot, talk: devices[index].newTalk())
            try poller.add(stream.descriptor, tag: listeners.count + slot, reading: true, writing: stream.wantsWriting)
        }
    }

    private func end(_ visit: Visit<Device.Talk>) {
        guard visits[visit.slot] === visit else { return }
        visits[visit.slot] = nil
        freeSlots.append(visit.slot)
    }

    private func goOn(_ visit: Visit<Device.Talk>) {
        switch visit.stream.open() {
        case .waiting: return watch(visit)
        case .failed, .distrusted: return end(visit)
        case .done: break
        }
        if case .failed = visit.stream.flush() { return end(visit) }
        switch visit.stream.read() {
        case .nothingYet: break
        case .bytes(let bytes): receive(bytes, visit)
        case .ended, .failed: return end(visit)
        }
        step(visit, Clock.steadyMs())
    }

    private func receive(_ bytes: [UInt8], _ visit: Visit<Device.Talk>) {
        visit.received += bytes
        visit.steps += devices[visit.device].steps(
            for: &visit.received, &visit.talk, isBusy: !visit.steps.isEmpty, atMs: Clock.nowMs(), chance: &chance)
    }

    /// Does what is due of the visit's steps.
    private func step(_ visit: Visit<Device.Talk>, _ now: Int64) {
        while visit.isDue(now), visits[visit.slot] === visit, visit.stream.unsentCount < unsentMax {
            switch visit.steps[0] {
            case .send(let bytes):
                visit.steps.removeFirst()
                send(bytes, visit)
            case .endless(let bytes): send(bytes, visit)
            case .pause(let ms):
                visit.steps.removeFirst()
                visit.resumeMs = now + ms
            case .close: end(visit)
            case .note(let note):
                visit.steps.removeFirst()
                journal?(visit.device, Clock.nowMs(), note)
            }
        }
        if visits[visit.slot] === visit { watch(visit) }
    }

    private func send(_ bytes: [UInt8], _ visit: Visit<Device.Talk>) {
        var bytes = bytes
        let cutAfter = devices[visit.device].cutAfterBytes
        if cutAfter > 0, visit.sent + bytes.count > cutAfter {
            bytes = Array(bytes.prefix(max(0, cutAfter - visit.sent)))
            visit.steps = [.close]
        }
        visit.sent += bytes.count
        if case .failed = visit.stream.send(bytes) { end(visit) }
    }

    private func watch(_ visit: Visit<Device.Talk>) {
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

/// One connection of a gateway to a device.
private final class Visit<Talk> {
    let stream: Stream
    let device: Int
    let slot: Int
    var talk: Talk
    var received: [UInt8] = []
    var steps: [WireStep] = []
    var resumeMs: Int64 = 0
    var sent = 0
    var watchesWriting: Bool

    init(_ stream: Stream, device: Int, slot: Int, talk: Talk) {
        self.stream = stream
        self.device = device
        self.slot = slot
        self.talk = talk
        watchesWriting = stream.wantsWriting
    }

    func isDue(_ now: Int64) -> Bool { !steps.isEmpty && now >= resumeMs }
}
