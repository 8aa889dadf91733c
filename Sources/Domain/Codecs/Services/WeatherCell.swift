public import Fleet

/// A cell of the grid by which weather is requested and cached. Only its middle leaves the machine, never the place itself.
public struct WeatherCell: Equatable, Hashable, Sendable {
    /// Side in thousandths of a degree.
    public let sizeMilliDeg: Int32
    /// Counted from the south pole and from the 180th meridian eastwards.
    public let latitudeIndex: Int32
    public let longitudeIndex: Int32

    /// Precondition: a size of 1 to 10,000 thousandths of a degree.
    public init(_ position: Position, sizeMilliDeg: Int32) {
        precondition((1...10_000).contains(sizeMilliDeg))
        let size = Int64(sizeMilliDeg) * 10_000
        // 180° east and west are one meridian; the north pole belongs to the last row.
        let east = (Int64(position.longitude) + 1_800_000_000) % 3_600_000_000
        let north = min(Int64(position.latitude) + 900_000_000, 1_799_999_999)
        self.sizeMilliDeg = sizeMilliDeg
        latitudeIndex = Int32(north / size)
        longitudeIndex = Int32(east / size)
    }

    /// Inside the globe also where the size does not divide it.
    public var middle: Position {
        let size = Int64(sizeMilliDeg) * 10_000
        func middle(_ index: Int32, _ whole: Int64) -> Int32 {
            let start = Int64(index) * size
            return Int32((start + min(start + size, whole)) / 2 - whole / 2)
        }
        return Position(
            latitude: middle(latitudeIndex, 1_800_000_000), longitude: middle(longitudeIndex, 3_600_000_000))
    }
}
