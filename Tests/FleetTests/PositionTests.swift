import Fleet
import Testing

struct PositionTests {
    private func place(_ latitude: Double, _ longitude: Double) -> Position {
        Position(latitude: Int32((latitude * 1e7).rounded()), longitude: Int32((longitude * 1e7).rounded()))
    }

    /// On the sphere: a degree of a great circle is R·π/180; the spherical law of cosines is another road to the same.
    @Test func greatCircles() {
        let degree = Position.earthRadiusMetres * .pi / 180
        #expect((place(0, 0).metres(to: place(1, 0)) - degree).magnitude < 0.01)
        #expect((place(0, 179.5).metres(to: place(0, -179.5)) - degree).magnitude < 0.01)
        #expect((place(90, 0).metres(to: place(-90, 0)) - 180 * degree).magnitude < 0.01)
        #expect(place(48.5, 9.1).metres(to: place(48.5, 9.1)) == 0)
    }

    /// Vincenty's own answer on the ellipsoid for Flinders Peak to Buninyong (Geoscience Australia) is 54,972.271 m.
    @Test func nearTheEllipsoid() {
        let sphere = place(-37.951_033_4, 144.424_867_9).metres(to: place(-37.652_821_1, 143.926_495_5))
        #expect((sphere / 54_972.271 - 1).magnitude < 0.005_6)
    }
}
