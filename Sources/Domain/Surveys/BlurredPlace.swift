internal import Codecs
package import Fleet

/// A place that may be published for a protected species: the middle of its cell of 0.1°, the same for all places of the cell, so that
/// many sightings together reveal no more than one.
package struct BlurredPlace: Equatable, Sendable {
    package static let cellMilliDeg: Int32 = 100

    package let place: Position
    /// No place of the cell is further away, in whole metres.
    package let uncertaintyM: Int

    package init(_ place: Position) {
        let middle = WeatherCell(place, sizeMilliDeg: BlurredPlace.cellMilliDeg).middle
        let half = BlurredPlace.cellMilliDeg * 10_000 / 2
        // Meridians come together: the corner nearer to the equator is the furthest.
        let edge = Int64(middle.latitude) + Int64(middle.latitude > 0 ? -half : half)
        let corner = Position(latitude: Int32(edge), longitude: middle.longitude - half)
        self.place = middle
        uncertaintyM = Int(middle.metres(to: corner).rounded(.up))
    }
}
