import Fleet
import Foundation
import SimKit
import Tours

func place(_ latitude: Double, _ longitude: Double) -> Position { Position(degrees: latitude, longitude)! }

/// A tour that can be published, of three waypoints on a hill.
func hillWalk(_ change: (inout Tour) -> Void = { _ in }) -> Tour {
    var tour = Tour(area: "Höllental", text: "Wet feet in spring.")
    tour.corners = Corners(southWest: place(47.9, 8.0), northEast: place(48.0, 8.2))
    tour.waypoints = [
        Waypoint(id: "w1", place: place(47.91, 8.01), title: "Car park"),
        Waypoint(
            id: "w2", place: place(47.92, 8.05), title: "Old oak", text: "It is \"old\".\nVery.", media: [pictureName]),
        Waypoint(id: "w3", place: place(47.95, 8.1), title: "View", media: [filmName, pictureName]),
    ]
    tour.track = [place(47.91, 8.01), place(47.93, 8.04), place(47.95, 8.1)]
    change(&tour)
    return tour
}

let pictureName = String(repeating: "ab", count: 32)
let filmName = String(repeating: "0c", count: 32)

let media = [
    pictureName: TourPackage.Medium(mediaType: "image/png", content: Array("a picture".utf8)),
    filmName: TourPackage.Medium(
        mediaType: "video/mp4", content: (0..<70_000).map { UInt8(truncatingIfNeeded: $0 * 7) }),
]

/// Not SHA-256, but as different for different bytes as these tests need.
func sum(_ bytes: [UInt8]) -> String {
    let hash = bytes.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    return String(repeating: String(hash, radix: 16), count: 4).prefix(64).padding(
        toLength: 64, withPad: "0", startingAt: 0)
}

/// What `script` prints of the files that it is given; python3 is not ours.
func python(_ script: String, _ files: [[UInt8]]) throws -> String {
    String(decoding: try output(of: "python3", ["-c", script], files), as: UTF8.self)
}
