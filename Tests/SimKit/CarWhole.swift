public import Alerts
internal import Basics
public import Fleet
public import Pipeline
public import Trips

/// All that a log says, taken at once: the reference for whatever order, split and fault.
public struct CarWhole {
    private var readings: [VehicleID: [CarReading]] = [:]
    private var cuts: [VehicleID: TripCuts] = [:]
    private var sayings = DriverSayings()
    private var rules: TripRuleTimeline
    private var clockMs: Int64 = 0

    public init(_ log: [LoggedRecord], rules: TripRules, idleMs: Int64 = CarPartition.idleMs) {
        self.rules = TripRuleTimeline(base: rules)
        var latestMs = Int64.min
        for record in log {
            switch record {
            case .reading(let vehicle, let reading):
                readings[vehicle, default: []].append(reading)
                latestMs = max(latestMs, reading.ts)
            case .rules(let rules, let fromMs):
                let leastMs = max(latestMs, clockMs == 0 ? .min : clockMs - idleMs) + 1
                self.rules.insert(TripRuleTimeline.Entry(fromMs: max(fromMs, leastMs), rules: rules))
            case .action(let action):
                if let cut = action.cut { _ = cuts[cut.vehicle, default: TripCuts()].insert(cut.ms) }
                sayings.take(action)
            case .tick(let ms, _): clockMs = max(clockMs, ms)
            case .setBack(let ms): clockMs = min(clockMs, ms)
            }
        }
        for (vehicle, all) in readings { readings[vehicle] = all.unioned() }
    }

    /// Each car's set folded once, days summed straight from the minutes.
    public var rows: CarTables.Results {
        var tables = CarTables.Results()
        for (vehicle, readings) in readings {
            let cuts = cuts[vehicle] ?? TripCuts()
            let (minutes, trips, _) = Drive.whole(readings, cuts: cuts, rules: rules)
            for minute in minutes {
                tables.minutes[vehicle, default: [:]][minute.startMs] = minute
                let day = UTC.day(of: minute.startMs)
                tables.days[vehicle, default: [:]][day] = (tables.days[vehicle]?[day] ?? DriveTotals()) + minute.totals
            }
            for (index, trip) in trips.enumerated() {
                let isOpen =
                    index == trips.count - 1
                    && clockMs <= trip.endMs + rules.inForce(at: trip.startMs).tripGapMs
                    && !cuts.separate(trip.endMs, .max)
                tables.trips[vehicle, default: [:]][trip.startMs] = .init(trip, isOpen: isOpen)
                let first = minutes.filter { $0.tripStartMs == trip.startMs }.min { $0.startMs < $1.startMs }!
                // Of a day of a longer drive there is a row where a minute begins with it.
                guard first.startMs <= trip.startMs else { continue }
                let place = first.readings.filter { $0[.latitude] != nil && $0[.longitude] != nil }.first
                tables.starts[vehicle, default: [:]][trip.startMs] = CarTables.Start(
                    place.map { Position(latitude: $0[.latitude]!, longitude: $0[.longitude]!) })
            }
        }
        return tables
    }

    /// What drivers have to know in the end: each stretch judged at once by all that was said, and all scans of a car.
    public var episodes: [VehicleID: [Episode]] {
        var all: [VehicleID: [Episode]] = [:]
        for (vehicle, readings) in readings {
            let context = sayings.context(vehicle, installation: sayings.installation)
            for stretch in DriverStretch.all(readings) {
                all[vehicle, default: []] +=
                    DriverJudgement(
                        vehicle: vehicle, readings: stretch.readings, context,
                        passedMs: stretch.toMs + DriverAlertFold.reachMs
                    ).episodes
            }
        }
        for vehicle in sayings.scanned {
            let context = sayings.context(vehicle, installation: sayings.installation)
            all[vehicle, default: []] += TroubleCodes.episodes(
                vehicle: vehicle, scans: sayings.scans(of: vehicle), context)
        }
        return all.filter { !$0.value.isEmpty }.mapValues {
            $0.sorted { ($0.openedMs, $0.id) < ($1.openedMs, $1.id) }
        }
    }
}
