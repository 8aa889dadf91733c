internal import Fleet
internal import Wire

/// Adds up the readings of one vehicle in the order of their times, minute by minute. What crosses a minute's edge
/// (the last reading of each signal, the sharp window) stays in here; sums are exact inside a minute and rounded
/// once at its end.
struct MinuteFold: Equatable, Sendable {
    private struct Last: Equatable { var ts: Int64, value: Int64 }

    private let rules: TripRules
    private var speed: Last?
    /// Whether the engine was turning at the last speed reading.
    private var engineOn = false
    private var rpm: Last?
    private var maf: Last?
    private var mafCalculated: Last?
    private var sharp = SharpEvents()

    private var totals = DriveTotals()
    // Twice the integrals, in stored units times milliseconds: exact, no rounding inside the minute.
    private var speedTwice: Int64 = 0
    private var rpmTwice: Int64 = 0
    private var airTwice: Int64?
    private var airCalculatedTwice: Int64?

    init(rules: TripRules) { self.rules = rules }

    mutating func add(_ reading: CarReading) {
        totals.readings += 1
        if reading.disputed { totals.disputedReadings += 1 }
        if let value = reading[.rpm] { addRpm(value, ts: reading.ts) }
        if let value = reading[.speed] { addSpeed(value, ts: reading.ts) }
        if let value = reading[.maf] { airTwice = add(value, ts: reading.ts, to: &maf, airTwice) }
        if let value = reading[.mafCalculated] {
            airCalculatedTwice = add(value, ts: reading.ts, to: &mafCalculated, airCalculatedTwice)
        }
        if let value = reading[.coolant] { totals.maxCoolantMilliC = max(totals.maxCoolantMilliC ?? value, value) }
        if let value = reading[.voltage] {
            totals.minVoltageMv = min(totals.minVoltageMv ?? value, value)
            totals.maxVoltageMv = max(totals.maxVoltageMv ?? value, value)
        }
    }

    private mutating func addSpeed(_ value: Int32, ts: Int64) {
        totals.speedReadings += 1
        totals.maxSpeedMetresPerHour = max(totals.maxSpeedMetresPerHour ?? value, value)
        if let speed {
            let elapsed = ts - speed.ts
            if elapsed > rules.gapMs {
                totals.holes += 1
                sharp.startRun()
            } else {
                totals.integratedMs += elapsed
                speedTwice += (speed.value + Int64(value)) * elapsed
                if speed.value == 0 && engineOn { totals.idleMs += elapsed }
            }
        }
        speed = Last(ts: ts, value: Int64(value))
        // The last rpm of the trip counts however old it is, as in the reference answers: it matters only where a
        // run begins before the next rpm comes.
        engineOn = rpm.map { $0.value > 0 } ?? false
        let events = sharp.observe(ts: ts, metresPerHour: value, rules: rules)
        if events.acceleration { totals.sharpAccelerations += 1 }
        if events.braking { totals.sharpBrakings += 1 }
    }

    private mutating func addRpm(_ value: Int32, ts: Int64) {
        totals.maxRpmMilli = max(totals.maxRpmMilli ?? value, value)
        if let rpm, ts - rpm.ts <= rules.gapMs {
            totals.rpmMs += ts - rpm.ts
            rpmTwice += (rpm.value + Int64(value)) * (ts - rpm.ts)
        }
        rpm = Last(ts: ts, value: Int64(value))
    }

    private func add(_ value: Int32, ts: Int64, to last: inout Last?, _ sum: Int64?) -> Int64? {
        defer { last = Last(ts: ts, value: Int64(value)) }
        guard let last, ts - last.ts <= rules.gapMs else { return sum }
        return (sum ?? 0) + (last.value + Int64(value)) * (ts - last.ts)
    }

    /// The sums of the minute so far.
    var minute: DriveTotals {
        var minute = totals
        // m/h · ms = m / 3 600 000, so mm = twice / 2 / 3600.
        minute.distanceMm = Decimal.divided(speedTwice, by: 7_200)
        // (1/1000 rpm) · ms = turns / 60 000 / 1000.
        minute.milliTurns = Decimal.divided(rpmTwice, by: 120_000)
        // mg/s · ms = mg / 1000.
        minute.airMg = airTwice.map { Decimal.divided($0, by: 2_000) }
        minute.airCalculatedMg = airCalculatedTwice.map { Decimal.divided($0, by: 2_000) }
        return minute
    }

    /// Starts the next minute's sums; what crosses the edge stays.
    mutating func startMinute() {
        totals = DriveTotals()
        (speedTwice, rpmTwice, airTwice, airCalculatedTwice) = (0, 0, nil, nil)
    }

    /// What crosses a minute's edge, as bytes.
    func pack(to out: inout [UInt8], before endMs: Int64) {
        for last in [speed, rpm, maf, mafCalculated] {
            out.append(last == nil ? 0 : 1)
            guard let last else { continue }
            out.appendZigzag(endMs - last.ts)
            out.appendZigzag(last.value)
        }
        out.append(engineOn ? 1 : 0)
        sharp.pack(to: &out, before: endMs)
    }

    mutating func unpack(_ reader: inout VarintReader, before endMs: Int64) throws(DecodeError) {
        speed = try MinuteFold.last(&reader, endMs)
        rpm = try MinuteFold.last(&reader, endMs)
        maf = try MinuteFold.last(&reader, endMs)
        mafCalculated = try MinuteFold.last(&reader, endMs)
        engineOn = try reader.byte() == 1
        try sharp.unpack(&reader, before: endMs)
    }

    private static func last(_ reader: inout VarintReader, _ endMs: Int64) throws(DecodeError) -> Last? {
        guard try reader.byte() == 1 else { return nil }
        return Last(ts: try reader.time(before: endMs), value: try reader.value())
    }
}
