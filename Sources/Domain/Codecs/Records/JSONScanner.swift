internal import Basics
internal import CSimdjson
internal import Fleet
internal import Glibc

/// Owns one JSON scanner with the keys of all our records. One a lane: not shared between threads.
@safe
final class JSONScanner {
    /// The keys that every record has; then the cars' signals, then the machines' parameters and texts.
    static let commonKeys = [
        "schema", "kind", "id", "vehicle", "ts", "model", "serial", "firmware", "connected_device_names",
        "reporting", "version", "rules", "by", "note", "alert", "until_ts", "parameter", "name", "host",
        "port", "certificate_sha256", "tags", "disabled", "request", "done", "text", "partial",
        "trip_ts", "tag", "from_ts", "driver", "account", "settings", "pids", "stored", "pending", "permanent", "lamp",
        "not_ready", "freeze_frame", "vin", "make", "year", "fuel", "tank_l", "displacement_cc",
        "volumetric_efficiency_pct", "distance_km", "average_speed_kmh", "max_speed_kmh", "fuel_l", "average_mpg",
        "idle_s",
        "max_coolant_c", "sharp_accelerations", "sharp_brakings", "hour_ts", "answer", "machine_id", "wants",
    ]
    enum Common: Int {
        case schema, kind, id, vehicle, ts, model, serial, firmware, connectedDeviceNames, reporting, version, rules
        case by, note, alert, untilTs, parameter, name, host, port, certificateSHA256, tags, disabled
        case request, done, text, partial
        case tripTs, tag, fromTs, driver, account, settings, pids, stored, pending, permanent, lamp
        case notReady, freezeFrame, vin, make, year, fuel, tankL, displacementCc, volumetricEfficiencyPct
        case distanceKm, averageSpeedKmh, maxSpeedKmh, fuelL, averageMpg, idleS, maxCoolantC
        case sharpAccelerations, sharpBrakings, hourTs, answer, machineID, wants
    }

    static let recordBytesMax = 1_000_000

    private let scanner: OpaquePointer
    private let slots: UnsafeMutablePointer<drover_json_slot>
    /// The rows of `Signal`, in order, reduced to what the loop over a record's signals needs.
    let signals: [(signal: Signal, slot: Int, scale: Int64, possible: StoredRange)]
    private let parameterSlot: [Int]

    init() {
        var keys = JSONScanner.commonKeys
        // Some keys (coolant_c) belong to cars and machines alike: one slot serves both.
        func slot(_ key: String) -> Int {
            if let known = keys.firstIndex(of: key) { return known }
            keys.append(key)
            return keys.count - 1
        }
        signals = Signal.allCases.map { ($0, slot($0.row.key), $0.row.scale, $0.row.possible) }
        parameterSlot = MachineParameter.ofMachines.map { slot($0.row.key) }
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

    func isTrue(_ key: Common) -> Bool { flag(key) ?? false }

    func flag(_ key: Common) -> Bool? {
        let slot = unsafe slots[key.rawValue]
        return unsafe slot.kind == Int32(DROVER_JSON_BOOL) ? slot.integer == 1 : nil
    }

    /// The bytes of a string, or nil. They live as long as the scanned bytes and until the next scan.
    func bytes(_ key: Common) -> UnsafeRawBufferPointer? {
        let slot = unsafe slots[key.rawValue]
        guard unsafe slot.kind == Int32(DROVER_JSON_STRING) else { return nil }
        return unsafe UnsafeRawBufferPointer(start: slot.text, count: slot.length)
    }

    /// True when it is a string of these bytes.
    func isText(_ key: Common, _ wanted: UnsafeRawBufferPointer) -> Bool {
        guard let bytes = unsafe bytes(key), bytes.count == wanted.count else { return false }
        guard let start = bytes.baseAddress, let wantedStart = wanted.baseAddress else { return true }
        return unsafe memcmp(start, wantedStart, bytes.count) == 0
    }
    func isText(_ key: Common, _ wanted: StaticString) -> Bool {
        unsafe isText(key, UnsafeRawBufferPointer(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount))
    }

    /// Nil when it is absent, too long, or contains a NUL: no database accepts one in a text.
    func text(_ key: Common, bytesMax: Int) -> String? {
        guard let bytes = unsafe bytes(key), bytes.count <= bytesMax, unsafe !bytes.contains(0) else { return nil }
        return unsafe String(decoding: bytes, as: UTF8.self)
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
        let field = signals[Int(signal.rawValue)]
        return number(slot: field.slot, scale: field.scale)
    }
    func number(_ parameter: MachineParameter, decimals: Int) -> Number {
        number(slot: parameterSlot[Int(parameter.rawValue)], scale: Decimal.powerOfTen(decimals))
    }

    func number(_ key: Common, decimals: Int) -> Number {
        number(slot: key.rawValue, scale: Decimal.powerOfTen(decimals))
    }

    func number(slot index: Int, scale: Int64) -> Number {
        let slot = unsafe slots[index]
        switch unsafe Int(slot.kind) {
        case DROVER_JSON_ABSENT: return .absent
        case DROVER_JSON_BOOL: return unsafe scale == 1 ? .scaled(slot.integer) : .wrong
        case DROVER_JSON_INT:
            let (scaled, overflow) = unsafe slot.integer.multipliedReportingOverflow(by: scale)
            return overflow ? .wrong : .scaled(scaled)
        case DROVER_JSON_DOUBLE:
            guard let scaled = unsafe Decimal.scaled(slot.number, by: scale) else { return .wrong }
            return .scaled(scaled)
        default: return .wrong
        }
    }
}
