/// The sums of a stretch of driving, in integers, so that the sum of a trip's minutes is the trip to the last digit. Unknown is nil, never
/// 0. Nothing in it depends on a car's registration or on an account: a figure that does is one linear step from these, so that
/// registering a car never folds a reading again.
public struct DriveTotals: Equatable, Sendable {
    public var readings: Int64 = 0
    /// Readings of which two versions with different values arrived.
    var disputedReadings: Int64 = 0
    package var speedReadings: Int64 = 0
    /// Time between speed readings, holes left out.
    public var integratedMs: Int64 = 0
    public var distanceMm: Int64 = 0
    /// The part of `integratedMs` at speed 0 with the engine running.
    public var idleMs: Int64 = 0
    public var holes: Int64 = 0
    public var sharpAccelerations: Int64 = 0
    public var sharpBrakings: Int64 = 0
    var maxSpeedMetresPerHour: Int32?
    /// Time between rpm readings, holes left out.
    var rpmMs: Int64 = 0
    /// Turns of the crankshaft in `rpmMs`, in thousandths.
    public var milliTurns: Int64 = 0
    var maxRpmMilli: Int32?
    /// Air that the mass-flow sensor measured.
    public var airMg: Int64?
    /// Air that the logger calculated from manifold pressure.
    var airCalculatedMg: Int64?
    public var maxCoolantMilliC: Int32?
    var minVoltageMv: Int32?
    var maxVoltageMv: Int32?
    /// Greatest change of speed over one second, sharp or not; 0 when it was never positive.
    public var maxAccelerationMmPerS2: Int32?
    /// The same downwards, as a positive number.
    public var maxBrakingMmPerS2: Int32?
    /// Integral of the square of the smoothed acceleration: a severity that hardly depends on how often speed was read.
    public var accelerationMm2PerS3: Int64?
    public var brakingMm2PerS3: Int64?
    /// Fuel by the engine's own rate (PID 5E), and the time that this covers.
    public var fuelRateUl: Int64?
    var fuelRateMs: Int64?
    /// The part of the measured air that met fuel at the stoichiometric ratio (see `Mixture`), and the time that both cover.
    public var burntAirMg: Int64?
    var airMs: Int64?
    /// The same of the air that the logger calculated.
    var burntAirCalculatedMg: Int64?
    var airCalculatedMs: Int64?
    /// The same by speed-density, for an engine of one litre whose cylinders fill wholly.
    public var burntAirPerLitreMg: Int64?
    var airPerLitreMs: Int64?
    /// The part of the speed's time with the fuel cut off; nil where the car does not tell.
    public var fuelCutMs: Int64?

    public init() {}

    public static func + (a: DriveTotals, b: DriveTotals) -> DriveTotals {
        var sum = a
        sum.readings += b.readings
        sum.disputedReadings += b.disputedReadings
        sum.speedReadings += b.speedReadings
        sum.integratedMs += b.integratedMs
        sum.distanceMm += b.distanceMm
        sum.idleMs += b.idleMs
        sum.holes += b.holes
        sum.sharpAccelerations += b.sharpAccelerations
        sum.sharpBrakings += b.sharpBrakings
        sum.rpmMs += b.rpmMs
        sum.milliTurns += b.milliTurns
        sum.maxSpeedMetresPerHour = either(a.maxSpeedMetresPerHour, b.maxSpeedMetresPerHour, max)
        sum.maxRpmMilli = either(a.maxRpmMilli, b.maxRpmMilli, max)
        sum.airMg = either(a.airMg, b.airMg, +)
        sum.airCalculatedMg = either(a.airCalculatedMg, b.airCalculatedMg, +)
        sum.maxCoolantMilliC = either(a.maxCoolantMilliC, b.maxCoolantMilliC, max)
        sum.minVoltageMv = either(a.minVoltageMv, b.minVoltageMv, min)
        sum.maxVoltageMv = either(a.maxVoltageMv, b.maxVoltageMv, max)
        sum.maxAccelerationMmPerS2 = either(a.maxAccelerationMmPerS2, b.maxAccelerationMmPerS2, max)
        sum.maxBrakingMmPerS2 = either(a.maxBrakingMmPerS2, b.maxBrakingMmPerS2, max)
        sum.accelerationMm2PerS3 = either(a.accelerationMm2PerS3, b.accelerationMm2PerS3, +)
        sum.brakingMm2PerS3 = either(a.brakingMm2PerS3, b.brakingMm2PerS3, +)
        sum.fuelRateUl = either(a.fuelRateUl, b.fuelRateUl, +)
        sum.fuelRateMs = either(a.fuelRateMs, b.fuelRateMs, +)
        sum.burntAirMg = either(a.burntAirMg, b.burntAirMg, +)
        sum.airMs = either(a.airMs, b.airMs, +)
        sum.burntAirCalculatedMg = either(a.burntAirCalculatedMg, b.burntAirCalculatedMg, +)
        sum.airCalculatedMs = either(a.airCalculatedMs, b.airCalculatedMs, +)
        sum.burntAirPerLitreMg = either(a.burntAirPerLitreMg, b.burntAirPerLitreMg, +)
        sum.airPerLitreMs = either(a.airPerLitreMs, b.airPerLitreMs, +)
        sum.fuelCutMs = either(a.fuelCutMs, b.fuelCutMs, +)
        return sum
    }

