internal import Codecs
internal import Crypto
package import Sockets
internal import Telemetry

/// Fetches a box's debug log, for developers: one connection that is waited for.
package struct DebugLog {
    /// No box's log is longer; one that says so is not believed.
    private static let bytesMax: Int64 = 64 << 20

    /// The length of a box's own key.
    package static let keyBytes = 32

    private let stream: Stream
    private let poller: Poller
    private let name: String
    private let timeoutMs: Int64
    private let endMs: Int64
    private let shouldStop: @Sendable () -> Bool
    private var received: [UInt8] = []

    /// - Parameters:
    ///   - pinned: SHA-256 of the box's certificate; nil: plain TCP, which the caller has found to be allowed.
    ///   - timeoutMs: for connecting, and for each answer.
    ///   - wholeMs: for all of it.
    package init(
        _ address: IPAddress, port: UInt16, pinned: String?, timeoutMs: Int64, wholeMs: Int64 = 3_600_000,
        shouldStop: @escaping @Sendable () -> Bool = { false }
    ) throws {
        name = "\(address):\(port)"
        self.timeoutMs = timeoutMs
        self.shouldStop = shouldStop
        endMs = Clock.steadyMs() + wholeMs
        stream = try Stream(to: address, port: port, tls: pinned.map { _ in try TLSContext() }, pinned: pinned)
        poller = try Poller()
        try poller.add(stream.descriptor, tag: 0, reading: true, writing: true)
    }

    /// The whole log.
    /// - Parameter key: the box's own, `keyBytes` long.
    /// - Throws: `SocketError` with what to do.
    package mutating func fetch(key: [UInt8]) throws -> [UInt8] {
        precondition(key.count == DebugLog.keyBytes)
        try wait { stream in stream.open() }
        var log: [UInt8] = []
        while true {
            let from = Int64(log.count)
            guard case .challenge(let challenge) = try ask(.challenge) else { throw unasked() }
            let proof = Secrets.hmacSHA256(MTGRequest.proofMessage(challenge: challenge, from: from), key: key)
            guard case .debugLog(from, let total, let page) = try ask(.debugLog(from: from, proof: proof)) else {
                throw unasked()
            }
            guard total <= DebugLog.bytesMax else {
                throw SocketError(
                    "\(name): says that its log has \(total) bytes, at most \(DebugLog.bytesMax) are read")
            }
            log += page
            if log.count >= total { return log }
            guard !page.isEmpty else { throw SocketError("\(name): its log ended at byte \(from) of \(total)") }
        }
    }

    private func unasked() -> SocketError { SocketError("\(name): \(BoxFault.unasked)") }

    private mutating func ask(_ request: MTGRequest) throws -> MTGAnswer {
        let bytes = request.encoded()
        var isSent = false
        try wait { stream in
            defer { isSent = true }
            return isSent ? stream.flush() : stream.send(bytes)
        }
        let deadline = Clock.steadyMs() + timeoutMs
        while true {
            if let (frame, count) = try MTGFrame.first(of: received, contentMax: MTGFrame.answerBytesMax) {
                received.removeFirst(count)
                let answer = try MTGAnswer(frame)
                if case .refused(let reason) = answer { throw SocketError("\(name): \(BoxFault.refused(reason))") }
                return answer
            }
            switch stream.read() {
            case .nothingYet: try pause(until: deadline)
            case .bytes(let bytes): received += bytes
            case .ended: throw SocketError("\(name): \(BoxFault.closed)")
            case .failed(let error): throw SocketError("\(name): \(error)")
            }
        }
    }

    private func wait(_ go: (Stream) -> Stream.Progress) throws {
        let deadline = Clock.steadyMs() + timeoutMs
        while true {
            switch go(stream) {
            case .done: return
            case .waiting: try pause(until: deadline)
            case .failed(let error), .distrusted(let error): throw SocketError("\(name): \(error)")
            }
        }
    }

    private func pause(until deadline: Int64) throws {
        let leftMs = min(deadline, endMs) - Clock.steadyMs()
        guard leftMs > 0, !shouldStop() else { throw SocketError("\(name): \(BoxFault.late)") }
        try poller.change(stream.descriptor, tag: 0, reading: true, writing: stream.wantsWriting)
        _ = poller.wait(timeoutMs: Int32(min(leftMs, 1_000)))
    }
}
