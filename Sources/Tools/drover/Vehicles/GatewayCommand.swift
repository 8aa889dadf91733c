import App
import Basics
import Fleet
import Gateways
import Kafka
import Settings
import Sockets
import Storage
import Telemetry

extension Command {
    static let gateway = Command(
        name: "gateway", operands: "[options]",
        summary: "Polls boxes (MTG) and cars' adapters (OBD-II), and pushes what they say. Stops on SIGTERM.",
        options: SettingsSource.options,
        example: "drover gateway --set gateway.plain_tcp_cidrs=192.168.40.0/24",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            try ServiceRoles.gateway(settings)
            return .done
        })

    static let gatewayLog = Command(
        name: "gateway log", operands: "HOST:PORT --key FILE [options]",
        summary:
            "Fetches the debug log of a box (MTG), and prints or keeps it. For developers: it needs the box's own key.",
        options: [
            .init("--key", "FILE", "the box's key, 64 hexadecimal digits; it is proved, never sent"),
            .init("--certificate-sha256", "HEX", "the box's certificate, pinned (default: plain TCP)"),
            .init("--vehicle", "V", "keep it as this vehicle's for `drover log`, instead of printing it"),
        ] + SettingsSource.options,
        example: "drover gateway log 192.168.40.7:4021 --key box.key",
        run: { arguments in
            let settings = try SettingsSource.load(arguments)
            let (address, port) = try place(arguments)
            let vehicle = try arguments.text("--vehicle").map { text in
                guard let id = VehicleID(text) else {
                    throw UsageError("--vehicle \(text): must be 1 to 64 letters, digits, -, _ or .")
                }
                return id
            }
            let pinned = arguments.text("--certificate-sha256")?.lowercased()
            guard try pinned != nil || settings.plainNetworks().contains(where: { $0.contains(address) }) else {
                throw Failure(
                    "plain TCP to \(address) is not allowed: name --certificate-sha256, or add its network to "
                        + "gateway.plain_tcp_cidrs")
            }
            if let refusal = try settings.deviceReach().refusal(of: address, port: port) {
                throw Failure("\(address): \(refusal). Name it in gateway.device_cidrs if boxes are there")
            }
            var box = try DebugLog(
                address, port: port, pinned: pinned, timeoutMs: settings.integer("gateway.answer_timeout_ms"))
            let log = try box.fetch(key: key(arguments))
            if let vehicle { try keep(log, of: vehicle, settings) } else { Out.result(log) }
            return .done
        })

    static let gatewayPoll = Command(
        name: "gateway poll", operands: "VEHICLE",
        summary: "Asks the gateway to download now what a machine's box has, and says how it went.",
        options: [.init("--wait", "S", "how long the answer is waited for (default 30)")] + ActionPush.options
            + SettingsSource.options,
        example: "drover gateway poll 8R-0001",
        run: { arguments in
            guard arguments.operands.count == 1, let vehicle = VehicleID(arguments.operands[0]) else {
                throw UsageError("one VEHICLE is to be named")
            }
            let waitS = try arguments.integer("--wait", in: 1...3_600) ?? 30
            let connection = try Command.machineReader(vehicle, arguments)
            let settings = try SettingsSource.load(arguments)
            let action = try ActionPush.action(
                arguments, vehicle: vehicle, kind: .pollRequest(untilMs: Clock.nowMs() + waitS * 1_000))
            try ActionPush(settings: settings).push(action)
            let patience = Stopwatch()
            while patience.seconds < Double(waitS) {
                if let answer = try DeviceStore.answer(to: action.id, of: vehicle, on: connection) {
                    let text = "\(vehicle): \(answer.text)"
                    guard answer.isDone else { throw Failure(text) }
                    Out.result(text)
                    return .done
                }
                guard !StopFlag.wait(timeoutMs: 100) else { break }
            }
            throw Failure("\(vehicle): no gateway has answered within \(waitS) s. Is `drover gateway` up? See its log")
        })

    private static func keep(_ log: [UInt8], of vehicle: VehicleID, _ settings: Settings) throws {
        guard log.count <= DebugLogStore.bytesMax else {
            throw Failure(
                "the log has \(log.count) bytes, at most \(DebugLogStore.bytesMax) are kept. Without --vehicle it is printed"
            )
        }
        let id = try DebugLogStore.add(log, of: vehicle, on: debugLogs(settings))
        Out.note("kept: `drover log show \(id)` prints it")
    }

    private static func place(_ arguments: Arguments) throws -> (IPAddress, UInt16) {
        guard arguments.operands.count == 1, let colon = arguments.operands[0].lastIndex(of: ":"),
            let port = UInt16(arguments.operands[0][colon...].dropFirst()), port > 0
        else { throw UsageError("one HOST:PORT is to be named") }
        return (try IPAddress.resolve(String(arguments.operands[0][..<colon])), port)
    }

    private static func key(_ arguments: Arguments) throws -> [UInt8] {
        guard let path = arguments.text("--key") else { throw UsageError("--key is missing") }
        let text = String(decoding: try Files.read(path), as: UTF8.self).filter { !$0.isWhitespace }
        guard let key = Hex.bytes(of: text), key.count == DebugLog.keyBytes else {
            throw Failure("\(path): is no key: write \(DebugLog.keyBytes * 2) hexadecimal digits")
        }
        return key
    }
}
