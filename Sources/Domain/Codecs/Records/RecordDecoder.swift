internal import Basics
public import Fleet

/// The content of a record on a topic.
public enum Record: Equatable, Sendable {
    case car(VehicleID, CarReading, droppedFields: Int)
    case machine(MachineReading, droppedFields: Int)
    /// Time reaches the workers as ticks.
    case tick(Tick)
    /// Thresholds in force from a time on, epoch milliseconds; the text is decoded by `Alerts`.
    case rules(fromMs: Int64, version: String, text: String)
    /// Limits of trips that begin from a time on, epoch milliseconds; which are possible `Trips` knows.
    case tripRules(fromMs: Int64, TripLimits)
    case action(Action)
}

/// The content of a record on the cars' topic when the reading itself is written to the caller's memory.
public enum CarRecord: Equatable, Sendable {
    case reading(droppedFields: Int)
    /// At this time, epoch milliseconds; `RecordDecoder.tick` has the rest.
    case tick(Int64)
    /// A kind that only the general `decode` knows, or refuses.
    case other
}

/// Decodes topic records. Holds buffers that are reused, so one decoder serves one lane.
public final class RecordDecoder {
    let scanner = JSONScanner()
    /// Keys repeat: a vehicle's id is made into a String once.
    private var known: [[UInt8]: VehicleID] = [:]
    private static let knownMax = 100_000

    public init() {}

    /// `key` is the record's Kafka key; a reading's must be its vehicle, or it would be in a stranger's partition.
    /// Nil: there is no key to compare with.
    public func decode(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer?, isMachine: Bool
    ) throws(DecodeError) -> Record {
        let (kind, ts) = try unsafe head(value)
        switch kind {
        case .tick: return .tick(try tick(ts))
        case .reading: break
        case .other:
            if scanner.isText(.kind, "clock_set") { return .tick(Tick(ts, isSetBack: true)) }
            if scanner.isText(.kind, "rules") { return try rules(ts) }
            if scanner.isText(.kind, "trip_rules") {
                return .tripRules(fromMs: ts, try unsafe TripLimits(record: value))
            }
            return .action(try unsafe action(ts, key: key, isMachine: isMachine))
        }
        let vehicle = try vehicle()
        if let key = unsafe key, unsafe !scanner.isText(.vehicle, key) { throw .keyDiffers }
        guard !isMachine else { return try machine(vehicle, ts) }
        var reading = CarReading(ts: ts)
        let dropped = decodeSignals(into: &reading)
        return .car(vehicle, reading, droppedFields: dropped)
    }

    /// Like `decode` for a car's record, but without a `VehicleID` and without allocation. A reading's vehicle is the key, byte for byte;
    /// the key is not checked to be an id: the caller makes a `VehicleID` when it first meets it. `reading` is replaced when the result is
    /// `.reading`, else left alone.
    public func decodeCar(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, into reading: inout CarReading
    ) throws(DecodeError) -> CarRecord {
        let (kind, ts) = try unsafe head(value)
        switch kind {
        case .tick: return .tick(ts)
        case .reading: break
        case .other: return .other
        }
        guard unsafe scanner.isText(.vehicle, key) else {
            _ = try vehicle()
            throw .keyDiffers
        }
        reading = CarReading(ts: ts)
        return .reading(droppedFields: decodeSignals(into: &reading))
    }

    /// The time of a record that says whose a car is or who is to drive it, as far as its first look tells; nil: it is another one.
    public func givenMs(_ value: UnsafeRawBufferPointer) -> Int64? {
        guard case (.other, let ts)? = unsafe try? head(value),
            scanner.isText(.kind, "registration") || scanner.isText(.kind, "assignment")
        else { return nil }
        return ts
    }

    /// The tick that `decodeCar` found.
    public func tick(_ ts: Int64) throws(DecodeError) -> Tick {
        guard unsafe scanner.bytes(.by) != nil else { return Tick(ts) }
        guard let by = scanner.text(.by, bytesMax: 64) else { throw .keyMissing("by") }
        return Tick(ts, by: try Tick.checked(by))
    }

    private enum Kind { case reading, tick, other }

    /// Scans the record and checks what all kinds have.
    private func head(_ value: UnsafeRawBufferPointer) throws(DecodeError) -> (Kind, ts: Int64) {
        try unsafe scanner.scan(value)
        guard let schema = scanner.integer(.schema) else { throw .keyMissing("schema") }
        guard schema == 1 else { throw .schemaUnknown(schema) }
        guard let ts = scanner.integer(.ts) else { throw .keyMissing("ts") }
        guard UTC.plausible.contains(ts) else { throw .timeImpossible(ts) }
        if scanner.isText(.kind, "reading") { return (.reading, ts) }
        if scanner.isText(.kind, "tick") { return (.tick, ts) }
        guard unsafe scanner.bytes(.kind) != nil else { throw .keyMissing("kind") }
        return (.other, ts)
    }

