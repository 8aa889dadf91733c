internal import CSimdjson
internal import Glibc
internal import Fleet

/// Owns one simdjson scanner with the keys of all our records. One a lane: not shared between threads.
@safe
final class JSONScanner {
    /// The keys that every record has; then the cars' signals, then the machines' parameters and texts.
    static let commonKeys = [
        "schema", "kind", "id", "vehicle", "ts", "model", "serial", "firmware", "connected_device_names",
    ]
    enum Common: Int { case schema, kind, id, vehicle, ts, model, serial, firmware, connectedDeviceNames }

    static let recordBytesMax = 1_000_000

    private let scanner: OpaquePointer
    private let slots: UnsafeMutablePointer<drover_json_slot>
    private let signalSlot: [Int]
    private let parameterSlot: [Int]

    init() {
        var keys = JSONScanner.commonKeys
        // Some keys (coolant_c) belong to cars and machines alike: one slot serves both.
        func slot(_ key: String) -> Int {
            if let known = keys.firstIndex(of: key) { return known }
            keys.append(key)
            return keys.count - 1
        }
        signalSlot = Signal.allCases.map { slot($0.row.key) }
        parameterSlot = MachineParameter.allCases.map { slot($0.row.key) }
        unsafe slots = UnsafeMutablePointer<drover_json_slot>.allocate(capacity: keys.count)
        unsafe slots.initialize(repeating: drover_json_slot(), count: keys.count)

        // The C side copies the keys, so these live for the call only.
        let texts = unsafe keys.map { unsafe strdup($0) }
        defer { unsafe texts.forEach { unsafe free($0) } }
        let pointers = unsafe texts.map { unsafe UnsafePointer<CChar>($0) }

        guard let made = unsafe drover_json_new(pointers, keys.count, slots) else {
            preconditionFailure("out of memory")
        }
        unsafe scanner = unsafe made
    }

    deinit {
        unsafe drover_json_free(scanner)
        unsafe slots.deallocate()
    }

    func scan(_ bytes: UnsafeRawBufferPointer) throws(DecodeError) {
        guard bytes.count <= JSONScanner.recordBytesMax else {
            throw .tooLarge(bytes: bytes.count, most: JSONScanner.recordBytesMax)
        }
        guard let base = bytes.baseAddress else { throw .notJSON("empty") }
        if let problem = unsafe drover_json_scan(scanner, base.assumingMemoryBound(to: UInt8.self), bytes.count) {
            throw unsafe .notJSON(String(cString: problem))
        }
    }

    func isAbsent(_ key: Common) -> Bool { unsafe slots[key.rawValue].kind == Int32(DROVER_JSON_ABSENT) }

    func integer(_ key: Common) -> Int64? {
        let slot = unsafe slots[key.rawValue]
        return unsafe slot.kind == Int32(DROVER_JSON_INT) ? slot.integer : nil
    }

    /// The bytes of a string; they live until the next scan.
    func withText<R>(_ key: Common, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R? {
        let slot = unsafe slots[key.rawValue]
        guard unsafe slot.kind == Int32(DROVER_JSON_STRING) else { return nil }
        return unsafe body(UnsafeBufferPointer(start: slot.text, count: slot.length))
    }

    /// Nil when there is none, when it is too long, and when it holds a NUL: no database takes one in a text.
    func text(_ key: Common, bytesMax: Int) -> String? {
        unsafe withText(key) {
            unsafe $0.count <= bytesMax && !$0.contains(0) ? String(decoding: $0, as: UTF8.self) : nil
        } ?? nil
    }

    func strings(_ key: Common, bytesMax: Int) -> [String]? {
        let slot = unsafe slots[key.rawValue]
        guard unsafe slot.kind == Int32(DROVER_JSON_STRINGS) else { return nil }
        return unsafe (slot.first..<slot.first + slot.length).compactMap { index in
            var length = 0
            let text = unsafe drover_json_string(scanner, index, &length)
            let bytes = unsafe UnsafeBufferPointer(start: text, count: min(length, bytesMax))
            return unsafe bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
        }
    }

    enum Number { case absent, scaled(Int64), wrong }

    func number(_ signal: Signal) -> Number {
        number(slot: signalSlot[Int(signal.rawValue)], decimals: signal.row.decimals)
    }
    func number(_ parameter: MachineParameter, decimals: Int) -> Number {
        number(slot: parameterSlot[Int(parameter.rawValue)], decimals: decimals)
    }

    private func number(slot index: Int, decimals: Int) -> Number {
        let slot = unsafe slots[index]
        switch unsafe Int(slot.kind) {
        case DROVER_JSON_ABSENT: return .absent
        case DROVER_JSON_BOOL: return unsafe decimals == 0 ? .scaled(slot.integer) : .wrong
        case DROVER_JSON_INT:
            let (scaled, overflow) = unsafe slot.integer.multipliedReportingOverflow(by: Decimal.powerOfTen(decimals))
            return overflow ? .wrong : .scaled(scaled)
        case DROVER_JSON_DOUBLE:
            guard let scaled = unsafe Decimal.scaled(slot.number, decimals: decimals) else { return .wrong }
            return .scaled(scaled)
        default: return .wrong
        }
    }
}
