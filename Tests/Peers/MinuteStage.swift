internal import CSimdjson
internal import Codecs
internal import Kafka
internal import Pipeline
internal import Postgres
internal import Storage
internal import Worker

/// One partition of the vehicle-minute job: a row for each minute of a vehicle when a later one begins, an alert when
/// its coolant rises above the limit. The arithmetic is that of the other engines (`step` in common.py), in its order.
///
/// With a cycle's minutes goes the state of their vehicles after the record that closed the last; records before it are
/// skipped when they are read again. The records of a vehicle must be in the order of time: others are refused.
final class MinuteStage: Stage {
    static let minute = StagedTable(
        name: "minute", columns: ["vehicle", "minute", "n", "distance_m", "fuel_l", "braking", "max_coolant"],
        key: ["vehicle", "minute"])
    static let alert = StagedTable(name: "alert", columns: ["vehicle", "ts", "coolant"], key: ["vehicle", "ts"])
    static let state = StagedTable(
        name: "vehicle_state", columns: ["vehicle", "partition", "next_offset", "state"], key: ["vehicle"])
    static let tables = [minute, alert, state]

    private static let coolantMax = 110.0

    private let partition: TopicPartition
    /// What follows from records before it is in the database.
    private let storedOffset: Int64
    private let rejects: RejectBuffer
    private let scanner = MinuteScanner()
    private var keys = KeyIndex()
    private var vehicles: [Vehicle] = []
    /// The state after a vehicle's last closed minute, and which of them this cycle made.
    private var closed: [Vehicle] = []
    private var changed: [Int] = []
    private var (minutes, alerts) = (BinaryCopy.fragment, BinaryCopy.fragment)

    init(
        _ partition: TopicPartition, storedOffset: Int64, _ rejects: RejectBuffer, on connection: Connection
    ) throws {
        (self.partition, self.storedOffset, self.rejects) = (partition, storedOffset, rejects)
        for row in try connection.query(
            "SELECT vehicle, next_offset, state FROM vehicle_state WHERE partition = $1", [.int4(partition.partition)])
        {
            let number = unsafe Array(try row.text(0)!.utf8).withUnsafeBytes { unsafe keys.add($0) }
            precondition(number == vehicles.count)
            let vehicle = try Vehicle(packed: try row.bytes(2)!, skipBefore: Int64(try row.int(1)!))
            vehicles.append(vehicle)
            closed.append(vehicle)
        }
    }

    func process(_ batch: MessageBatch, _ messages: Range<Int>, _ counts: inout RecordCounts) -> Int {
        for index in messages {
            let offset = batch.offset(index)
            let result = unsafe batch.withBytes(index) { _, value in
                Result { () throws(DecodeError) in
                    guard let value = unsafe value else { throw .tombstone }
                    try unsafe process(value, offset)
                }
            }
            if case .failure(let error) = result { rejects.add(batch, index, error, &counts) }
        }
        return messages.count
    }

    @inline(__always)
    private func process(_ value: UnsafeRawBufferPointer, _ offset: Int64) throws(DecodeError) {
        let (key, reading) = try unsafe scanner.scan(value)
        guard let number = unsafe keys.find(key) else {
            guard key.count > 0, unsafe !key.contains(0) else { throw .vehicleInvalid }
            let number = unsafe keys.add(key)
            let vehicle = Vehicle(first: reading, offset: offset)
            vehicles.append(vehicle)
            closed.append(vehicle)
            if reading.coolant > MinuteStage.coolantMax { alert(number, reading, offset) }
            return
        }
        guard offset >= vehicles[number].skipBefore else { return }
        guard reading.ts > vehicles[number].ts else { throw .timeImpossible(reading.ts) }
        let minuteMs = reading.ts - reading.ts % 60_000
        let isClosing = minuteMs != vehicles[number].minuteMs
        if isClosing { close(number, minuteMs, reading.coolant) }
        if reading.coolant > MinuteStage.coolantMax, vehicles[number].coolant <= MinuteStage.coolantMax {
            alert(number, reading, offset)
        }
        vehicles[number].add(reading)
        if isClosing {
            if !vehicles[number].isChanged { changed.append(number) }
            vehicles[number].isChanged = true
            vehicles[number].firstOffset = .max
            closed[number] = vehicles[number]
            closed[number].skipBefore = offset + 1
        } else if vehicles[number].firstOffset == .max {
            vehicles[number].firstOffset = offset
        }
    }

