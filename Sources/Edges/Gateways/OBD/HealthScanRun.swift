internal import Codecs
internal import Fleet
internal import Formats

/// One health scan: its requests, one after another, and the result. Facts in; nothing is sent here.
struct HealthScanRun {
    private var waiting: [OBDRequest]
    private let supported: Set<UInt8>

    private var codes: [UInt8: [String]] = [:]
    /// Why confirmed codes could not be read.
    private var fault: ELMFault?
    private var isLampOn: Bool?
    private var codeCount: Int?
    private var notReady: Set<String> = []
    private var vin: String?
    private var frozenBy: String?
    private var frozen: [(key: String, value: String)] = []

    /// PIDs of a freeze frame that are read; further stored values are for workshops.
    private static let frozenPIDs: [UInt8] = [0x04, 0x05, 0x06, 0x07, 0x0B, 0x0C, 0x0D, 0x0F, 0x10, 0x11, 0x2F, 0x42]
    private static let freezeMask = OBDRequest.freezeFrame(0x00)
    private static let freezeCode = OBDRequest.freezeFrame(0x02)
    private static let infoMask = OBDRequest([0x09, 0x00])
    private static let codesMax = 100

    /// - Parameter supported: parameters of mode 01.
    init(supported: Set<UInt8>) {
        self.supported = supported
        let readiness: [OBDRequest] = supported.contains(0x01) ? [.readiness] : []
        waiting =
            [.storedCodes, .pendingCodes, .permanentCodes] + readiness + [HealthScanRun.freezeMask]
            + [HealthScanRun.infoMask]
    }

    /// The next request; nil: the scan is complete.
    var request: OBDRequest? { waiting.first }

    mutating func accept(_ answers: [OBDAnswer]) {
        let request = waiting.removeFirst()
        switch request.mode {
        case 0x01:
            for case .readiness(let readiness) in values(answers, request).map(\.content) {
                isLampOn = isLampOn == true || readiness.isLampOn == true
                codeCount = (codeCount ?? 0) + (readiness.codeCount ?? 0)
                notReady.formUnion(readiness.notReady)
            }
        case 0x02: acceptFreezeFrame(answers, request)
        case 0x09: acceptVehicleInfo(answers, request)
        default:
            // A unit whose answer is damaged contributes nothing.
            let found = answers.flatMap { (try? $0.troubleCodes()) ?? [] }.map(\.text)
            codes[request.mode] = Array(
                found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
                    .prefix(HealthScanRun.codesMax))
        }
    }

    /// The car does not answer this one.
    mutating func refused(_ why: ELMFault) {
        if waiting.removeFirst() == .storedCodes { fault = why }
    }

    private func values(_ answers: [OBDAnswer], _ request: OBDRequest) -> [OBDValue] {
        // A unit without the value is passed over.
        answers.flatMap { (try? $0.values(of: request)) ?? [] }
    }

    private mutating func acceptFreezeFrame(_ answers: [OBDAnswer], _ request: OBDRequest) {
        for value in values(answers, request) {
            switch value.content {
            case .supported(let pids):
                if pids.contains(0x02) { waiting.insert(HealthScanRun.freezeCode, at: 0) }
                frozenHas.formUnion(pids)
            case .troubleCode(let code?):
                guard frozenBy == nil else { continue }
                frozenBy = code.text
                waiting.insert(
                    contentsOf: HealthScanRun.frozenPIDs.filter { frozenHas.contains($0) }.map { .freezeFrame($0) },
                    at: 0)
            case .number:
                if !frozen.contains(where: { $0.key == value.row.key }) { frozen.append((value.row.key, value.text)) }
            case .choice, .flags, .readiness, .troubleCode: break
            }
        }
    }
    private var frozenHas: Set<UInt8> = []

    private mutating func acceptVehicleInfo(_ answers: [OBDAnswer], _ request: OBDRequest) {
        if request == .vin {
            vin = answers.lazy.compactMap { try? $0.vin() }.first
        } else if answers.contains(where: { HealthScanRun.mask($0.bytes).contains(0x02) }) {
            waiting.insert(.vin, at: 0)
        }
    }

    /// The mask of mode 09, 00: older buses put a count of lines in front.
    private static func mask(_ bytes: [UInt8]) -> Set<UInt8> {
        let mask = bytes.dropFirst(bytes.count == 7 ? 3 : 2).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Set((UInt8(1)...32).filter { bytes.count >= 6 && mask & (1 << (32 - UInt32($0))) != 0 })
    }

    // MARK: - The result

    /// The caller fills in who asked.
    var result: Action.HealthScan {
        // A car without codes may say nothing at all; its count is then the proof.
        let isDone = codes[0x03] != nil || codeCount == 0
        var scan = Action.HealthScan(request: nil, isDone: isDone, text: isDone ? found : notRead)
        scan.stored = codes[0x03] ?? []
        scan.pending = codes[0x07] ?? []
        scan.permanent = codes[0x0A] ?? []
        scan.isLampOn = isLampOn
        scan.notReady = notReady.sorted()
        scan.vin = vin
        if let frozenBy {
            let fields: [JSONValue.Field] = [("code", .text(frozenBy))] + frozen.map { ($0.key, .number($0.value)) }
            scan.freezeFrame = JSONValue.object(fields).rendered()
        }
        return scan
    }

    private var notRead: String {
        "the car does not tell its trouble codes: " + (fault?.description ?? "no answer. Ask again")
    }

    private var found: String {
        let stored = codes[0x03] ?? []
        var parts = [
            stored.isEmpty
                ? "no trouble codes"
                : "\(stored.count) trouble \(stored.count == 1 ? "code" : "codes"): " + HealthScanRun.list(stored)
        ]
        for (mode, name) in [(UInt8(0x07), "pending"), (0x0A, "permanent")] {
            let others = (codes[mode] ?? []).filter { !stored.contains($0) }
            if !others.isEmpty { parts.append("\(name): " + HealthScanRun.list(others)) }
        }
        return parts.joined(separator: "; ")
    }

    private static let listedMax = 20

    private static func list(_ codes: [String]) -> String {
        let more = codes.count - listedMax
        return codes.prefix(listedMax).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}
