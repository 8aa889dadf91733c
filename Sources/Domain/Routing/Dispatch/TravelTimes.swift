/// Travel times between places: measured pairs where there are any, else distance by speed.
///
/// It is a value, so that a decision can be kept with the times that it was made by, and repeated without asking again.
public struct TravelTimes: Equatable, Sendable {
    /// Seconds for a metre of straight line: detours and the time of day are in it.
    public var secondsPerMetre: Double
    /// The number of places with measured times.
    public private(set) var sites: Int
    /// `sites` × `sites` seconds, row = from, column = to. NaN: not known, the straight line decides.
    public private(set) var measuredS: [Double]

    public static let sitesMax = 2_000
    public static let longestS = 1_000_000.0

    public init(secondsPerMetre: Double) {
        self.secondsPerMetre = secondsPerMetre
        sites = 0
        measuredS = []
    }

    /// Nil unless there are `sites` × `sites` times, none negative, none above `longestS`.
    public init?(secondsPerMetre: Double, sites: Int, measuredS: [Double]) {
        guard (0...TravelTimes.sitesMax).contains(sites), measuredS.count == sites * sites,
            measuredS.allSatisfy({ $0.isNaN || (0...TravelTimes.longestS).contains($0) })
        else { return nil }
        self.secondsPerMetre = secondsPerMetre
        self.sites = sites
        self.measuredS = measuredS
    }

    /// Room for `sites` measured places, nothing measured yet. Nil when there are too many.
    public init?(secondsPerMetre: Double, sites: Int) {
        guard (0...TravelTimes.sitesMax).contains(sites) else { return nil }
        self.init(
            secondsPerMetre: secondsPerMetre, sites: sites, measuredS: Array(repeating: .nan, count: sites * sites))
    }

    /// Takes a measured time; false when it or a place is out of range. Places keep their site as long as anybody has it.
    public mutating func measure(_ seconds: Double, from: Int, to: Int) -> Bool {
        guard (0..<sites).contains(from), (0..<sites).contains(to), (0...TravelTimes.longestS).contains(seconds) else {
            return false
        }
        measuredS[from * sites + to] = seconds
        return true
    }

    public static func kilometresPerHour(_ speed: Double, detour: Double = 1) -> TravelTimes {
        TravelTimes(secondsPerMetre: 3.6 * detour / speed)
    }

    public func seconds(from: CampusPoint, to: CampusPoint) -> Double {
        if let measured = measured(from: from, to: to) { return measured }
        let (dx, dy) = (from.xM - to.xM, from.yM - to.yM)
        return secondsPerMetre * (dx * dx + dy * dy).squareRoot()
    }

    /// Nil: the straight line decides.
    public func measured(from: CampusPoint, to: CampusPoint) -> Double? {
        guard from.site >= 0, to.site >= 0, Int(from.site) < sites, Int(to.site) < sites else { return nil }
        let measured = measuredS[Int(from.site) * sites + Int(to.site)]
        return measured.isNaN ? nil : measured
    }

    /// A detour over a third place is never shorter: true of straight lines, not known of measured times.
    var obeysTriangle: Bool { sites == 0 }

    var isValid: Bool { (0...1_000).contains(secondsPerMetre) }
}
