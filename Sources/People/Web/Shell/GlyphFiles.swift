internal import Basics
internal import Formats
internal import Crypto
internal import Foundation
internal import HTTPServer

/// The letters of maps: outlines of Noto Sans as MapLibre draws them, in ranges of 256 characters (Latin, Greek, Cyrillic, signs), read once.
struct GlyphFiles: Sendable {
    private static let faces = ["Noto Sans Regular", "Noto Sans Bold", "Noto Sans Italic"]
    private static let ranges = [
        "0-255", "256-511", "512-767", "768-1023", "1024-1279", "1280-1535", "7424-7679", "7680-7935", "7936-8191",
        "8192-8447",
        "8448-8703", "64256-64511",
    ]

    private struct File: Sendable { let bytes, packed: [UInt8] }

    /// By face and range.
    private let files: [String: File]
    /// The version of them all.
    private let version: String

    init(folder: String) throws {
        var (files, all): ([String: File], [UInt8]) = ([:], [])
        for face in GlyphFiles.faces {
            for range in GlyphFiles.ranges {
                let name = "\(face)/\(range).pbf"
                guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
                    throw AssetFiles.Fault(
                        description: "\(folder)/\(name) cannot be read. Maps load it: install the whole folder Assets")
                }
                files[name] = File(bytes: [UInt8](data), packed: Gzip.pack([UInt8](data)))
                all += data
            }
        }
        self.files = files
        version = Hex.text(Secrets.digest(all).prefix(8))
    }

    func add(to router: inout Router) {
        router.add("GET", "/assets/glyphs/{face}/{range}") { request in
            guard let face = request.parameters["face"], let range = request.parameters["range"],
                GlyphFiles.faces.contains(face), range.hasSuffix(".pbf"), range.utf8.count <= 20
            else { return .problem(404, type: "not-found", detail: "Letters are /assets/glyphs/FACE/RANGE.pbf.") }
            let kept = request.query["v"] == version ? "public, max-age=31536000, immutable" : "no-cache"
            // Letters that there are none of stay away from the map; it is drawn all the same.
            guard let file = files["\(face)/\(range)"] else { return Response(204, headers: [("Cache-Control", kept)]) }
            let head = [
                ("Content-Type", "application/x-protobuf"), ("Vary", "Accept-Encoding"), ("Cache-Control", kept),
            ]
            guard PackedBody.isTaken(by: request) else { return Response(200, headers: head, body: file.bytes) }
            return Response(200, headers: head + [("Content-Encoding", "gzip")], body: file.packed)
        }
    }

    /// With {fontstack} and {range}, as MapLibre fills them in.
    var address: String { "/assets/glyphs/{fontstack}/{range}.pbf?v=\(version)" }
}
