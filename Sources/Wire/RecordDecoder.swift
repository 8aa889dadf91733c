public import Fleet

/// What a record on a topic says.
public enum Record: Equatable, Sendable {
    case car(VehicleID, CarReading, droppedFields: Int)
    case machine(MachineReading, droppedFields: Int)
    /// Time reaches the workers as ticks, epoch milliseconds.
    case tick(Int64)
}

/// Decodes topic records. Holds buffers that are reused, so one decoder serves one lane.
public final class RecordDecoder {
    private let scanner = JSONScanner()
    /// Keys repeat: a vehicle's id is made into a String once.
    private var known: [[UInt8]: VehicleID] = [:]
    private static let knownMax = 100_000

    public init() {}

    /// `key` is the record's Kafka key; a reading's must be its vehicle, or it would be in a stranger's partition.
    /// Nil: there is no key to compare with.
    public func decode(
        _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer?, isMachine: Bool
    ) throws(DecodeError) -> Record {
        try unsafe scanner.scan(value)
        guard let schema = scanner.integer(.schema) else { throw .keyMissing("schema") }
        guard schema == 1 else { throw .schemaUnknown(schema) }
        guard let ts = scanner.integer(.ts) else { throw .keyMissing("ts") }
        guard UTC.plausible.contains(ts) else { throw .timeImpossible(ts) }
        switch unsafe scanner.withText(.kind, { unsafe String(decoding: $0, as: UTF8.self) }) {
        case "tick": return .tick(ts)
        case "reading": break
        case nil: throw .keyMissing("kind")
        default: throw .kindUnknown
        }
        let vehicle = try vehicle()
        if let key = unsafe key, unsafe !vehicle.text.utf8.elementsEqual(key) { throw .keyDiffers }
        return isMachine ? try machine(vehicle, ts) : car(vehicle, ts)
    }

    private func vehicle() throws(DecodeError) -> VehicleID {
        guard let bytes = unsafe scanner.withText(.vehicle, { unsafe Array($0) }) else { throw .keyMissing("vehicle") }
        if let vehicle = known[bytes] { return vehicle }
        guard let vehicle = VehicleID(String(decoding: bytes, as: UTF8.self)) else { throw .vehicleInvalid }
        if known.count >= RecordDecoder.knownMax { known.removeAll(keepingCapacity: true) }
        known[bytes] = vehicle
        return vehicle
    }

    private func car(_ vehicle: VehicleID, _ ts: Int64) -> Record {
        var reading = CarReading(ts: ts)
        var dropped = 0
        for signal in Signal.allCases {
            switch scanner.number(signal) {
            case .absent: continue
            case .wrong: dropped += 1
            case .scaled(let scaled):
                if let stored = signal.row.stored(scaled) { reading[signal] = stored } else { dropped += 1 }
            }
        }
        return .car(vehicle, reading, droppedFields: dropped)
    }

    private func machine(_ vehicle: VehicleID, _ ts: Int64) throws(DecodeError) -> Record {
        guard let id = scanner.text(.id, bytesMax: 64), VehicleID.isValid(id.utf8) else { throw .keyMissing("id") }
        guard let model = scanner.text(.model, bytesMax: 64), !model.isEmpty else { throw .keyMissing("model") }
        var reading = MachineReading(vehicle: vehicle, ts: ts, id: id, model: model)
        reading.serial = scanner.text(.serial, bytesMax: 64)
        reading.firmware = scanner.text(.firmware, bytesMax: 64)
        reading.connectedDevices = scanner.strings(.connectedDeviceNames, bytesMax: 64)
        var dropped = 0
        for parameter in MachineParameter.allCases {
            switch scanner.number(parameter, decimals: parameter.row.kind == .number ? 3 : 0) {
            case .absent: continue
            case .wrong: dropped += 1
            case .scaled(let value):
                if parameter.row.isPossible(value) { reading.values[parameter] = value } else { dropped += 1 }
            }
        }
        (reading.latitude, reading.longitude) = (position(.latitude, &dropped), position(.longitude, &dropped))
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
}
