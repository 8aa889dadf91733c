internal import Glibc

/// A place on the earth, in stored units of 10⁻⁷ degrees (WGS 84).
public struct Position: Equatable, Hashable, Sendable {
    public var latitude: Int32
    public var longitude: Int32

    public init(latitude: Int32, longitude: Int32) { (self.latitude, self.longitude) = (latitude, longitude) }

    /// Nil when the reading does not have both.
    public init?(_ reading: CarReading) {
        guard let latitude = reading[.latitude], let longitude = reading[.longitude] else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    /// The mean radius of the earth, IUGG 1980. The sphere is at most 0.56 % off the ellipsoid.
    public static let earthRadiusMetres = 6_371_008.8

    /// Great-circle distance in metres (haversine, R. W. Sinnott, Sky and Telescope 68, 1984: exact for small distances).
    public func metres(to other: Position) -> Double {
        func radians(_ stored: Int64) -> Double { Double(stored) * 1e-7 * .pi / 180 }
        let rise = sin(radians(Int64(other.latitude) - Int64(latitude)) / 2)
        let turn = sin(radians(Int64(other.longitude) - Int64(longitude)) / 2)
        let h =
            rise * rise + cos(radians(Int64(latitude))) * cos(radians(Int64(other.latitude))) * turn * turn
        return 2 * Position.earthRadiusMetres * asin(min(1, h.squareRoot()))
    }
}
