internal import Fleet

/// What a way takes when nobody knows the roads: the straight line times a detour, at the speed of the hour. Pure.
public struct TravelSpeeds: Equatable, Sendable {
    public struct Fault: Error, CustomStringConvertible { public let description: String }

    /// By hour of the day, local.
    let kmh: [Double]
    /// Way by road over straight line.
    let detour: Double

    /// - Parameter text: `0-6 40, 6-10 22, 10-24 30`: hours from, to, and km/h; together the whole day.
    public init(_ text: String, detourThousandths: Int64) throws(Fault) {
        var kmh = [Double?](repeating: nil, count: 24)
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ").map(String.init)
            let hours = (words.first ?? "").split(separator: "-").map { Int($0) }
            guard words.count == 2, hours.count == 2, let from = hours[0], let to = hours[1],
                (0..<24).contains(from), (from + 1...24).contains(to),
                let speed = Decimal.scaled(words[1].utf8, decimals: 3), (1_000...200_000).contains(speed)
            else {
                throw Fault(description: "`\(part)`: write hours and km/h (1 to 200) like `0-6 40, 6-10 22, 10-24 30`")
            }
            for hour in from..<to {
                guard kmh[hour] == nil else { throw Fault(description: "hour \(hour) stands there twice") }
                kmh[hour] = Double(speed) / 1_000
            }
        }
        if let hour = kmh.firstIndex(of: nil) { throw Fault(description: "hour \(hour) to \(hour + 1) is missing") }
        self.kmh = kmh.compactMap { $0 }
        detour = Double(detourThousandths) / 1_000
    }

    /// - Parameter weekHour: 0 is Monday, 0 to 1 o'clock.
    func leg(from: Position, to: Position, weekHour: Int) -> (durationMs: Int64, distanceM: Int64) {
        let metres = from.metres(to: to) * detour
        return (Int64((metres * 3_600 / kmh[weekHour % 24]).rounded()), Int64(metres.rounded()))
    }
}
