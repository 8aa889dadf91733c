/// The settings of the search that were found by trial; `drover plan` uses the standard.
public struct SearchSettings: Sendable {
    /// Stops that a ruin takes on average (Christiaens and Vanden Berghe: c̄).
    public var removedMean = 40.0
    /// Stops of one string at most (Lmax).
    public var stringMax = 40.0
    /// One pair of places in so many is overlooked (1/β).
    public var blinkMean = 100.0
    /// Temperatures in steps between neighbouring stops.
    public var warm = 3.0
    public var cold = 0.03
    /// The share of ruins that take stops near in time and distance, not in distance only.
    public var soonShare = 0.5
    /// Temperature while routes are being closed.
    public var fleetHeat = 0.3
    /// The share of the search that may go into closing routes.
    public var fleetShare = 0.4

    public var penalty = 20.0
    public var penaltyStep = 0.001
    public var penaltyRatio = 1.0

    public var astrayMax = 1000.0

    public init() {}
}
