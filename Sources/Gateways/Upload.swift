internal import Fleet
internal import Wire

/// A batch of readings as an app hands it in, each item looked at by itself.
public struct Upload: Sendable {
    /// What an upload may hold.
    public enum Kind: String, Sendable, CaseIterable {
        case machines, cars
        var topic: String { self == .machines ? Topic.machines : Topic.cars }
    }
    public enum Form: Sendable { case json, lines }

    /// The body as a whole is no batch.
    public enum Fault: Error, CustomStringConvertible {
        case body(String)
        public var description: String {
            switch self {
            case .body(let why): why
            }
        }
    }

    static let readingsMax = 1_000
    static let readingBytesMax = 16 << 10

    let topic: String
    /// What goes to the topic, byte for byte as it came.
    private(set) var records: [(key: [UInt8], value: [UInt8])] = []
    /// Of each item in order, why it is not taken; nil: it is.
    public private(set) var reasons: [String?] = []

    /// Checks every item with the worker's own decoder: what is accepted here is not rejected there.
    /// - Parameter nowMs: no reading may be further ahead of it than a day.
    public init(_ body: [UInt8], _ kind: Kind, _ form: Form, nowMs: Int64) throws(Fault) {
        topic = kind.topic
        let (decoder, items) = (RecordDecoder(), try Upload.items(body, form))
        for item in items {
            do throws(Refusal) {
                records.append((Array(try Upload.key(item, kind, decoder, nowMs).text.utf8), Array(item)))
                reasons.append(nil)
            } catch {
                reasons.append(error.reason)
            }
        }
    }

    private static func items(_ body: [UInt8], _ form: Form) throws(Fault) -> [ArraySlice<UInt8>] {
        do throws(JSONItems.Fault) {
            return switch form {
            case .json: try JSONItems.split(body, most: readingsMax)
            case .lines: try JSONItems.lines(body, most: readingsMax)
            }
        } catch {
            throw .body("\(error)")
        }
    }

    private struct Refusal: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
        init(_ error: DecodeError) { reason = "\(error)" }
    }

    /// The vehicle whose reading it is.
    private static func key(
        _ item: ArraySlice<UInt8>, _ kind: Kind, _ decoder: RecordDecoder, _ nowMs: Int64
    ) throws(Refusal) -> VehicleID {
        guard item.count <= readingBytesMax else { throw Refusal(.tooLarge(bytes: item.count, most: readingBytesMax)) }
        let record: Record
        do throws(DecodeError) {
            record = try decoder.decode(line: Array(item), isMachine: kind == .machines)
        } catch {
            throw Refusal(error)
        }
        let (vehicle, ts): (VehicleID, Int64)
        switch record {
        case .machine(let reading, _):
            (vehicle, ts) = (reading.vehicle, reading.ts)
            // Silence is judged by it. Only who polls a machine can say that it will go on reporting.
            guard !reading.isReporting, reading.values[.contact] == nil else {
                throw Refusal("`reporting` and `contact` are for gateways that poll: leave them out")
            }
        case .car(let car, let reading, _): (vehicle, ts) = (car, reading.ts)
        // Time, rules and what people say concern others, too: they do not come from devices.
        case .tick, .rules, .action: throw Refusal("`kind` must be reading")
        }
        if ts - nowMs > DecodeError.aheadMsMax { throw Refusal(.timeAhead(ms: ts - nowMs)) }
        return vehicle
    }
}
