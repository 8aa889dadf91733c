internal import Basics
internal import Codecs
internal import Fleet

/// The integral of one flow of air by the trapezoid rule, holes left out: as it was read, and of it what was burnt.
struct AirFlow: Equatable, Sendable {
    /// Beyond any engine: 16,384 rpm at 655 kPa and -40 °C are 1.34 kg/s and litre, twice that at λ 0.5.
    private static let microgramsPerSecondMax: Int64 = 4_000_000_000

    private var last: LastValue?
    private var lastBurnt: Int64 = 0
    /// Covered by intervals; nil when there was none.
    private(set) var ms: Int64?
    // Twice the integrals, in µg/s times milliseconds: exact, no rounding inside the minute.
    private var twice: Int64 = 0
    private var burntTwice: Int64 = 0

    /// A reading of the flow, in mg/s, and of it what was burnt, in µg/s.
    mutating func add(_ value: Int64, burnt: Int64, ts: Int64, _ rules: TripRules) {
        if let last, last.isFresh(at: ts, rules) {
            let elapsed = ts - last.ts
            ms = (ms ?? 0) + elapsed
            twice += (last.value + value) * elapsed
            burntTwice += (lastBurnt + burnt) * elapsed
        }
        last = LastValue(ts: ts, value: value)
        lastBurnt = burnt
    }

    /// mg/s · ms = mg / 1000.
    var mg: Int64? { ms == nil ? nil : Decimal.divided(twice, by: 2_000) }
    /// µg/s · ms = mg / 1,000,000.
    var burntMg: Int64? { ms == nil ? nil : Decimal.divided(burntTwice, by: 2_000_000) }

    mutating func startMinute() { (ms, twice, burntTwice) = (nil, 0, 0) }

    mutating func forget(before ts: Int64) {
        last.forget(before: ts)
        if last == nil { lastBurnt = 0 }
    }

    func pack(to out: inout [UInt8], before endMs: Int64) {
        last.pack(to: &out, before: endMs)
        if last != nil { out.appendZigzag(lastBurnt) }
    }

    mutating func unpack(_ reader: inout VarintReader, before endMs: Int64) throws(DecodeError) {
        last = try LastValue?(&reader, before: endMs)
        lastBurnt = last == nil ? 0 : try reader.zigzag()
        guard (0...AirFlow.microgramsPerSecondMax).contains(lastBurnt) else { throw .packed("an impossible air flow") }
    }
}

/// Air flow of a four-stroke engine without a mass-flow sensor, by speed-density.
public enum SpeedDensity {
    /// The default of cars whose own is unknown: a usual start value (Lightner's speed-density, fuelly.com), corrected by a fill-up.
    static let volumetricEfficiency = 0.8

    /// The flow for each litre of displacement whose cylinders fill wholly, in µg/s:
    /// rpm · MAP / T / 120 · M / R, with M = 28.97 g/mol and R = 8.314 J/(mol K):
    /// the ideal gas law, one filling in two turns.
    ///
    /// Precondition: the values are possible ones of their signals (`Signal`), in thousandths; beyond them it overflows.
    public static func microgramsPerSecond(rpmMilli: Int64, pressureMilliKPa: Int64, intakeMilliC: Int64) -> Int64 {
        // 28.97 / (8.314 · 120) · 1000 = 362125 / 12471, exactly.
        Decimal.divided(rpmMilli * pressureMilliKPa * 362_125, by: (intakeMilliC + 273_150) * 12_471)
    }
}
