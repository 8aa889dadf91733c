internal import Basics
internal import Codecs
internal import Fleet
internal import Foundation
internal import Ingest
internal import Postgres
internal import Sockets
internal import Storage
internal import Telemetry
internal import Threads

/// Fetches the debug logs that people ask for on pages, one after the other, on a thread of its own: a box is waited for. A gateway gets
/// the logs of those boxes whose own keys it has, a file `VEHICLE.key` each.
final class DebugLogRequests: Sendable {
    private let parts: GatewayDependencies
    private let loop: Loop
    private let thread = WorkerThread()

    /// A person waits.
    private static let lookMs = 1_000

    init(_ parts: GatewayDependencies, loop: Loop) { (self.parts, self.loop) = (parts, loop) }

    func start() { thread.start("debug logs", loop: loop) { [self] _ in run() } }
    func stop() { thread.stop() }

    private enum Outcome {
        case done(String), refused(String)
        /// For people in one sentence, after the same time whatever it was.
        case failed
    }

    private func run() {
        var connection: Connection?
        var unanswered = Unanswered<DeviceRequest>(afterMs: parts.settings.failureToldMs)
        var seen: Set<DeviceRequest> = []
        var trouble = FailureLog(
            cannot: "requests for debug logs cannot be read", again: "requests for debug logs are read again",
            log: parts.log.with(["setting": "postgres.gateway_url"]))
        while !loop.asking({ thread.isStopping }) {
            do {
                let session =
                    try connection
                    ?? Connection.ofService(conninfo: parts.settings.conninfo, applicationName: "drover-debug-logs")
                connection = session
                let open = try DeviceStore.openLogRequests(on: session)
                for request in open where !seen.contains(request) && !loop.asking({ thread.isStopping }) {
                    unanswered.asked(request, nowMs: Clock.steadyMs())
                    switch outcome(of: request) {
                    case .done(let text): answer(request, isDone: true, text)
                    case .refused(let text): answer(request, isDone: false, text)
                    case .failed: unanswered.failed(request)
                    }
                }
                seen = Set(open)
                trouble.isOver()
            } catch {
                connection = nil
                trouble.failed("\(error)")
            }
            for request in unanswered.due(nowMs: Clock.steadyMs()) {
                answer(request, isDone: false, Unanswered<DeviceRequest>.sentence(BoxDriver.words.device))
            }
            thread.pause(ms: trouble.isInTrouble ? 3_000 : DebugLogRequests.lookMs)
        }
    }

    private func outcome(of request: DeviceRequest) -> Outcome {
        guard let key = key(of: request.vehicle) else {
            return .refused(
                "No gateway here has the key of this box. Whoever runs it puts the key into gateway.debug_keys_dir")
        }
        guard let device = parts.registry.machine(request.vehicle) else { return failed(request, "it is not polled") }
        do {
            var box = try DebugLog(
                device.address, port: device.port, pinned: device.certificateSHA256,
                timeoutMs: parts.settings.answerTimeoutMs, wholeMs: parts.settings.connectionMsMax,
                shouldStop: { [loop, thread] in loop.asking({ thread.isStopping }) })
            let log = try box.fetch(key: key)
            guard log.count <= DebugLogStore.bytesMax else {
                return .refused("The log has \(log.count) bytes, at most \(DebugLogStore.bytesMax) are kept")
            }
            let store = try Connection.ofService(
                conninfo: parts.settings.debugConninfo, applicationName: "drover-debug-logs")
            _ = try DebugLogStore.add(log, of: request.vehicle, on: store)
            return .done("the debug log, \(log.count) bytes")
        } catch {
            return failed(request, "\(error)")
        }
    }

    private func failed(_ request: DeviceRequest, _ fault: String) -> Outcome {
        parts.log.warning("a debug log could not be fetched", ["vehicle": "\(request.vehicle)", "fault": "\(fault)"])
        return .failed
    }

    /// Nil: there is none, or the file holds none.
    private func key(of vehicle: VehicleID) -> [UInt8]? {
        guard !parts.settings.debugKeysFolder.isEmpty,
            let data = FileManager.default.contents(atPath: "\(parts.settings.debugKeysFolder)/\(vehicle).key"),
            data.count <= 1_000
        else { return nil }
        let key = Hex.bytes(of: String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace })
        return key?.count == DebugLog.keyBytes ? key : nil
    }

    private func answer(_ request: DeviceRequest, isDone: Bool, _ text: String) {
        let ts = Clock.nowMs()
        let action = Action(
            id: "\(request.id.prefix(50))-\(String(ts, radix: 36))", vehicle: request.vehicle, ts: ts, by: "gateway",
            note: nil, kind: .pollAnswer(request: request.id, isDone: isDone, text: text))
        do throws(SpoolError) {
            try parts.spool.append([
                SpooledPage(
                    topic: Topic.machines, vehicle: request.vehicle, end: nil, records: [RecordWriter.action(action)])
            ])
            parts.drain.notice()
        } catch {
            parts.log.error("an answer cannot be stored", ["vehicle": "\(request.vehicle)", "error": "\(error)"])
        }
    }
}
