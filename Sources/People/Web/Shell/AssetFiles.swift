internal import Basics
internal import Codecs
internal import Crypto
internal import Fleet
internal import Formats
internal import Foundation
package import HTTPServer

/// The static files of pages: styles, scripts, pictures and the coarse base map, read once from the folder Assets. Each has a fixed
/// address, so that no request ever names a file.
package struct AssetFiles: Sendable {
    /// A file of the list cannot be read.
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    private struct File {
        let bytes: [UInt8]
        /// Nil: it is no smaller.
        let packed: [UInt8]?
        let type: String
        /// The version of the content.
        let version: String

        init(_ bytes: [UInt8], type: String) {
            let packed = Gzip.pack(bytes)
            self.packed = packed.count < bytes.count - bytes.count / 10 ? packed : nil
            self.bytes = bytes
            self.type = type
            version = Hex.text(Secrets.digest(bytes).prefix(8))
        }

        func response(_ request: Request) -> Response {
            let response = Response(200, headers: [("Content-Type", type), ("Vary", "Accept-Encoding")], body: bytes)
            guard let packed, PackedBody.isTaken(by: request) else { return response }
            var small = response.with("Content-Encoding", "gzip")
            small.body = packed
            return small
        }
    }

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "png": "image/png",
        "json": "application/json",
    ]
    private static let names = [
        "pages.css", "map.js", "live.js", "drive.js", "scan.js", "fleet-map.js", "alerts.js", "replay.js",
        "waiting.js", "push.js", "push-worker.js", "field.js", "campus.js", "ride.js",
        "surveys.css", "names.js", "sightings.js", "survey-form.js",
        "tours.css", "tour-map.js", "tours.js", "tour-preview.js",
        "second-factor.js", "qr/index.js",
        "leaflet/leaflet.css", "leaflet/leaflet.js", "leaflet/images/layers.png",
        "leaflet/images/layers-2x.png", "leaflet/images/marker-icon.png", "leaflet/images/marker-icon-2x.png",
        "leaflet/images/marker-shadow.png", "natural-earth.json", description,
    ]

    /// The API's description, as OpenAPI 3.1.
    private static let description = "openapi.json"

    private let files: [String: File]

    package init(folder: String) throws {
        var files: [String: File] = [:]
        for name in AssetFiles.names {
            guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
                throw Fault(
                    description: "\(folder)/\(name) cannot be read. Pages load it: install the whole folder Assets")
            }
            files[name] = File([UInt8](data), type: AssetFiles.types[String(name.split(separator: ".").last!)]!)
        }
        self.files = files
    }

    package func addDescription(to router: inout Router) {
        let file = files[AssetFiles.description]!
        router.add("GET", "/openapi.json") { request in file.response(request).conditional(request) }
    }

    package func add(to router: inout Router) {
        addDescription(to: &router)
        for (name, file) in files {
            router.add("GET", "/assets/" + name) { request in
                let response = file.response(request)
                // The address names the content: it can be kept for ever. Without that, caches ask each time.
                return request.query["v"] == file.version
                    ? response.with("Cache-Control", "public, max-age=31536000, immutable")
                    : response.conditional(request)
            }
        }
    }

    /// The file's bytes. Precondition: `name` is on the list.
    func content(_ name: String) -> [UInt8] {
        guard let file = files[name] else { preconditionFailure("\(name) is not on the list of assets") }
        return file.bytes
    }

    /// With the content's version, so that caches never have an old one.
    /// Precondition: `name` is on the list.
    func address(_ name: String) -> String {
        guard let file = files[name] else { preconditionFailure("\(name) is not on the list of assets") }
        return "/assets/\(name)?v=\(file.version)"
    }
}
