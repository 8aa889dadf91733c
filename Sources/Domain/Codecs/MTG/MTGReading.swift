public import Fleet

/// A box's (MTG) reading: a structure of fixed offsets that grows at its end from firmware to firmware. Fields beyond a shorter one are
/// absent; bytes beyond the known fields are ignored. See docs/mtg-wire.md.
public struct MTGReading: Equatable, Sendable {
    /// Rises by one with each reading of this box, from 1 on.
    public var sequence: Int64
    /// Epoch milliseconds; whether it can be true is for the worker to judge, so that a refused reading is on record.
    public var ts: Int64
    public var serial: String?
    public var model: String?
    public var firmware: String?
    /// The machine's name by the box itself; the registration decides which vehicle it is.
    public var machineID: String?
    public var isEngineRunning: Bool?
    public var values: [MachineParameter: Int64] = [:]
    public var latitude: Int32?
    public var longitude: Int32?
    public var connectedDevices: [String]?
    /// Fields that were there but not of a possible value.
    public private(set) var droppedFields = 0

    /// Today's structure; older firmware sends less of it, newer may send more.
    public static let structureBytes = 288
    /// Sequence number, time and serial number: without them a reading cannot be kept.
    public static let structureBytesMin = 32
    static let devicesMax = 8

    public init(sequence: Int64, ts: Int64) { (self.sequence, self.ts) = (sequence, ts) }
}

/// A place in the structure.
private enum Place {
    static let sequence = 0
    static let ts = 8
    static let serial = 16..<32
    static let model = 32..<56
    static let firmware = 56..<72
    static let machineID = 72..<88
    static let engineRunning = 88
    static let latitude = 124
    static let longitude = 128
    static let devices = 160..<288
    static let deviceBytes = 16

    /// Parameters, at the width of their kind: a flag 1 byte, a time 8, everything else 4.
    static let parameters: [(at: Int, MachineParameter)] = [
        (89, .gpsAvailable), (90, .rdaLicense), (91, .wdtLicense), (92, .machineSync), (93, .lastReprogrammingStatus),
        // 94 and 95 are zero.
        (96, .engineHours), (100, .engineTurnOnCount), (104, .keyTurnOnCount), (108, .fuelLevel),
        (112, .coolantTemperature), (116, .hydraulicOilTemperature), (120, .tirePressure),
        (132, .connectedDevices), (136, .gpsFixTime), (144, .lastCellCallIn), (152, .lastReprogrammingTime),
    ]
}

/// The encoding of "not known": the flag 0xFF, and the smallest number of the width.
private let flagUnknown: UInt8 = 0xFF

extension MTGReading {
    public init(_ bytes: ArraySlice<UInt8>) throws(MTGError) {
        guard bytes.count >= MTGReading.structureBytesMin else {
            throw .tooShort(bytes: bytes.count, least: MTGReading.structureBytesMin)
        }
        let sequence = bytes.littleEndian(Int64.self, at: Place.sequence)!
        guard sequence > 0 else { throw .sequenceImpossible }
        self.init(sequence: sequence, ts: bytes.littleEndian(Int64.self, at: Place.ts)!)
        serial = MTGReading.text(bytes, Place.serial)
        model = MTGReading.text(bytes, Place.model)
        firmware = MTGReading.text(bytes, Place.firmware)
        machineID = MTGReading.text(bytes, Place.machineID)
        decodeNumbers(bytes)
        let names = stride(from: Place.devices.lowerBound, to: Place.devices.upperBound, by: Place.deviceBytes)
        let whole = names.filter { $0 + Place.deviceBytes <= bytes.count }
        if !whole.isEmpty {
            connectedDevices = whole.compactMap { MTGReading.text(bytes, $0..<$0 + Place.deviceBytes) }
        }
    }

    private mutating func decodeNumbers(_ bytes: ArraySlice<UInt8>) {
        isEngineRunning = flag(bytes, Place.engineRunning).map { $0 == 1 }
        for (at, parameter) in Place.parameters {
            let row = parameter.row
            let value: Int64? =
                switch row.kind {
                case .flag: flag(bytes, at)
                case .time: bytes.littleEndian(Int64.self, at: at).flatMap { $0 == .min ? nil : $0 }
                case .number, .count: number(bytes, at).map(Int64.init)
                }
            guard let value else { continue }
            if row.isPossible(value) { values[parameter] = value } else { droppedFields += 1 }
        }
        latitude = position(.latitude, bytes, Place.latitude)
        longitude = position(.longitude, bytes, Place.longitude)
    }

