internal import Basics
internal import Codecs
internal import Fleet

/// Adds up the readings of one vehicle in the order of their times, minute by minute. What crosses a minute's edge
/// (the last reading of each signal, the sharp window, the mixture) stays in here; sums are exact inside a minute and
/// rounded once at its end.
struct MinuteFold: Equatable, Sendable {
    /// Intake air warms by degrees in minutes, and a degree is a third of a percent of the flow.
    private static let intakeAirMsMax: Int64 = 60_000
    private static let densitySignals: UInt32 = [.rpm, .manifoldPressure, .intakeAir]
        .reduce(0) { (mask: UInt32, signal: Signal) in mask | 1 << UInt32(signal.rawValue) }

    /// The rules of the current trip.
    var rules: TripRules
    private var speed: LastValue?
    /// Whether the engine was turning at the last speed reading.
    private var engineOn = false
    /// Whether its fuel was cut off then; nil: not told.
    private var wasFuelCut: Bool?
    private var rpm: LastValue?
    private var fuelRate: LastValue?
    private var manifoldPressure: LastValue?
    private var intakeAir: LastValue?
    private var measured = AirFlow()
    private var calculated = AirFlow()
    private var perLitre = AirFlow()
    private var mixture = Mixture()
    private var sharp = SharpEvents()
    private var smoothed = SmoothedAcceleration()

    private var totals = DriveTotals()
    // Twice the integrals, in stored units times milliseconds: exact, no rounding inside the minute.
    private var speedTwice: Int64 = 0
    private var rpmTwice: Int64 = 0
    private var fuelRateTwice: Int64 = 0

    init(rules: TripRules) { self.rules = rules }

    mutating func add(_ reading: CarReading) {
        let ts = reading.ts
        totals.readings += 1
        if reading.disputed { totals.disputedReadings += 1 }
        if reading.mask & Mixture.signals != 0 { mixture.observe(reading) }
        if let value = reading[.rpm] { addRpm(value, ts: ts) }
        if let value = reading[.speed] { addSpeed(value, ts: ts) }
        if let value = reading[.fuelRate] { addFuelRate(Int64(value), ts: ts) }
        if let value = reading[.maf] {
            measured.add(Int64(value), burnt: burnt(Int64(value) * 1_000, ts), ts: ts, rules)
        }
        if let value = reading[.mafCalculated] {
            calculated.add(Int64(value), burnt: burnt(Int64(value) * 1_000, ts), ts: ts, rules)
        }
        if reading.mask & MinuteFold.densitySignals != 0 { addDensity(reading) }
        if let value = reading[.coolant] { totals.maxCoolantMilliC = max(totals.maxCoolantMilliC ?? value, value) }
        if let value = reading[.voltage] {
            totals.minVoltageMv = min(totals.minVoltageMv ?? value, value)
            totals.maxVoltageMv = max(totals.maxVoltageMv ?? value, value)
        }
    }

    private mutating func addSpeed(_ value: Int32, ts: Int64) {
        totals.speedReadings += 1
        totals.maxSpeedMetresPerHour = max(totals.maxSpeedMetresPerHour ?? value, value)
        let now = LastValue(ts: ts, value: Int64(value))
        if let speed {
            let elapsed = ts - speed.ts
            if elapsed > rules.gapMs {
                totals.holes += 1
                sharp.startRun()
                smoothed.startRun()
            } else {
                totals.integratedMs += elapsed
                speedTwice += (speed.value + Int64(value)) * elapsed
                if speed.value == 0 && engineOn { totals.idleMs += elapsed }
                if let wasFuelCut { totals.fuelCutMs = (totals.fuelCutMs ?? 0) + (wasFuelCut ? elapsed : 0) }
                smoothed.advance(from: speed, to: now, into: &totals)
            }
        }
        speed = now
        // The last rpm of the trip counts however old it is, as in the reference answers: it matters only where a
        // run begins before the next rpm comes.
        engineOn = rpm.map { $0.value > 0 } ?? false
        wasFuelCut = mixture.isFuelCut(at: ts, speed: speed, rpm: rpm, rules)
        sharp.observe(ts: ts, metresPerHour: Int64(value), rules: rules, into: &totals)
    }

    private mutating func addRpm(_ value: Int32, ts: Int64) {
        totals.maxRpmMilli = max(totals.maxRpmMilli ?? value, value)
        if let rpm, rpm.isFresh(at: ts, rules) {
            totals.rpmMs += ts - rpm.ts
            rpmTwice += (rpm.value + Int64(value)) * (ts - rpm.ts)
        }
        rpm = LastValue(ts: ts, value: Int64(value))
    }

    private mutating func addFuelRate(_ value: Int64, ts: Int64) {
        if let fuelRate, fuelRate.isFresh(at: ts, rules) {
            totals.fuelRateMs = (totals.fuelRateMs ?? 0) + ts - fuelRate.ts
            fuelRateTwice += (fuelRate.value + value) * (ts - fuelRate.ts)
        }
        fuelRate = LastValue(ts: ts, value: value)
    }

