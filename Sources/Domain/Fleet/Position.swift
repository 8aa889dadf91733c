internal import Basics
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

extension Position {
    /// Nil for what is not on the globe.
    public init?(degrees latitude: Double?, _ longitude: Double?) {
        guard let latitude, let longitude, latitude.magnitude <= 90, longitude.magnitude <= 180,
            let a = Decimal.scaled(latitude, decimals: 7), let b = Decimal.scaled(longitude, decimals: 7)
        else { return nil }
        self.init(latitude: Int32(a), longitude: Int32(b))
    }

    /// `LAT,LON` in degrees, as `38.89871,-77.04861`; nil for anything else.
    public init?(text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let a = Decimal.scaled(parts[0].utf8, decimals: 7),
            let b = Decimal.scaled(parts[1].utf8, decimals: 7), a.magnitude <= 900_000_000,
            b.magnitude <= 1_800_000_000
        else { return nil }
        self.init(latitude: Int32(a), longitude: Int32(b))
    }

    /// `38.89871,-77.04861`: latitude first.
    public var text: String {
        Decimal.text(Int64(latitude), decimals: 7) + "," + Decimal.text(Int64(longitude), decimals: 7)
    }

    /// Rounded to so many decimals of a degree; 4 are about 11 m.
    public func rounded(decimals: Int) -> Position {
        precondition((0...7).contains(decimals))
        let step = Decimal.powerOfTen(7 - decimals)
        return Position(
            latitude: Int32(Decimal.divided(Int64(latitude), by: step) * step),
            longitude: Int32(Decimal.divided(Int64(longitude), by: step) * step))
    }
}
