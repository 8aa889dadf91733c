public import Alerts
internal import Codecs
public import Fleet

/// The state of a car's drivers' alerts for a worker that takes over: a row of `drover.car_watch`.
public struct DriverRecord: Sendable {
    public let vehicle: VehicleID
    /// The state after the readings before an offset.
    public let live: (state: [UInt8], nextOffset: Int64)?
    public let waiting: DriverPartition.Waiting?
    /// Its trouble codes are to be judged since that record.
    public let codesOffset: Int64?

    public init(
        vehicle: VehicleID, live: (state: [UInt8], nextOffset: Int64)?, waiting: DriverPartition.Waiting?,
        codesOffset: Int64?
    ) {
        (self.vehicle, self.live, self.waiting, self.codesOffset) = (vehicle, live, waiting, codesOffset)
    }

    var isEmpty: Bool { live == nil && waiting == nil && codesOffset == nil }

    /// With what clocks that were set back still ask of a car, where these have not come to it yet; nil: nothing. Also of one of which nothing
    /// is judged again nothing came when the clock was ahead: silence would count from a time that is not yet.
    public func noted(
        _ spreads: CarSpreads, of car: DriverPartition.StoredCar, _ limits: InstallationLimits, clockMs: Int64
    ) -> DriverRecord? {
        guard let spread = spreads.all.first(where: { $0.comes(to: car, limits) }) else {
            return spreads.all.contains { $0.isBefore(car) } ? cameBy(clockMs) : nil
        }
        var asked = DriverPartition.Waiting(
            fromMs: car.lastMs, untilMs: car.lastMs, askedOffset: spread.askedOffset, isLate: true, isLatest: true,
            arrivedMs: arrivedMs)
        if let waiting { asked.formUnion(waiting) }
        asked.arrivedMs = min(asked.arrivedMs, clockMs)
        return DriverRecord(vehicle: vehicle, live: nil, waiting: asked, codesOffset: codesOffset)
    }

    /// Nil: it says so already.
    private func cameBy(_ clockMs: Int64) -> DriverRecord? {
        guard max(arrivedMs, waiting?.arrivedMs ?? .min) > clockMs else { return nil }
        var waiting = waiting
        if let asked = waiting { waiting!.arrivedMs = min(asked.arrivedMs, clockMs) }
        let live = live.map { (DriverPartition.Live.state($0.state, cameBy: clockMs), $0.nextOffset) }
        return DriverRecord(vehicle: vehicle, live: live, waiting: waiting, codesOffset: codesOffset)
    }
}

extension DriverPartition {
    // MARK: What is written

    public struct Changes: Sendable {
        public let alerts: [ToldAlert]
        public let transitions: [AlertTransition]
        public let records: [DriverRecord]
        /// Cars of which nothing is kept any more.
        public let gone: [VehicleID]
        /// The limits that the installation has set, and how far they have come: of each time all that is still needed.
        public let limits: [[InstallationLimits.Entry]]
        /// All that are under way now; nil: they are as they were.
        public let spreads: CarSpreads?
    }

    /// Hands over what was told and what is to be known after a restart.
    public mutating func drainChanges(_ carPartition: borrowing CarPartition) -> Changes {
        var (records, gone): ([DriverRecord], [VehicleID]) = ([], [])
        var vehicles = changedCodes
        for number in changed { vehicles.insert(carPartition.name(number)) }
        for vehicle in vehicles.sorted() {
            let number = carPartition.number(of: vehicle)
            let (live, asked) = (number.flatMap { lives[$0] }, number.flatMap { waiting[$0] })
            let record = DriverRecord(
                vehicle: vehicle, live: live.map { ($0.packed, $0.nextOffset) }, waiting: asked,
                codesOffset: codes[vehicle])
            if record.isEmpty { gone.append(vehicle) } else { records.append(record) }
        }
        defer {
            (alerts, transitions, changed, changedCodes) = ([:], [], [], [])
            (changedLimits, changedSpreads, isFull) = ([], nil, false)
        }
        return Changes(
            alerts: alerts.values.sorted { $0.id < $1.id }, transitions: transitions, records: records, gone: gone,
            limits: isWhole ? changedLimits.sorted().map { installation.entries(inForceMs: $0) } : [],
            spreads: isWhole ? changedSpreads : nil)
    }

    public var hasChanges: Bool {
        !changed.isEmpty || !changedCodes.isEmpty || !alerts.isEmpty || !changedLimits.isEmpty || changedSpreads != nil
    }
}

extension DriverPartition.Waiting {
    mutating func formUnion(_ before: Self) {
        (fromMs, untilMs) = (min(fromMs, before.fromMs), max(untilMs, before.untilMs))
        askedOffset = min(askedOffset, before.askedOffset)
        (isLate, isLatest) = (isLate || before.isLate, isLatest || before.isLatest)
        arrivedMs = max(arrivedMs, before.arrivedMs)
    }
}

extension ToldAlerts {
    var open: ToldAlerts {
        ToldAlerts(all.filter { !$0.isWithdrawn && $0.episode.resolvedMs == nil })
    }

    /// Alerts that are told as open and are one of these episodes.
    func open(of episodes: [Episode]) -> ToldAlerts {
        ToldAlerts(
            open.all.filter { alert in
                episodes.contains {
                    $0.parameter == alert.episode.parameter && $0.openedMs == alert.episode.openedMs
                }
            })
    }
}

extension DriverPartition.Live {
    private static let version: UInt8 = 1

    var packed: [UInt8] {
        var out: [UInt8] = [Self.version]
        for ms in [fromMs, arrivedMs, passedMs] { out.appendZigzag(ms) }
        return out + watch.packed
    }

    /// The state with no reading that came later. One that cannot be read stays as it is: nobody goes on from it.
    static func state(_ state: [UInt8], cameBy ms: Int64) -> [UInt8] {
        var reader = VarintReader(state)
        guard (try? reader.byte()) == version, let fromMs = try? reader.zigzag(), let arrivedMs = try? reader.zigzag()
        else { return state }
        var out: [UInt8] = [version]
        for each in [fromMs, min(arrivedMs, ms)] { out.appendZigzag(each) }
        return out + reader.rest
    }

    /// Nil: there is none, or it cannot be read.
    init?(_ record: DriverRecord, _ open: [ToldAlert], _ context: DriverContext) {
        guard let live = record.live else { return nil }
        var reader = VarintReader(live.state)
        guard (try? reader.byte()) == Self.version, let fromMs = try? reader.zigzag(),
            let arrivedMs = try? reader.zigzag(), let passedMs = try? reader.zigzag(),
            let watch = try? DriverAlertFold(packed: reader.rest, vehicle: record.vehicle, context), watch.lastMs != nil
        else { return nil }
        self.init(
            watch: watch, told: ToldAlerts(open).open(of: watch.open), fromMs: fromMs, arrivedMs: arrivedMs,
            passedMs: passedMs,
            nextOffset: live.nextOffset)
    }
}

extension DriverRecord {
    /// Since when the readings of the state's stretch may reach; nil: there is no state that can be read.
    public var fromMs: Int64? { times?.fromMs }

    /// The clock when the last reading came; `.min`: that is long ago, or not known.
    private var arrivedMs: Int64 { times?.arrivedMs ?? .min }

    private var times: (fromMs: Int64, arrivedMs: Int64)? {
        guard let live else { return nil }
        var reader = VarintReader(live.state)
        guard (try? reader.byte()) != nil, let fromMs = try? reader.zigzag(), let arrivedMs = try? reader.zigzag()
        else { return nil }
        return (fromMs, arrivedMs)
    }
}
