import Codecs
import Fleet
import Foundation
import SimKit
import Testing
import Trips

struct RouteSignatureTests {
    private func reading(_ second: Int64, _ latitude: Double, _ longitude: Double) -> CarReading {
        CarReading(
            ts: 1_767_225_600_000 + second * 1_000,
            [.latitude: Int32((latitude * 1e7).rounded()), .longitude: Int32((longitude * 1e7).rounded())])
    }

    private func signature(_ points: [(Double, Double)]) -> RouteSignature? {
        RouteSignature(points.enumerated().map { reading(Int64($0), $1.0, $1.1) })
    }

    /// A recorded drive's fixes.
    private func drive(_ name: String) throws -> [(Double, Double)] {
        let bytes = [UInt8](try Data(contentsOf: Reference.shipped[1].appending(path: name)))
        return try LoggerFile(fileName: name).read(bytes).readings.unioned().compactMap { reading in
            guard let latitude = reading[.latitude], let longitude = reading[.longitude] else { return nil }
            return (Double(latitude) / 1e7, Double(longitude) / 1e7)
        }
    }

    /// Up to `metres` of error in each direction.
    private func noisy(_ points: [(Double, Double)], _ metres: Double, seed: UInt64) -> [(Double, Double)] {
        var chance = SeededChance(seed: seed)
        func error() -> Double { (Double(chance.below(2_001)) / 1_000 - 1) * metres / 111_195 }
        return points.map { ($0.0 + error(), $0.1 + error() / cos($0.0 * .pi / 180)) }
    }

    /// A degree of latitude is 111.195 km on the sphere of 6371.0088 km; one of longitude at 60° half of that.
    @Test func lengthAndDistanceAreThoseOfTheSphere() throws {
        let north = try #require(signature((0...100).map { (50 + Double($0) / 100, 10) }))
        #expect(abs(north.lengthM - 111_195) < 5)
        let east = try #require(signature((0...100).map { (60, 10 + Double($0) / 100) }))
        #expect(abs(east.lengthM - 55_598) < 5)
        let beside = try #require(signature((0...100).map { (60.009, 10 + Double($0) / 100) }))
        #expect(abs(east.distanceM(to: beside) - 1_000.8) < 2)
    }

    @Test func theDateLineIsNoDetour() throws {
        let way = try #require(
            signature(
                (0...100).map { step -> (Double, Double) in
                    let longitude = 179.95 + Double(step) / 1_000
                    return (0, longitude > 180 ? longitude - 360 : longitude)
                }))
        #expect(abs(way.lengthM - 11_119.5) < 2)
    }

    @Test(
        "The same drive, thinned and noisy, is the same route",
        arguments: [
            ("dodge-caliber-2007-a.csv", 2, 10.0), ("dodge-caliber-2007-a.csv", 3, 20),
            ("dodge-caliber-2007-a.csv", 4, 0),
            ("sensor-52430807-track10.csv", 2, 10), ("sensor-52430807-track10.csv", 3, 20),
        ] as [(String, Int, Double)])
    func thinned(_ name: String, _ step: Int, _ metres: Double) throws {
        let points = try drive(name)
        let whole = try #require(signature(points))
        let thin = stride(from: 0, to: points.count, by: step).map { points[$0] } + [points[points.count - 1]]
        let other = try #require(signature(noisy(thin, metres, seed: 7)))
        let distance = whole.distanceM(to: other)
        #expect(distance < 250 && whole.isSameRoute(as: other), "\(distance) m")
        #expect(distance == other.distanceM(to: whole))
        #expect(whole.distanceM(to: whole) == 0)
    }

    @Test func theWayBackAndAnotherDriveAreOtherRoutes() throws {
        let points = try drive("dodge-caliber-2007-a.csv")
        let whole = try #require(signature(points))
        let back = try #require(signature(points.reversed()))
        #expect(!whole.isSameRoute(as: back))
        let other = try #require(signature(try drive("sensor-52430807-track10.csv")))
        #expect(!whole.isSameRoute(as: other) && whole.distanceM(to: other) > 10_000)
        let half = try #require(signature(Array(points.prefix(points.count / 2))))
        #expect(!whole.isSameRoute(as: half))
    }

    /// Three kilometres north; the other way leaves it by 600 m for its middle third.
    @Test func aDetourIsAnotherRouteAlsoBetweenTheSameEnds() throws {
        let straight = (0...300).map { (50 + Double($0) * 0.00009, 10.0) }
        let detour = straight.enumerated().map { index, point in (point.0, (100...200).contains(index) ? 10.0084 : 10.0)
        }
        let (a, b) = (try #require(signature(straight)), try #require(signature(detour)))
        #expect(abs(a.distanceM(to: b) - 600) < 15 && !a.isSameRoute(as: b))
    }

    @Test func aJumpAndAStopChangeNothing() throws {
        let straight = (0...300).map { (50 + Double($0) * 0.00009, 10.0) }
        var odd = straight
        odd[150] = (51, 11)
        odd.insert(contentsOf: noisy(Array(repeating: straight[80], count: 200), 8, seed: 3), at: 80)
        let (a, b) = (try #require(signature(straight)), try #require(signature(odd)))
        #expect(a.distanceM(to: b) < 25)
    }

    @Test("Too little for a route", arguments: [0, 1, 2] as [Int])
    func none(_ count: Int) { #expect(signature((0..<count).map { (50 + Double($0) * 0.0001, 10) }) == nil) }

    @Test func standingIsNoRoute() {
        #expect(signature(noisy(Array(repeating: (50, 10), count: 500), 8, seed: 1)) == nil)
    }
}
