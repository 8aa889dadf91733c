internal import Codecs
package import Fleet
internal import Formats

/// A batch of readings, or of what else an app hands in, each item looked at by itself.
package struct Upload: Sendable {
    /// Which readings an upload may hold.
    package enum Kind: String, Sendable, CaseIterable {
        case machines, cars
        var topic: String { self == .machines ? Topic.machines : Topic.cars }
    }
    package enum Form: Sendable { case json, lines }

    /// The body as a whole is no batch.
    package enum Fault: Error, CustomStringConvertible {
        case body(String)
        package var description: String {
            switch self {
            case .body(let why): why
            }
        }
    }

    /// A record that goes to the topic.
    struct Item: Sendable {
        let key: [UInt8]
        let value: [UInt8]
        /// It is of no one vehicle, and goes into each partition.
        var isEverywhere = false
    }

    static let readingsMax = 1_000
    static let readingBytesMax = 16 << 10

    let topic: String
    var items: [Item] = []
    /// The reason why each item of the body, in order, is not taken; nil: it is.
    package internal(set) var reasons: [String?] = []
    /// The vehicles that the accepted readings are of, and the times that these span.
    private(set) var spans: [VehicleID: ClosedRange<Int64>] = [:]
    /// The vehicle and time of each accepted item beside readings.
    private var said: [(vehicle: VehicleID, span: ClosedRange<Int64>)] = []

    /// Vehicles and times that the sender must be allowed to write about; each vehicle is named once.
    package var about: [(vehicle: VehicleID, span: ClosedRange<Int64>)] {
        let said = said.filter { $0.span != spans[$0.vehicle] }
        let each = Dictionary(grouping: said, by: \.vehicle).mapValues { Set($0.map(\.span)) }
        return spans.sorted { $0.key < $1.key }.map { (vehicle: $0.key, span: $0.value) }
            + each.sorted { $0.key < $1.key }.flatMap { vehicle, said in
                said.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
                    .map { (vehicle: vehicle, span: $0) }
            }
    }

    package var isOfCars: Bool { topic == Topic.cars }

    init(topic: String) { self.topic = topic }

    /// Readings, which go to the topic byte for byte as they came. Checks every item with the worker's own decoder: what
    /// is accepted here is not rejected there.
    /// - Parameter nowMs: no reading may be further ahead of it than a day.
    package init(_ body: [UInt8], _ kind: Kind, _ form: Form, nowMs: Int64) throws(Fault) {
        self.init(topic: kind.topic)
        let decoder = RecordDecoder()
        for item in try Upload.split(body, form) {
            decode(nowMs: nowMs) { () throws(Refusal) in
                let (vehicle, ts) = try Upload.reading(item, kind, decoder)
                return (vehicle, ts, nil, Item(key: Array(vehicle.text.utf8), value: Array(item)))
            }
        }
    }

    /// Records of one topic in their order, made here. Checked with the worker's own decoder: what is on the log it takes.
    init<Record>(
        topic: String, _ records: [Record], key: (Record) -> String, encode: (Record) -> [UInt8],
        decode: TickOrRecord<Record>.Decode
    ) throws(Fault) {
        self.init(topic: topic)
        for record in records {
            items.append(try unsafe Upload.item(key(record), encode(record), decode))
            reasons.append(nil)
        }
    }

    static func item<Record>(_ key: String, _ value: [UInt8], _ decode: TickOrRecord<Record>.Decode) throws(Fault)
        -> Item
    {
        let key = Array(key.utf8)
        do throws(DecodeError) { _ = try unsafe TickOrRecord(value, key: key, decode) } catch {
            throw .body("\(error)")
        }
        return Item(key: key, value: value)
    }

    /// Counts one item of the body, accepted or not.
    /// - Parameter read: `about` are the times of what is no reading.
    mutating func decode(
        nowMs: Int64, _ read: () throws(Refusal) -> (VehicleID, ts: Int64, about: ClosedRange<Int64>?, Item)
    ) {
        do throws(Refusal) {
            let (vehicle, ts, about, item) = try read()
            let aheadMs = ts - nowMs
            if aheadMs > DecodeError.aheadMsMax { throw Refusal(.timeAhead(ms: aheadMs)) }
            items.append(item)
            reasons.append(nil)
            if let about { return said.append((vehicle: vehicle, span: about)) }
            let span = spans[vehicle] ?? ts...ts
            spans[vehicle] = min(span.lowerBound, ts)...max(span.upperBound, ts)
        } catch {
            reasons.append(error.reason)
        }
    }

    static func split(_ body: [UInt8], _ form: Form) throws(Fault) -> [ArraySlice<UInt8>] {
        do throws(JSONItems.Fault) {
            return switch form {
            case .json: try JSONItems.split(body, most: readingsMax)
            case .lines: try JSONItems.lines(body, most: readingsMax)
            }
        } catch {
            throw .body("\(error)")
        }
    }

    struct Refusal: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
        init(_ error: DecodeError) { reason = "\(error)" }
    }

    static func bytes(_ item: ArraySlice<UInt8>) throws(Refusal) -> [UInt8] {
        guard item.count <= readingBytesMax else { throw Refusal(.tooLarge(bytes: item.count, most: readingBytesMax)) }
        return Array(item)
    }

    /// The vehicle whose reading it is, and its time.
    private static func reading(
        _ item: ArraySlice<UInt8>, _ kind: Kind, _ decoder: RecordDecoder
    ) throws(Refusal) -> (VehicleID, ts: Int64) {
        let bytes = try self.bytes(item)
        let record: Record
        do throws(DecodeError) {
            record = try decoder.decode(line: bytes, isMachine: kind == .machines)
        } catch {
            throw Refusal(error)
        }
        switch record {
        case .machine(let reading, _):
            // Silence is judged by it. Only who polls a machine can say that it will go on reporting.
            guard !reading.isReporting, reading.values[.contact] == nil else {
                throw Refusal("`reporting` and `contact` are for gateways that poll: leave them out")
            }
            return (reading.vehicle, reading.ts)
        case .car(let car, let reading, _): return (car, reading.ts)
        // Time, rules and what people say concern others, too: they do not come from devices.
        case .tick, .rules, .tripRules, .action: throw Refusal("`kind` must be reading")
        }
    }
}
