internal import Basics
internal import Codecs
internal import Crypto
package import Fleet

/// Uploads that an app makes of cars beside readings.
extension Upload {
    /// Which kinds of records an address takes, and how they are called on the wire.
    package enum Records: Sendable {
        /// A driver's marks and words on trips.
        case trips
        /// Findings of a phone about a car's health.
        case scans

        var names: String {
            switch self {
            case .trips: "trip_start, trip_stop, trip_discard, trip_tag or trip_summary"
            case .scans: "scan"
            }
        }

        func holds(_ kind: Action.Kind) -> Bool {
            switch kind {
            case .tripStart, .tripStop, .tripDiscard, .tripTag, .tripSummary: self == .trips
            case .scan: self == .scans
            case .registration, .service, .acknowledgement, .silence, .triage, .pollRequest, .pollAnswer, .driving,
                .assignment,
                .settings, .scanRequest, .support, .weather:
                false
            }
        }
    }

    /// Records of these kinds, said by `account`: they are written anew, so that nobody speaks for another.
    package init(
        _ body: [UInt8], _ kinds: Records, _ form: Form, account: String, nowMs: Int64
    ) throws(Fault) {
        self.init(topic: Topic.cars)
        let decoder = RecordDecoder()
        for item in try Upload.split(body, form) {
            decode(nowMs: nowMs) { () throws(Refusal) in
                let record: Record
                let bytes = try Upload.bytes(item)
                do throws(DecodeError) {
                    record = try decoder.decode(upload: bytes, by: account)
                } catch {
                    throw Refusal(error)
                }
                guard case .action(let action) = record, kinds.holds(action.kind), let vehicle = action.vehicle else {
                    throw Refusal("`kind` must be \(kinds.names)")
                }
                return (
                    vehicle, action.ts, action.aboutMs,
                    Item(key: Array(vehicle.text.utf8), value: RecordWriter.action(action))
                )
            }
        }
    }

    /// An action of somebody on a machine.
    /// Throws when the worker would refuse it.
    package init(ofMachine action: Action) throws(Fault) { try self.init(action, isMachine: true) }

    /// An action of somebody on a car or its trips.
    /// Throws when the worker would refuse it.
    package init(ofCar action: Action) throws(Fault) { try self.init(action, isMachine: false) }

    private init(_ action: Action, isMachine: Bool) throws(Fault) {
        self.init(topic: isMachine ? Topic.machines : Topic.cars)
        let value = RecordWriter.action(action)
        do { _ = try RecordDecoder().decode(line: value, isMachine: isMachine) } catch {
            throw .body("\(error)")
        }
        guard let vehicle = action.vehicle else { throw .body("it is of no vehicle") }
        items = [Item(key: Array(vehicle.text.utf8), value: value)]
        reasons = [nil]
    }

    /// An account's settings, for every partition.
    ///
    /// - Parameter name: who says it; nil: the account itself.
    package init(settings: String, account: String, by name: String? = nil, nowMs: Int64) {
        self.init(topic: Topic.cars)
        let action = Action(
            id: "s-" + Hex.text(Secrets.random(16)), vehicle: nil, ts: nowMs, by: name ?? account, note: nil,
            kind: .settings(account: account, text: settings))
        items = [Item(key: [], value: RecordWriter.action(action), isEverywhere: true)]
        reasons = [nil]
    }

    /// A phone's clock may be ahead by so much.
    private static let drivenAheadMsMax: Int64 = 600_000

    /// Says that `account` drove each of the upload's cars while its readings were read: up to now. Who would say it of
    /// tomorrow would be the driver of whoever takes the car then. The record's id follows from the readings, so that a repeat of
    /// the upload repeats it. They go first: whose limits count is known with the readings.
    package mutating func add(drivenBy account: String, nowMs: Int64) {
        var read: [[UInt8]: [UInt8]] = [:]
        for item in items { read[item.key, default: []] += Secrets.digest(item.value) }
        let driven = spans.sorted { $0.key < $1.key }.compactMap { vehicle, span -> Item? in
            let untilMs = min(span.upperBound, nowMs + Upload.drivenAheadMsMax)
            guard span.lowerBound <= untilMs else { return nil }
            let key = Array(vehicle.text.utf8)
            let cut = untilMs < span.upperBound ? " \(untilMs)" : ""
            let digest = Secrets.digest(Array("\(account) \(vehicle.text)\(cut) ".utf8) + (read[key] ?? []))
            let action = Action(
                id: "d-" + Hex.text(digest.prefix(16)), vehicle: vehicle, ts: untilMs, by: account, note: nil,
                kind: .driving(fromMs: span.lowerBound))
            return Item(key: key, value: RecordWriter.action(action))
        }
        items = driven + items
    }
}