    private mutating func flag(_ bytes: ArraySlice<UInt8>, _ at: Int) -> Int64? {
        guard let byte = bytes.littleEndian(UInt8.self, at: at), byte != flagUnknown else { return nil }
        guard byte <= 1 else {
            droppedFields += 1
            return nil
        }
        return Int64(byte)
    }

    private func number(_ bytes: ArraySlice<UInt8>, _ at: Int) -> Int32? {
        bytes.littleEndian(Int32.self, at: at).flatMap { $0 == .min ? nil : $0 }
    }

    private mutating func position(_ signal: Signal, _ bytes: ArraySlice<UInt8>, _ at: Int) -> Int32? {
        guard let value = number(bytes, at) else { return nil }
        guard let stored = signal.row.stored(Int64(value)) else {
            droppedFields += 1
            return nil
        }
        return stored
    }

    /// Text up to the first zero; nil when it is empty, no UTF-8, or not all there.
    private static func text(_ bytes: ArraySlice<UInt8>, _ place: Range<Int>) -> String? {
        guard place.upperBound <= bytes.count else { return nil }
        let start = bytes.startIndex
        let text = bytes[start + place.lowerBound..<start + place.upperBound].prefix { $0 != 0 }
        return text.isEmpty ? nil : String(validating: text, as: UTF8.self)
    }

    /// The structure, cut or filled with zeros to the size that a firmware version has.
    public func encoded(byteCount: Int = MTGReading.structureBytes) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(byteCount, MTGReading.structureBytes))
        func put(_ value: some FixedWidthInteger, _ at: Int) {
            var field: [UInt8] = []
            field.append(littleEndian: value)
            bytes.replaceSubrange(at..<at + field.count, with: field)
        }
        func put(_ text: String?, _ place: Range<Int>) {
            bytes.replaceSubrange(place, with: MTGReading.padded(text, place.count))
        }
        put(sequence, Place.sequence)
        put(ts, Place.ts)
        put(serial, Place.serial)
        put(model, Place.model)
        put(firmware, Place.firmware)
        put(machineID, Place.machineID)
        put(isEngineRunning.map { $0 ? 1 : 0 } ?? flagUnknown, Place.engineRunning)
        for (at, parameter) in Place.parameters {
            let value = values[parameter]
            switch parameter.row.kind {
            case .flag: put(value.map { UInt8($0) } ?? flagUnknown, at)
            case .time: put(value ?? .min, at)
            case .number, .count: put(value.map { Int32($0) } ?? .min, at)
            }
        }
        put(latitude ?? .min, Place.latitude)
        put(longitude ?? .min, Place.longitude)
        for (index, name) in (connectedDevices ?? []).prefix(MTGReading.devicesMax).enumerated() {
            let at = Place.devices.lowerBound + index * Place.deviceBytes
            put(name, at..<at + Place.deviceBytes)
        }
        return Array(bytes.prefix(byteCount))
    }

    /// Cut between characters, so that what was text stays text.
    private static func padded(_ text: String?, _ width: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in text ?? "" {
            guard bytes.count + character.utf8.count <= width else { break }
            bytes += Array(character.utf8)
        }
        return bytes + [UInt8](repeating: 0, count: width - bytes.count)
    }
}

extension MTGReading {
    /// The same for a repeat of the reading, whoever fetched it.
    public func id(vehicle: VehicleID) -> String {
        let box = serial.flatMap { VehicleID(sanitizing: $0) } ?? vehicle
        return "\(box.text.prefix(40))-\(sequence)"
    }

    /// The reading of a box that is polled.
    /// - Parameter model: of the registration, which overrides the box's own word.
    public func machineReading(vehicle: VehicleID, model registered: String?) -> MachineReading {
        var reading = MachineReading(
            vehicle: vehicle, ts: ts, id: id(vehicle: vehicle), model: registered ?? model ?? "unknown")
        reading.serial = serial
        reading.firmware = firmware
        reading.machineID = machineID
        reading.values = values
        reading.latitude = latitude
        reading.longitude = longitude
        reading.connectedDevices = connectedDevices
        reading.isReporting = isEngineRunning == true
        return reading
    }
}
