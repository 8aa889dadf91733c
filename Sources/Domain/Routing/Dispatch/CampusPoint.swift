/// A place in the plane of a campus, in metres east and north of its origin.
///
/// A campus is a few kilometres wide: the plane is off the sphere by less than 0.01 % there.
public struct CampusPoint: Equatable, Sendable {
    public var xM: Double
    public var yM: Double
    /// Its row and column among the measured travel times; -1 when it has none.
    public var site: Int32

    public init(xM: Double, yM: Double, site: Int32 = -1) { (self.xM, self.yM, self.site) = (xM, yM, site) }

    /// A place that is known by its measured travel times only.
    public init(site: Int32) { self.init(xM: 0, yM: 0, site: site) }

    /// Further out than this nothing is a campus's.
    static let furthestM = 1_000_000.0

    var isValid: Bool { xM.magnitude <= CampusPoint.furthestM && yM.magnitude <= CampusPoint.furthestM }
}