    private func close(_ number: Int, _ minuteMs: Int64, _ coolant: Double) {
        let vehicle = vehicles[number]
        minutes.row(columns: 7)
        minutes.text(utf8: keys.key(number))
        minutes.timestampMs(vehicle.minuteMs)
        minutes.int8(vehicle.count)
        minutes.float8(vehicle.distanceM)
        minutes.float8(vehicle.fuelL)
        minutes.int8(vehicle.braking)
        minutes.float8(vehicle.coolantMax)
        vehicles[number].begin(minuteMs, coolant)
    }

    private func alert(_ number: Int, _ reading: MinuteReading, _ offset: Int64) {
        guard offset >= storedOffset else { return }
        alerts.row(columns: 3)
        alerts.text(utf8: keys.key(number))
        alerts.timestampMs(reading.ts)
        alerts.float8(reading.coolant)
    }

    func changes() -> StageChanges {
        var states = BinaryCopy.fragment
        for number in changed {
            vehicles[number].isChanged = false
            states.row(columns: 4)
            states.text(utf8: keys.key(number))
            states.int4(partition.partition)
            states.int8(closed[number].skipBefore)
            states.bytea(closed[number].packed)
        }
        changed.removeAll(keepingCapacity: true)
        var rows = StageChanges()
        rows.tables = [
            TableRows(MinuteStage.minute, minutes), TableRows(MinuteStage.alert, alerts),
            TableRows(MinuteStage.state, states),
        ].filter { $0.count > 0 }
        rows.count = minutes.rowCount + alerts.rowCount
        (minutes, alerts) = (.fragment, .fragment)
        return rows
    }

    var waitingRows: Int { changed.count }
    var needsHistory: Bool { false }
    func resolve(nextOffset: Int64, on connection: Connection) -> StageChanges { StageChanges() }

    var replayFrom: (offset: Int64, clockMs: Int64)? {
        let first = vehicles.reduce(Int64.max) { min($0, $1.firstOffset) }
        return first == .max ? nil : (first, 0)
    }
}

struct MinuteReading {
    var ts: Int64
    var speedKmh: Double
    var mafGps: Double
    var coolant: Double
}

/// A vehicle's open minute and its latest reading.
struct Vehicle {
    var ts: Int64
    var speedKmh: Double
    var mafGps: Double
    var coolant: Double
    var minuteMs: Int64
    var count: Int64 = 1
    var distanceM = 0.0
    var fuelL = 0.0
    var braking: Int64 = 0
    var coolantMax: Double
    /// Records before it are in the state that was stored.
    var skipBefore: Int64 = 0
    /// Offset of the first record after the last closed minute's; `.max` when there is none.
    var firstOffset = Int64.max
    /// It closed a minute in this cycle.
    var isChanged = false

    init(first reading: MinuteReading, offset: Int64) {
        (ts, speedKmh, mafGps, coolant) = (reading.ts, reading.speedKmh, reading.mafGps, reading.coolant)
        (minuteMs, coolantMax, firstOffset) = (reading.ts - reading.ts % 60_000, reading.coolant, offset)
    }

    mutating func begin(_ minuteMs: Int64, _ coolant: Double) {
        (self.minuteMs, count, distanceM, fuelL, braking, coolantMax) = (minuteMs, 0, 0, 0, 0, coolant)
    }

    @inline(__always)
    mutating func add(_ reading: MinuteReading) {
        let seconds = Double(reading.ts - ts) / 1000.0
        if 0 < seconds, seconds <= 10 {
            distanceM += (speedKmh + reading.speedKmh) / 7.2 * seconds
            fuelL += (mafGps + reading.mafGps) / 2 * seconds / (14.7 * 745.0)
            if (reading.speedKmh - speedKmh) / 3.6 / seconds < -3 { braking += 1 }
        }
        (ts, speedKmh, mafGps, coolant) = (reading.ts, reading.speedKmh, reading.mafGps, reading.coolant)
        count += 1
        if coolant > coolantMax { coolantMax = coolant }
    }

