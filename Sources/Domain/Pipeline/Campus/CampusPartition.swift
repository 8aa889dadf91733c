public import Codecs
public import Fleet
internal import Routing

/// The campuses of one partition: records in, rows and decisions out, in the order of the log.
///
/// A decision is a fact: once it stands on the log, it is taken from there and nothing is decided anew. So records up to the
/// end that the log had when the partition was taken over wait for their decisions; behind it nobody has decided yet.
public struct CampusPartition: Sendable {
    /// Changes that a cycle writes, as absolute values; one row a key.
    public struct Changes: Sendable {
        public var dispatchers: [String: CampusDispatcher] = [:]
        public var rides: [RideKey: RideRow] = [:]
        public var vehicles: [RideKey: RideVehicleRow] = [:]
        public var profiles: [RideKey: RideRecord.Person] = [:]
        public var decisions: [DecisionRow] = []
        /// Rides whose state, vehicle or place in line is another one, with the offset of the record that did it.
        public var told: [(key: RideKey, ride: RideRow, offset: Int64)] = []
        public var isEmpty: Bool {
            dispatchers.isEmpty && rides.isEmpty && vehicles.isEmpty && profiles.isEmpty && decisions.isEmpty
        }
        public init() {}
    }

    /// A request or a vehicle of a campus.
    public struct RideKey: Hashable, Sendable, Comparable {
        public let campus: String
        public let id: String
        public init(_ campus: String, _ id: String) { (self.campus, self.id) = (campus, id) }
        public static func < (a: RideKey, b: RideKey) -> Bool { (a.campus, a.id) < (b.campus, b.id) }
    }

    /// The decisions on one record.
    public struct DecisionRow: Sendable {
        public let campus: String
        public let offset: Int64
        public let atMs: Int64
        /// As `DecisionText` reads it, and as people read it (a JSON object).
        public let text: String
        public let why: String
        /// It was made here and now, and is not on the log yet.
        public let isNew: Bool
    }

    private struct Waiting {
        enum What {
            case record(RideRecord)
            case tick
            case setBack
            /// A tick, as one campus gets it.
            case tickOf(String)
        }

        let what: What
        let offset: Int64
        let atMs: Int64

        var record: RideRecord? { if case .record(let record) = what { record } else { nil } }
        var campus: String? {
            switch what {
            case .record(let record): record.campus
            case .tick, .setBack: nil
            case .tickOf(let campus): campus
            }
        }
    }

    private struct Place: Hashable {
        let campus: String
        let offset: Int64
    }

    public private(set) var dispatchers: [String: CampusDispatcher]
    public private(set) var clockMs: Int64
    /// From this offset on nobody has decided yet.
    private let decidesFrom: Int64
    /// After so many decisions of its own it stops; `goOn` takes up the rest.
    private let decisionsAtOnce: Int
    /// The offset of the last record that was seen.
    private var seen: Int64 = -1
    /// The first of them waits for its decision.
    private var waiting: [Waiting] = []
    private var given: [Place: (decisions: [Decision], why: String)] = [:]
    private var changes = Changes()
    /// Decisions that were made anew since it was taken over, because those on the log do not fit.
    public private(set) var decidedAnew = 0

    public init(
        dispatchers: [String: CampusDispatcher] = [:], clockMs: Int64, decidesFrom: Int64, decisionsAtOnce: Int = .max
    ) {
        (self.dispatchers, self.clockMs, self.decidesFrom) = (dispatchers, clockMs, decidesFrom)
        self.decisionsAtOnce = decisionsAtOnce
    }

    /// Where the next owner has to begin reading; nil: at the next offset.
    public var waitsFrom: Int64? { waiting.first?.offset }

    /// - Parameter atMs: when it was pushed.
    /// - Throws: the campus is not known, or its settings make none.
    public mutating func accept(_ record: RideRecord, offset: Int64, atMs: Int64) throws(DecodeError) {
        switch record.kind {
        case .decision(let at, let text, let why):
            // Our own, back from the log.
            guard at < decidesFrom, let first = waiting.first, at >= first.offset else { return }
            guard let decisions = DecisionText.decode(text) else { throw .keyMissing("decision") }
            guard DecisionWhy.isReadable(why) else { throw .keyMissing("why") }
            given[Place(campus: record.campus, offset: at)] = (decisions, why)
        case .campus(let settings):
            guard CampusDispatcher(id: record.campus, settings) != nil else { throw .keyMissing("boundary") }
            waiting.append(Waiting(what: .record(record), offset: offset, atMs: atMs))
        case .profile, .pickup, .cancel, .override, .done, .inService, .outOfService, .breakdown, .end, .handOver,
            .position, .riderSign, .vehicleSign, .clock, .surge, .hour, .travel:
            let isKnown =
                dispatchers[record.campus] != nil
                || waiting.contains { $0.record?.campus == record.campus && $0.record?.kind.isCampus ?? false }
            guard isKnown else { throw .campusUnknown }
            waiting.append(Waiting(what: .record(record), offset: offset, atMs: atMs))
        }
        seen = offset
        goOn()
    }

    public mutating func tick(_ ts: Int64, offset: Int64) {
        waiting.append(Waiting(what: .tick, offset: offset, atMs: ts))
        seen = offset
        goOn()
    }

