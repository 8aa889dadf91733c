public import Alerts
internal import Basics
internal import Fleet

/// The drivers' alerts of one partition of cars. Facts in (readings, ticks, what people say), what is told out; no I/O.
///
/// A reading that is later than all before it is judged as it comes, from memory. Whatever makes others be judged again (late
/// readings, other drivers or limits, a clock set back) is only noted; at the next tick of the partition the car is judged
/// from what is stored, a stretch at a tick (`DriverJudge`). Which reading is judged when, by
/// what, and what is told of it follow from the log alone (docs/decisions/0011).
///
/// A car that nobody drives or owns costs 24 bytes, where the installation has no limits for it. One that is silent for as long as anything of it can matter is forgotten;
/// its next reading waits for the end of the cycle, when it is known who drives it.
public struct DriverPartition: Sendable {
    enum Standing: UInt8 {
        /// It reports for the first time.
        case unknown
        /// Nobody drives or owns it, and the installation has no limits.
        case unwatched
        case watched
    }

    struct Car {
        var standing = Standing.unknown
        /// The latest reading of a car that is watched and in none of the lists below; `.max`: it is not known.
        var lastMs = Int64.min
        /// Since when it is registered: who owned it then counts for all that was before, too; `.max`: it is not.
        var ownedMs = Int64.max
    }

    /// A car whose state after its latest reading is in memory.
    struct Live {
        var watch: DriverAlertFold
        /// Alerts that are told as open.
        var told: ToldAlerts
        /// No reading before it is within reach.
        var fromMs: Int64
        /// The partition's clock when the last reading came, or when it was judged from what is stored; `.min`: long ago.
        var arrivedMs: Int64
        /// The clock that ended open alerts; readings up to it are late.
        var passedMs = Int64.min
        /// Readings from this offset on are not in it.
        var nextOffset: Int64

        var lastMs: Int64 { watch.lastMs ?? fromMs }

        /// When the clock changes it next. Silence counts from when the last reading came, too: no clock closes ahead of a
        /// backlog.
        var dueMs: Int64 {
            let (quietMs, reachMs) = (DriverAlertFold.quietMs, DriverAlertFold.reachMs)
            if !told.all.isEmpty { return max(watch.quietMs, arrivedMs == .min ? .min : arrivedMs + quietMs) }
            return max(lastMs, arrivedMs) + reachMs + 1
        }

        func isSilent(at tick: Tick) -> Bool {
            dueMs <= tick.clockMs || tick.isClosing && !told.all.isEmpty && watch.quietMs <= tick.clockMs
        }
    }

    /// A reading with what it needs to be judged later in its cycle.
    struct Arrival {
        let reading: CarReading
        let offset: Int64
        let pushedMs: Int64
        let clockMs: Int64
    }

    /// A car that waits for a tick, to be judged from what is stored.
    public struct Waiting: Equatable, Sendable {
        public var fromMs: Int64
        public var untilMs: Int64
        /// Its place in the queue: the record that asked for it, or the tick of the last piece.
        public var askedOffset: Int64
        /// Told alerts may be corrected.
        public var isLate: Bool
        /// The car's latest readings wait, too: it is not in memory.
        public var isLatest: Bool
        public var arrivedMs: Int64

        public init(
            fromMs: Int64, untilMs: Int64, askedOffset: Int64, isLate: Bool, isLatest: Bool, arrivedMs: Int64
        ) {
            (self.fromMs, self.untilMs, self.askedOffset) = (fromMs, untilMs, askedOffset)
            (self.isLate, self.isLatest, self.arrivedMs) = (isLate, isLatest, arrivedMs)
        }
    }

    /// A tick at whose end something is judged.
    public struct Tick: Sendable {
        public let clockMs: Int64
        public let offset: Int64
        public let pushedMs: Int64
        /// The partition's clock before it.
        public let beforeMs: Int64
        /// Nothing more comes of what is silent: an import is over.
        public let isClosing: Bool
    }

    /// Readings that may wait for the end of their cycle.
    static let loadingMax = 8_192
    /// A late reading may move the borders of stretches as far behind it: what begins within reach of it may begin earlier now,
    /// and had its first border within two days (`DriverStretch.borderMs`). Every midnight after that one is a border anyway.
    static let borderReachMs = DriverAlertFold.reachMs + 2 * UTC.msPerDay

    /// Records before it are in the database, with all that was told of them.
    let storedOffset: Int64
    var cars: [Car] = []
    var lives: [Int: Live] = [:]
    var loading: [Int: [Arrival]] = [:]
    var loadingCount = 0
    var waiting: [Int: Waiting] = [:]
    /// Cars whose trouble codes are judged at the next tick, and since which record; also ones that never reported.
    var codes: [VehicleID: Int64] = [:]
    /// Cars that said which trouble codes they have.
    var scanned: Set<VehicleID> = []
    /// Accounts of cars that were registered or assigned lately: read back, and what came since.
    var accounts: [VehicleID: CarAccounts] = [:]
    /// The limits of cars that nobody answers for.
    public internal(set) var installation = InstallationLimits()
    /// The times of those of which something is to be written.
    var changedLimits: Set<Int64> = []
    /// Clocks that were set back, of which some cars do not know yet.
    public internal(set) var spreads = CarSpreads()
    var changedSpreads: CarSpreads?
    /// Until the end of the cycle.
    var setBackTo: (clockMs: Int64, offset: Int64)?
    /// Some vehicles alone write nothing of what comes to a partition's cars.
    var isWhole = true
    /// Accounts whose limits changed, until the end of the cycle.
    var changedSettings: [SettingsChange] = []
    var due: Tick?
    /// No live car is due before.
    var nextDueMs = Int64.min
    /// Changes that follow from the records so far must be written before the next is taken.
    public internal(set) var isFull = false

    var alerts: [String: ToldAlert] = [:]
    var transitions: [AlertTransition] = []
    var changed: Set<Int> = []
    var changedCodes: Set<VehicleID> = []

    public init(storedOffset: Int64) { self.storedOffset = storedOffset }
}
