/// What steers the search, found by trial on a dozen sets (Tests/Peers/static/README.md says how to repeat it).
public struct SearchSettings: Sendable {
    /// Stops that a ruin takes on average (Christiaens and Vanden Berghe: c̄), the partners of these not counted.
    public var removedMean: Double
    /// Stops of one string at most (Lmax).
    public var stringMax: Double
    /// The share of ruins that take stops near in time and distance, not in distance only.
    public var soonShare: Double
    /// One place in so many is overlooked (1/β).
    public var blinkMean = 100.0
    /// First and last temperature, in distances from a stop to its nearest.
    public var warm = 3.0
    public var cold = 0.03
    /// Temperature while routes are being closed.
    public var fleetHeat = 0.3
    /// The share of the search that may go into closing routes.
    public var fleetShare = 0.4
    /// What a request that is left out costs at first, in distances from a stop to its nearest, and how fast that moves.
    public var penalty = 20.0
    public var penaltyStep = 0.001
    /// After so many iterations without a whole plan the search goes back to the best one.
    public var astrayMax = 1_000

    /// Where the fleet is as small as can be, whole routes must be taken apart to find another way to fill it.
    public init(for objective: DepotProblem.Objective) {
        (removedMean, stringMax, soonShare) = objective == .fewestRoutes ? (40, 40, 0.5) : (10, 10, 0.8)
    }
}
