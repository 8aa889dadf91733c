internal import Fleet

/// The duration of a way when the roads are unknown: the straight line times a detour factor, at the speed of the hour. Pure.
package struct TravelSpeeds: Equatable, Sendable {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    /// By hour of the day, local.
    let kmh: [Double]
    /// Way by road over straight line.
    let detour: Double

    /// - Parameter text: `0-6 40, 6-10 22, 10-24 30`: hours from, to, and km/h; together the whole day.
    package init(_ text: String, detourThousandths: Int64) throws(Fault) {
        do throws(DayHours.Fault) {
            kmh = try DayHours(text, 1_000...200_000).thousandths.map { Double($0) / 1_000 }
        } catch { throw Fault(description: error.description) }
        detour = Double(detourThousandths) / 1_000
    }

    /// - Parameter weekHour: 0 is Monday, 0 to 1 o'clock.
    func leg(from: Position, to: Position, weekHour: Int) -> (durationMs: Int64, distanceM: Int64) {
        let metres = from.metres(to: to) * detour
        return (Int64((metres * 3_600 / kmh[weekHour % 24]).rounded()), Int64(metres.rounded()))
    }
}