    /// The clock was moved wrongly: from here on it goes on from `ts`. What was decided meanwhile is on the log, and stays.
    public mutating func setBack(_ ts: Int64, offset: Int64) {
        waiting.append(Waiting(what: .setBack, offset: offset, atMs: ts))
        seen = offset
        goOn()
    }

    public mutating func drainChanges() -> Changes {
        defer { changes = Changes() }
        return changes
    }

    /// Something waits, and not for a record to come.
    public var canGoOn: Bool { !waiting.isEmpty && isBehindLog }
    /// All that may have been decided by others was seen.
    private var isBehindLog: Bool { seen + 1 >= decidesFrom }

    /// Takes what waits, up to the first that needs a decision which may still come, or until it has decided enough.
    public mutating func goOn() {
        var decided = 0
        while let first = waiting.first {
            if case .setBack = first.what {
                clockMs = min(clockMs, first.atMs)
                for id in dispatchers.keys.sorted() {
                    // What comes again after the partition moved was taken by the owner before.
                    guard var dispatcher = dispatchers[id], first.offset > dispatcher.offset else { continue }
                    dispatcher.setBack(first.atMs, offset: first.offset)
                    note(dispatcher, first, why: nil)
                    changes.dispatchers[id] = dispatcher
                }
                waiting.removeFirst()
                continue
            }
            if case .tick = first.what {
                clockMs = max(clockMs, first.atMs)
                let each = dispatchers.keys.sorted().map {
                    Waiting(what: .tickOf($0), offset: first.offset, atMs: first.atMs)
                }
                waiting.replaceSubrange(0..<1, with: each)
                continue
            }
            let before = changes.decisions.count
            let known = first.campus.flatMap { given[Place(campus: $0, offset: first.offset)] }
            let source: CampusDispatcher.Source =
                if let known { .record(known.decisions) } else if isBehindLog { .here } else { .none }
            do {
                try apply(first, source, why: known?.why)
            } catch {
                return
            }
            waiting.removeFirst()
            given = given.filter { $0.key.offset >= first.offset }
            if known == nil, changes.decisions.count > before { decided += 1 }
            if decided >= decisionsAtOnce { return }
        }
    }

    private mutating func apply(
        _ item: Waiting, _ source: CampusDispatcher.Source, why: String?
    ) throws(CampusDispatcher.Undecided) {
        if case .profile(let rider, let person)? = item.record?.kind {
            changes.profiles[RideKey(item.campus!, rider)] = person
            return
        }
        // What comes again after the partition moved was taken by the owner before.
        guard var dispatcher = dispatchers[item.campus!] ?? item.record.flatMap(newDispatcher),
            item.offset > dispatcher.offset
        else { return }
        if let record = item.record {
            guard let atMs = dispatcher.time(of: record, pushedMs: max(item.atMs, clockMs)) else { return }
            try dispatcher.accept(record.kind, offset: item.offset, atMs: atMs, source)
        } else if dispatcher.settings.goesByRecordTime {
            return
        } else {
            try dispatcher.tick(offset: item.offset, atMs: clockMs, source)
        }
        note(dispatcher, item, why: why)
    }

    private func newDispatcher(_ record: RideRecord) -> CampusDispatcher? {
        guard case .campus(let settings) = record.kind else { return nil }
        return CampusDispatcher(id: record.campus, settings)
    }

    private mutating func note(_ dispatcher: CampusDispatcher, _ item: Waiting, why known: String?) {
        for ride in dispatcher.changedRides {
            let key = RideKey(dispatcher.id, ride.pickup.request)
            let before = changes.rides[key] ?? dispatchers[dispatcher.id]?.rides[ride.pickup.request]
            changes.rides[key] = ride
            if before == nil || !before!.isTold(like: ride) { changes.told.append((key, ride, item.offset)) }
        }
        for vehicle in dispatcher.changedVehicles {
            changes.vehicles[RideKey(dispatcher.id, vehicle)] = dispatcher.vehicles[vehicle]!
        }
        if !dispatcher.steps.isEmpty {
            let isAnew = dispatcher.steps.contains { $0.isAnew }
            if isAnew { decidedAnew += 1 }
            changes.decisions.append(
                DecisionRow(
                    campus: dispatcher.id, offset: item.offset, atMs: dispatcher.campus.nowMs,
                    text: DecisionText.encode(dispatcher.steps.map(\.decision)),
                    why: (isAnew ? nil : known) ?? DecisionWhy.text(dispatcher.steps, dispatcher.campus),
                    isNew: known == nil))
        }
        let isSame = dispatchers[dispatcher.id].map { dispatcher.isSame(as: $0) } ?? false
        dispatchers[dispatcher.id] = dispatcher
        if !isSame { changes.dispatchers[dispatcher.id] = dispatcher }
    }
}

extension RideRow {
    /// True: a rider who was told this need not be told that.
    fileprivate func isTold(like other: RideRow) -> Bool {
        (state, vehicle, placeInLine, reason) == (other.state, other.vehicle, other.placeInLine, other.reason)
    }
}

extension RideRecord.Kind {
    fileprivate var isCampus: Bool { if case .campus = self { true } else { false } }
}