    // MARK: Packed: ten words, the lowest byte first

    init(packed bytes: [UInt8], skipBefore: Int64) throws(DecodeError) {
        guard bytes.count == 80 else { throw .packed("a vehicle's state of \(bytes.count) bytes") }
        func word(_ place: Int) -> UInt64 {
            (0..<8).reduce(0) { $0 | UInt64(bytes[place * 8 + $1]) << UInt64($1 * 8) }
        }
        func integer(_ place: Int) -> Int64 { Int64(bitPattern: word(place)) }
        func number(_ place: Int) -> Double { Double(bitPattern: word(place)) }
        (ts, speedKmh, mafGps, coolant) = (integer(0), number(1), number(2), number(3))
        (minuteMs, count, distanceM, fuelL) = (integer(4), integer(5), number(6), number(7))
        (braking, coolantMax) = (integer(8), number(9))
        self.skipBefore = skipBefore
    }

    var packed: [UInt8] {
        let words: [UInt64] = [
            UInt64(bitPattern: ts), speedKmh.bitPattern, mafGps.bitPattern, coolant.bitPattern,
            UInt64(bitPattern: minuteMs), UInt64(bitPattern: count), distanceM.bitPattern, fuelL.bitPattern,
            UInt64(bitPattern: braking), coolantMax.bitPattern,
        ]
        return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
    }
}

/// The job's five keys, read with the scanner that the product reads with.
@safe
final class MinuteScanner {
    private static let keys: [StaticString] = ["vehicle", "ts", "speed_kmh", "maf_gps", "coolant_c"]
    private let scanner: OpaquePointer
    private let slots: UnsafeMutablePointer<drover_json_slot>

    init() {
        let count = MinuteScanner.keys.count
        unsafe slots = UnsafeMutablePointer<drover_json_slot>.allocate(capacity: count)
        unsafe slots.initialize(repeating: drover_json_slot(), count: count)
        let texts = unsafe MinuteScanner.keys.map { key in
            unsafe Optional(UnsafeRawPointer(key.utf8Start).assumingMemoryBound(to: CChar.self))
        }
        guard let made = unsafe drover_json_new(texts, count, slots) else { preconditionFailure("out of memory") }
        unsafe scanner = unsafe made
    }

    deinit {
        unsafe drover_json_free(scanner)
        unsafe slots.deallocate()
    }

    /// The vehicle's bytes live as long as `value` and until the next scan.
    @inline(__always)
    func scan(_ value: UnsafeRawBufferPointer) throws(DecodeError) -> (UnsafeRawBufferPointer, MinuteReading) {
        guard let base = value.baseAddress else { throw .notJSON("empty") }
        if let problem = unsafe drover_json_scan(scanner, base.assumingMemoryBound(to: UInt8.self), value.count) {
            throw unsafe .notJSON(String(cString: problem))
        }
        guard unsafe slots[0].kind == Int32(DROVER_JSON_STRING) else { throw .keyMissing("vehicle") }
        guard unsafe slots[1].kind == Int32(DROVER_JSON_INT) else { throw .keyMissing("ts") }
        let reading = MinuteReading(
            ts: unsafe slots[1].integer, speedKmh: try number(2), mafGps: try number(3), coolant: try number(4))
        return unsafe (UnsafeRawBufferPointer(start: slots[0].text, count: slots[0].length), reading)
    }

    @inline(__always)
    private func number(_ place: Int) throws(DecodeError) -> Double {
        let slot = unsafe slots[place]
        if unsafe slot.kind == Int32(DROVER_JSON_DOUBLE) { return unsafe slot.number }
        guard unsafe slot.kind == Int32(DROVER_JSON_INT) else { throw .keyMissing("\(MinuteScanner.keys[place])") }
        return unsafe Double(slot.integer)
    }
}