    /// Speed-density at each reading of rpm or pressure, with the last of the others.
    private mutating func addDensity(_ reading: CarReading) {
        let ts = reading.ts
        if let value = reading[.intakeAir] { intakeAir = LastValue(ts: ts, value: Int64(value)) }
        if let value = reading[.manifoldPressure] { manifoldPressure = LastValue(ts: ts, value: Int64(value)) }
        guard reading[.rpm] != nil || reading[.manifoldPressure] != nil, let rpm, rpm.isFresh(at: ts, rules),
            let manifoldPressure, manifoldPressure.isFresh(at: ts, rules),
            let intakeAir, ts - intakeAir.ts <= MinuteFold.intakeAirMsMax
        else { return }
        let flow = SpeedDensity.microgramsPerSecond(
            rpmMilli: rpm.value, pressureMilliKPa: manifoldPressure.value, intakeMilliC: intakeAir.value)
        perLitre.add(0, burnt: burnt(flow, ts), ts: ts, rules)
    }

    private func burnt(_ flow: Int64, _ ts: Int64) -> Int64 {
        mixture.isFuelCut(at: ts, speed: speed, rpm: rpm, rules) == true ? 0 : mixture.burnt(flow, at: ts, rules)
    }

    /// The sums of the minute so far.
    var minute: DriveTotals {
        var minute = totals
        // m/h · ms = m / 3 600 000, so mm = twice / 2 / 3600.
        minute.distanceMm = Decimal.divided(speedTwice, by: 7_200)
        // (1/1000 rpm) · ms = turns / 60 000 / 1000.
        minute.milliTurns = Decimal.divided(rpmTwice, by: 120_000)
        // mL/h · ms = µL / 3600.
        minute.fuelRateUl = totals.fuelRateMs == nil ? nil : Decimal.divided(fuelRateTwice, by: 7_200)
        minute.airMg = measured.mg
        minute.burntAirMg = measured.burntMg
        minute.airMs = measured.ms
        minute.airCalculatedMg = calculated.mg
        minute.burntAirCalculatedMg = calculated.burntMg
        minute.airCalculatedMs = calculated.ms
        minute.burntAirPerLitreMg = perLitre.burntMg
        minute.airPerLitreMs = perLitre.ms
        return minute
    }

    /// Starts the next minute's sums; what crosses the edge stays.
    mutating func startMinute() {
        totals = DriveTotals()
        speedTwice = 0
        rpmTwice = 0
        fuelRateTwice = 0
        measured.startMinute()
        calculated.startMinute()
        perLitre.startMinute()
    }

    /// A border is reached: what was read before `ts`, the start of the trip that ends there, is forgotten. So no reading
    /// decides anything further away than the trip after its own.
    mutating func forget(before ts: Int64) {
        if let last = speed, last.ts < ts {
            speed = nil
            engineOn = false
            wasFuelCut = nil
            sharp.startRun()
            smoothed.startRun()
        }
        rpm.forget(before: ts)
        fuelRate.forget(before: ts)
        manifoldPressure.forget(before: ts)
        intakeAir.forget(before: ts)
        measured.forget(before: ts)
        calculated.forget(before: ts)
        perLitre.forget(before: ts)
        mixture.forget(before: ts)
        sharp.forget(before: ts)
    }

    /// The state that crosses a minute's edge, as bytes.
    func pack(to out: inout [UInt8], before endMs: Int64, isFromBefore: Bool) {
        for last in [speed, rpm, fuelRate, manifoldPressure, intakeAir] { last.pack(to: &out, before: endMs) }
        out.append((engineOn ? 1 : 0) | (wasFuelCut == nil ? 0 : 2) | (wasFuelCut == true ? 4 : 0))
        for flow in [measured, calculated, perLitre] { flow.pack(to: &out, before: endMs) }
        mixture.pack(to: &out, before: endMs, isFromBefore: isFromBefore)
        sharp.pack(to: &out, before: endMs)
        smoothed.pack(to: &out)
    }

    mutating func unpack(_ reader: inout VarintReader, before endMs: Int64, isFromBefore: Bool) throws(DecodeError) {
        speed = try MinuteFold.last(.speed, &reader, endMs)
        rpm = try MinuteFold.last(.rpm, &reader, endMs)
        fuelRate = try MinuteFold.last(.fuelRate, &reader, endMs)
        manifoldPressure = try MinuteFold.last(.manifoldPressure, &reader, endMs)
        intakeAir = try MinuteFold.last(.intakeAir, &reader, endMs)
        let flags = try reader.byte()
        engineOn = flags & 1 != 0
        wasFuelCut = flags & 2 == 0 ? nil : flags & 4 != 0
        try measured.unpack(&reader, before: endMs)
        try calculated.unpack(&reader, before: endMs)
        try perLitre.unpack(&reader, before: endMs)
        try mixture.unpack(&reader, before: endMs, isFromBefore: isFromBefore)
        try sharp.unpack(&reader, before: endMs)
        try smoothed.unpack(&reader)
    }

    /// Sums and products of what is read here must not overflow: only values that the signal can have.
    private static func last(
        _ signal: Signal, _ reader: inout VarintReader, _ endMs: Int64
    ) throws(DecodeError) -> LastValue? {
        let last = try LastValue?(&reader, before: endMs)
        guard let last else { return nil }
        guard signal.row.stored(last.value) != nil else { throw .packed("a value out of range") }
        return last
    }
}
