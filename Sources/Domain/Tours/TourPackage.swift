internal import Codecs
internal import Fleet
internal import Formats

/// A tour for phones: one archive per tour and version. Its bytes follow from the tour, its number and the media alone.
package struct TourPackage: Equatable, Sendable {
    /// A picture or film as it was kept; its digest is its name.
    package struct Medium: Equatable, Sendable {
        package let mediaType: String
        package let content: [UInt8]
        package init(mediaType: String, content: [UInt8]) { (self.mediaType, self.content) = (mediaType, content) }
    }

    package struct File: Equatable, Sendable {
        package let name: String
        /// SHA-256 in hexadecimal.
        package let digest: String
        package let content: [UInt8]
    }

    package enum Fault: Error, Equatable, CustomStringConvertible {
        case unfinished([String])
        case mediumMissing(String)
        case tooLarge(bytes: Int)
        case mapTooLarge(String)

        package var description: String {
            switch self {
            case .unfinished(let faults): faults.joined(separator: " ")
            case .mediumMissing(let name):
                "A picture or film of a waypoint is not there any more (\(name.prefix(8))…): take it out or add it again."
            case .mapTooLarge(let why):
                "The map of the frame is too much to take along (\(why)): make the frame smaller or the map less fine."
            case .tooLarge(let bytes):
                "The package would have \(bytes) bytes, at most \(TourPackage.bytesMax) are allowed: take out films or pictures."
            }
        }
    }

    /// Small enough for a phone on a slow line, and to build in memory.
    package static let bytesMax = 64 << 20

    /// In the order of the archive.
    package let files: [File]
    package let tour: String
    package let version: Int

    /// - Parameters:
    ///   - id: of the tour.
    ///   - media: of all that its waypoints name, by digest.
    ///   - tiles: of the operator's map; nil: there is none.
    ///   - coarse: what the line of the trail is drawn on where there are no tiles.
    ///   - sha256: in hexadecimal.
    package init(
        of tour: Tour, id: String, version: Int, media: [String: Medium], tiles: MapTiles? = nil,
        coarse: CoarseMap? = nil, sha256: ([UInt8]) -> String
    ) throws(Fault) {
        precondition(version > 0, "versions count from 1")
        guard tour.faults.isEmpty, let corners = tour.corners else { throw .unfinished(tour.faults) }
        var pictures: [File] = []
        for name in tour.media {
            guard let medium = media[name] else { throw .mediumMissing(name) }
            pictures.append(
                File(name: TourPackage.fileName(name, medium), digest: name, content: medium.content))
        }
        let map = Array(TourPackage.map(tour, corners, tiles == nil ? coarse : nil).rendered(indent: true).utf8)
        let mapFile = File(name: "map.geojson", digest: sha256(map), content: map)
        let text = Array(
            TourPackage.document(
                tour, corners, id: id, version: version, media: media, map: TourPackage.entry(mapFile, tiles)
            ).rendered(
                indent: true
            )
            .utf8)
        let cut = tiles?.tiles.map { tile in
            File(name: tiles!.name(tile), digest: sha256(tile.content), content: tile.content)
        }
        files = [File(name: "tour.json", digest: sha256(text), content: text), mapFile] + pictures + (cut ?? [])
        self.tour = id
        self.version = version
        let bytes = files.reduce(0) { $0 + $1.content.count }
        guard bytes <= TourPackage.bytesMax else { throw .tooLarge(bytes: bytes) }
    }

    package var archive: [UInt8] { TourPackage.archive(files) }

    /// The difference that lets a phone with the files of `earlier` rebuild this archive, byte by byte: the list of all files in order,
    /// and the new ones.
    /// - Parameters:
    ///   - earlier: digests by file name, of an earlier version's archive.
    ///   - digests: SHA-256 of the two archives.
    package func delta(
        from version: Int, _ earlier: [String: String], digests: (from: String, to: String), sha256: ([UInt8]) -> String
    ) -> [UInt8] {
        let isNew = files.map { earlier[$0.name] != $0.digest }
        let list = JSONValue.object([
            ("format", .text("drover-tour-delta")), ("format_version", .integer(1)), ("tour", .text(tour)),
            ("from_version", .integer(Int64(version))), ("from_sha256", .text(digests.from)),
            ("to_version", .integer(Int64(self.version))), ("to_sha256", .text(digests.to)),
            (
                "files",
                .list(
                    zip(files, isNew).map { file, isNew in
                        .object([
                            ("name", .text(file.name)), ("sha256", .text(file.digest)),
                            ("bytes", .integer(Int64(file.content.count))), ("is_here", .bool(isNew)),
                        ])
                    })
            ),
        ])
        let text = Array(list.rendered(indent: true).utf8)
        let first = File(name: "delta.json", digest: sha256(text), content: text)
        return TourPackage.archive([first] + zip(files, isNew).filter(\.1).map(\.0))
    }

    static func archive(_ files: [File]) -> [UInt8] {
        let sink = Sink()
        sink.bytes.reserveCapacity(files.reduce(1_000) { $0 + $1.content.count + 2 * $1.name.utf8.count + 100 })
        var archive = StoredArchive { sink.bytes += $0 }
        do {
            for file in files { try archive.add(file.name, file.content) }
            try archive.finish()
        } catch {
            preconditionFailure("memory takes everything")
        }
        return sink.bytes
    }

    private final class Sink { var bytes: [UInt8] = [] }

    static func fileName(_ digest: String, _ medium: Medium) -> String {
        "media/\(digest).\(TourMedium.fileExtension(medium.mediaType))"
    }

    // MARK: What stands in it

    private static func document(
        _ tour: Tour, _ corners: Corners, id: String, version: Int, media: [String: Medium], map: JSONValue
    ) -> JSONValue {
        let places = tour.waypoints.map(\.place)
        let metres = WalkingOrder.metres(places, isRound: false)
        return .object([
            ("format", .text("drover-tour")), ("format_version", .integer(1)), ("tour", .text(id)),
            ("version", .integer(Int64(version))), ("area", .text(tour.area)), ("text", .text(tour.text)),
            ("corners", TourText.encode(corners)),
            (
                "walk",
                .object([
                    ("length_m", .integer(Int64(metres.rounded()))),
                    ("walking_min", .integer(Int64(WalkingOrder.minutes(metres: metres)))),
                    ("speed_kmh", .number("5")),
                ])
            ),
            ("map", map),
            (
                "waypoints",
                .list(
                    tour.waypoints.enumerated().map { number, waypoint in
                        .object([
                            ("number", .integer(Int64(number + 1))), ("id", .text(waypoint.id)),
                            ("latitude", TourText.latitude(waypoint.place)),
                            ("longitude", TourText.longitude(waypoint.place)),
                            ("title", .text(waypoint.title)), ("text", .text(waypoint.text)),
                            ("media", .list(waypoint.media.map { entry($0, media[$0]!) })),
                        ])
                    })
            ),
        ])
    }

    /// The attribution of the tiles must be shown with them.
    private static func entry(_ map: File, _ tiles: MapTiles?) -> JSONValue {
        var fields: [JSONValue.Field] = [("file", .text(map.name)), ("sha256", .text(map.digest))]
        if let tiles, let first = tiles.tiles.first, let last = tiles.tiles.last {
            fields.append(
                (
                    "tiles",
                    .object([
                        ("path", .text("tiles/{z}/{x}/{y}.\(tiles.fileExtension)")), ("type", .text(tiles.mediaType)),
                        ("attribution", .text(tiles.attribution)), ("zoom_min", .integer(Int64(first.zoom))),
                        ("zoom_max", .integer(Int64(last.zoom))), ("count", .integer(Int64(tiles.tiles.count))),
                    ])
                ))
        }
        return .object(fields)
    }

    private static func entry(_ digest: String, _ medium: Medium) -> JSONValue {
        .object([
            ("file", .text(fileName(digest, medium))), ("type", .text(medium.mediaType)),
            ("bytes", .integer(Int64(medium.content.count))), ("sha256", .text(digest)),
        ])
    }

    /// RFC 7946: longitude first. The order is the drawing order.
    private static func map(_ tour: Tour, _ corners: Corners, _ coarse: CoarseMap?) -> JSONValue {
        func pair(_ place: Position) -> JSONValue {
            .list([TourText.longitude(place), TourText.latitude(place)])
        }
        func feature(_ kind: String, _ geometry: String, _ coordinates: JSONValue) -> JSONValue {
            .object([
                ("type", .text("Feature")), ("properties", .object([("kind", .text(kind))])),
                ("geometry", .object([("type", .text(geometry)), ("coordinates", coordinates)])),
            ])
        }
        let (a, b) = (corners.southWest, corners.northEast)
        let ring = [
            a, Position(latitude: a.latitude, longitude: b.longitude), b,
            Position(latitude: b.latitude, longitude: a.longitude), a,
        ]
        var features =
            (coarse?.features(in: corners) ?? []) + [feature("frame", "Polygon", .list([.list(ring.map(pair))]))]
        if tour.track.count > 1 { features.append(feature("trail", "LineString", .list(tour.track.map(pair)))) }
        return .object([("type", .text("FeatureCollection")), ("features", .list(features))])
    }
}