    func vehicle() throws(DecodeError) -> VehicleID {
        guard let bytes = unsafe scanner.bytes(.vehicle).map({ unsafe Array($0) }) else { throw .keyMissing("vehicle") }
        if let vehicle = known[bytes] { return vehicle }
        guard let vehicle = VehicleID(String(decoding: bytes, as: UTF8.self)) else { throw .vehicleInvalid }
        if known.count >= RecordDecoder.knownMax { known.removeAll(keepingCapacity: true) }
        known[bytes] = vehicle
        return vehicle
    }

    private func rules(_ ts: Int64) throws(DecodeError) -> Record {
        guard let version = scanner.text(.version, bytesMax: 64) else { throw .keyMissing("version") }
        guard let text = scanner.text(.rules, bytesMax: JSONScanner.recordBytesMax) else { throw .keyMissing("rules") }
        return .rules(fromMs: ts, version: version, text: text)
    }

    /// How many signals were there but not of a possible value.
    private func decodeSignals(into reading: inout CarReading) -> Int {
        var dropped = 0
        for index in scanner.signals.indices {
            let field = scanner.signals[index]
            switch scanner.number(slot: field.slot, scale: field.scale) {
            case .absent: continue
            case .wrong: dropped += 1
            case .scaled(let scaled):
                guard let stored = field.possible.stored(scaled) else {
                    dropped += 1
                    continue
                }
                reading.setValue(stored, inSlot: Int(field.signal.rawValue))
            }
        }
        return dropped
    }

    private func machine(_ vehicle: VehicleID, _ ts: Int64) throws(DecodeError) -> Record {
        guard let id = scanner.text(.id, bytesMax: 64), VehicleID.isValid(id.utf8) else { throw .keyMissing("id") }
        guard let model = scanner.text(.model, bytesMax: 64), !model.isEmpty else { throw .keyMissing("model") }
        var reading = MachineReading(vehicle: vehicle, ts: ts, id: id, model: model)
        reading.serial = scanner.text(.serial, bytesMax: 64)
        reading.firmware = scanner.text(.firmware, bytesMax: 64)
        reading.machineID = scanner.text(.machineID, bytesMax: 64)
        reading.connectedDevices = scanner.strings(.connectedDeviceNames, bytesMax: 64)
        var dropped = 0
        for parameter in MachineParameter.ofMachines {
            switch scanner.number(parameter, decimals: parameter.row.kind == .number ? 3 : 0) {
            case .absent: continue
            case .wrong: dropped += 1
            case .scaled(let value):
                if parameter.row.isPossible(value) { reading.values[parameter] = value } else { dropped += 1 }
            }
        }
        reading.isReporting = scanner.isTrue(.reporting)
        reading.isPartial = scanner.isTrue(.partial)
        reading.latitude = position(.latitude, &dropped)
        reading.longitude = position(.longitude, &dropped)
        return .machine(reading, droppedFields: dropped)
    }

    private func position(_ signal: Signal, _ dropped: inout Int) -> Int32? {
        switch scanner.number(signal) {
        case .absent: return nil
        case .wrong: break
        case .scaled(let value): if let stored = signal.row.stored(value) { return stored }
        }
        dropped += 1
        return nil
    }
}

extension RecordDecoder {
    /// One line of a file, whose key is whatever vehicle it names.
    public func decode(line: [UInt8], isMachine: Bool) throws(DecodeError) -> Record {
        let result = unsafe line.withUnsafeBytes { bytes in
            Result { () throws(DecodeError) in try unsafe decode(bytes, key: nil, isMachine: isMachine) }
        }
        return try result.get()
    }

    /// One record for the cars' topic as an app uploads it; `account` becomes its author.
    public func decode(upload line: [UInt8], by account: String) throws(DecodeError) -> Record {
        let result = unsafe line.withUnsafeBytes { bytes in
            Result { () throws(DecodeError) -> Record in
                guard case (.other, let ts) = try unsafe head(bytes) else {
                    return try unsafe decode(bytes, key: nil, isMachine: false)
                }
                return .action(try unsafe action(ts, key: nil, isMachine: false, uploader: account))
            }
        }
        return try result.get()
    }
}
