internal import Alerts
internal import Basics
public import Fleet
public import Pipeline

extension DriverStretch {
    /// All stretches of a car's readings, reading by reading: a pause of an hour ends one; so does, after a day, each midnight.
    ///
    /// - Parameter readings: by time, one a time.
    public static func all(_ readings: [CarReading]) -> [DriverStretch] {
        var groups: [(fromMs: Int64, isCut: Bool, readings: [CarReading])] = []
        for reading in readings {
            guard let group = groups.last, reading.ts - group.readings.last!.ts <= DriverAlertFold.reachMs else {
                groups.append((reading.ts, false, [reading]))
                continue
            }
            let midnightMs = UTC.day(of: reading.ts)
            if group.readings.last!.ts < midnightMs, group.fromMs <= midnightMs - UTC.msPerDay {
                groups.append((midnightMs, true, [reading]))
            } else {
                groups[groups.count - 1].readings.append(reading)
            }
        }
        return groups.indices.map { index in
            let next = index + 1 < groups.count ? groups[index + 1] : nil
            let goesOn = next?.isCut ?? false
            return DriverStretch(
                fromMs: groups[index].fromMs, toMs: goesOn ? next!.fromMs - 1 : groups[index].readings.last!.ts,
                readings: groups[index].readings, isFollowed: next != nil, goesOn: goesOn)
        }
    }
}