    /// Every field in the order of the tables' columns; nil is unknown. One list serves the rows and the packed state.
    package func visit(narrow: (Int64?) -> Void, wide: (Int64?) -> Void) {
        narrow(readings)
        narrow(disputedReadings)
        narrow(speedReadings)
        wide(integratedMs)
        wide(distanceMm)
        wide(idleMs)
        narrow(holes)
        narrow(sharpAccelerations)
        narrow(sharpBrakings)
        narrow(maxSpeedMetresPerHour.map { Int64($0) })
        wide(rpmMs)
        wide(milliTurns)
        narrow(maxRpmMilli.map { Int64($0) })
        wide(airMg)
        wide(airCalculatedMg)
        narrow(maxCoolantMilliC.map { Int64($0) })
        narrow(minVoltageMv.map { Int64($0) })
        narrow(maxVoltageMv.map { Int64($0) })
        narrow(maxAccelerationMmPerS2.map { Int64($0) })
        narrow(maxBrakingMmPerS2.map { Int64($0) })
        wide(accelerationMm2PerS3)
        wide(brakingMm2PerS3)
        wide(fuelRateUl)
        wide(fuelRateMs)
        wide(burntAirMg)
        wide(airMs)
        wide(burntAirCalculatedMg)
        wide(airCalculatedMs)
        wide(burntAirPerLitreMg)
        wide(airPerLitreMs)
        wide(fuelCutMs)
    }

    /// The way back: `next` gives the fields in the order of `visit`.
    package init<E>(fields next: () throws(E) -> Int64?) throws(E) {
        readings = try next() ?? 0
        disputedReadings = try next() ?? 0
        speedReadings = try next() ?? 0
        integratedMs = try next() ?? 0
        distanceMm = try next() ?? 0
        idleMs = try next() ?? 0
        holes = try next() ?? 0
        sharpAccelerations = try next() ?? 0
        sharpBrakings = try next() ?? 0
        maxSpeedMetresPerHour = try next().map { Int32(clamping: $0) }
        rpmMs = try next() ?? 0
        milliTurns = try next() ?? 0
        maxRpmMilli = try next().map { Int32(clamping: $0) }
        airMg = try next()
        airCalculatedMg = try next()
        maxCoolantMilliC = try next().map { Int32(clamping: $0) }
        minVoltageMv = try next().map { Int32(clamping: $0) }
        maxVoltageMv = try next().map { Int32(clamping: $0) }
        maxAccelerationMmPerS2 = try next().map { Int32(clamping: $0) }
        maxBrakingMmPerS2 = try next().map { Int32(clamping: $0) }
        accelerationMm2PerS3 = try next()
        brakingMm2PerS3 = try next()
        fuelRateUl = try next()
        fuelRateMs = try next()
        burntAirMg = try next()
        airMs = try next()
        burntAirCalculatedMg = try next()
        airCalculatedMs = try next()
        burntAirPerLitreMg = try next()
        airPerLitreMs = try next()
        fuelCutMs = try next()
    }

    private static func either<T>(_ a: T?, _ b: T?, _ join: (T, T) -> T) -> T? {
        guard let a else { return b }
        guard let b else { return a }
        return join(a, b)
    }
}
