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
        "json": "application/json", "svg": "image/svg+xml; charset=utf-8",
    ]
    /// One a line, so that two changes do not meet.
    private static let names = [
        "alerts/acknowledge.js",
        "alerts/alerts.js",
        "alerts/notices.js",
        "alerts/rules.js",
        "alerts/triage.js",
        "campus/campus.js",
        "campus/ride.js",
        "chart-figure.js",
        "chart.js",
        "copy.js",
        "drive.js",
        "entrance.svg",
        "field/camera.js",
        "field/kept.js",
        "field/worker.js",
        "field/field.js",
        "fleet-map.js",
        "home.js",
        "icons.svg",
        "live.js",
        "map-fleet.js",
        "map-replay.js",
        "map-style.js",
        "map.js",
        "maplibre/maplibre-gl-csp.js",
        "maplibre/maplibre-gl.css",
        "mark.svg",
        "names.js",
        "natural-earth.json",
        "nature/sightings.js",
        "nature/survey-form.js",
        "nature/survey-walk.js",
        "nature/surveys.css",
        "nature/tour-map.js",
        "nature/tour-preview.js",
        "nature/tours.css",
        "nature/tours.js",
        "pages.css",
        "push-worker.js",
        "push.js",
        "qr/decode.js",
        "qr/index.js",
        "second-factor.js",
        "shell.js",
        "theme.js",
        "tokens.css",
        "trip.js",
        "uplot/uPlot.iife.min.js",
        "uplot/uPlot.min.css",
        "vehicles/connect.js",
        "vehicles/photo.js",
        "vehicles/scan.js",
        "vehicles/list.js",
        "vehicles/vehicle.js",
        "waiting.js",
        "words.js",
        worker,
        description,
    ]

    /// MapLibre's, on a thread of its own.
    static let worker = "maplibre/maplibre-gl-csp-worker.js"
    /// The API's description, as OpenAPI 3.1.
    private static let description = "openapi.json"

    private let files: [String: File]
    let glyphs: GlyphFiles
    /// What pages can be read in.
    package let languages: Languages
    /// Streets of the city of the sample, as MBTiles.
    package let streets: String

    package init(folder: String) throws {
        glyphs = try GlyphFiles(folder: folder + "/glyphs")
        languages = try Languages(folder: folder + "/words")
        streets = folder + "/streets/helsinki.mbtiles"
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
        glyphs.add(to: &router)
        languages.add(to: &router)
        for (name, file) in files {
            router.add("GET", "/assets/" + name) { request in
                var response = file.response(request)
                // A worker has the policy of its script's own response.
                if name == AssetFiles.worker { response = response.with("Content-Security-Policy", PagePolicy.worker) }
                // The address names the content: it can be kept for ever. Without that, caches ask each time.
                if request.query["v"] == file.version {
                    return response.with("Cache-Control", "public, max-age=31536000, immutable")
                }
                // Each icon of a page names the file; asking for each whether it is still the same would take longer than the page.
                let answer = response.conditional(request)
                return name == "icons.svg" ? answer.with("Cache-Control", "public, max-age=600") : answer
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
