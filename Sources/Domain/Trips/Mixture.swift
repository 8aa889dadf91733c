internal import Basics
internal import Codecs
internal import Fleet

/// The mixture by the engine control unit: how much of the air flow meets fuel at the stoichiometric ratio. λ decides where the car tells
/// it (PID 44: fuel = air / ratio / λ), else the fuel trims (06, 07: × (1 + their sum)), else all air counts; none while the fuel is cut
/// off on overrun. PIDs: SAE J1979, mode 01; docs/decisions/0008-fuel-methods.md has the reasons and the limits.
struct Mixture: Equatable, Sendable {
    /// The readings that concern it, as bits of a reading's mask.
    static let signals: UInt32 = [.lambda, .shortFuelTrim, .longFuelTrim, .fuelSystemStatus, .throttle]
        .reduce(0) { (mask: UInt32, signal: Signal) in mask | 1 << UInt32(signal.rawValue) }

    /// No engine burns beyond these; 0 is what loggers write for a λ that they do not have.
    private static let lambdaMilli: ClosedRange<Int64> = 500...2_000
    /// Control units give up, and tell of a fault, long before trims reach this, in thousandths of a percent.
    private static let trimMilliPctMax: Int64 = 50_000
    /// PID 03: open loop because of load, or because the fuel is cut off on deceleration.
    private static let cutBit: Int64 = 4
    /// A shut throttle reads 10 to 20 %, by the car; so it is judged by the trip's minimum, with a bound for a trip whose first reading is
    /// at full load.
    private static let shutAboveLeastMilliPct: Int64 = 2_000
    private static let shutMilliPctMax: Int64 = 25_000
    /// Above any warm engine's idle; below it fuel flows again.
    private static let idleRpmMilliMax: Int64 = 1_000_000

    private var lambda: LastValue?
    private var shortTrim: LastValue?
    private var longTrim: LastValue?
    private var status: LastValue?
    private var throttle: LastValue?
    private var leastThrottle: Int64?
    /// The least of the trip before, where the drive goes on from it.
    private var leastThrottleBefore: Int64?

    mutating func observe(_ reading: CarReading) {
        let ts = reading.ts
        if let value = reading[.lambda], Mixture.lambdaMilli.contains(Int64(value)) {
            lambda = LastValue(ts: ts, value: Int64(value))
        }
        if let value = reading[.shortFuelTrim] { shortTrim = LastValue(ts: ts, value: Int64(value)) }
        if let value = reading[.longFuelTrim] { longTrim = LastValue(ts: ts, value: Int64(value)) }
        if let value = reading[.fuelSystemStatus] { status = LastValue(ts: ts, value: Int64(value)) }
        if let value = reading[.throttle] {
            throttle = LastValue(ts: ts, value: Int64(value))
            leastThrottle = min(leastThrottle ?? Int64(value), Int64(value))
        }
    }

    /// Nil where the car does not tell its fuel system's status.
    func isFuelCut(at ts: Int64, speed: LastValue?, rpm: LastValue?, _ rules: TripRules) -> Bool? {
        guard let status, status.isFresh(at: ts, rules) else { return nil }
        guard status.value / 1_000 & Mixture.cutBit != 0, let speed, speed.isFresh(at: ts, rules), speed.value > 0,
            let rpm, rpm.isFresh(at: ts, rules), rpm.value > Mixture.idleRpmMilliMax
        else { return false }
        guard let throttle, let least = [leastThrottle, leastThrottleBefore].compactMap({ $0 }).min(),
            throttle.isFresh(at: ts, rules)
        else { return false }
        return throttle.value <= min(least + Mixture.shutAboveLeastMilliPct, Mixture.shutMilliPctMax)
    }

    /// The part of an air flow that meets fuel at the stoichiometric ratio, both in µg/s.
    func burnt(_ flow: Int64, at ts: Int64, _ rules: TripRules) -> Int64 {
        if let lambda, lambda.isFresh(at: ts, rules) { return Decimal.divided(flow * 1_000, by: lambda.value) }
        var trim: Int64 = 0
        if let shortTrim, shortTrim.isFresh(at: ts, rules) { trim += shortTrim.value }
        if let longTrim, longTrim.isFresh(at: ts, rules) { trim += longTrim.value }
        guard trim != 0, trim.magnitude <= Mixture.trimMilliPctMax else { return flow }
        return Decimal.divided(flow * (100_000 + trim), by: 100_000)
    }

    mutating func forget(before ts: Int64) {
        lambda.forget(before: ts)
        shortTrim.forget(before: ts)
        longTrim.forget(before: ts)
        status.forget(before: ts)
        throttle.forget(before: ts)
        leastThrottleBefore = leastThrottle
        leastThrottle = nil
    }

    func pack(to out: inout [UInt8], before endMs: Int64, isFromBefore: Bool) {
        for last in [lambda, shortTrim, longTrim, status, throttle] { last.pack(to: &out, before: endMs) }
        guard isFromBefore else {
            if throttle != nil { out.appendZigzag(leastThrottle ?? 0) }
            return
        }
        out.append((leastThrottle == nil ? 0 : 1) | (leastThrottleBefore == nil ? 0 : 2))
        for least in [leastThrottle, leastThrottleBefore] { if let least { out.appendZigzag(least) } }
    }

    mutating func unpack(_ reader: inout VarintReader, before endMs: Int64, isFromBefore: Bool) throws(DecodeError) {
        lambda = try LastValue?(&reader, before: endMs)
        if let lambda, !Mixture.lambdaMilli.contains(lambda.value) { throw .packed("an impossible lambda") }
        shortTrim = try LastValue?(&reader, before: endMs)
        longTrim = try LastValue?(&reader, before: endMs)
        status = try LastValue?(&reader, before: endMs)
        throttle = try LastValue?(&reader, before: endMs)
        guard isFromBefore else {
            leastThrottle = throttle == nil ? nil : try reader.value()
            return
        }
        let flags = try reader.byte()
        leastThrottle = flags & 1 == 0 ? nil : try reader.value()
        leastThrottleBefore = flags & 2 == 0 ? nil : try reader.value()
    }
}
