internal import Foundation
public import HTTP
internal import Secrets
internal import Wire

/// What pages load beside themselves: styles, scripts, pictures and the coarse base map, read once from the folder Assets.
/// Each has an address of its own, so that nothing of a request ever names a file.
public struct AssetFiles: Sendable {
    /// A file of the list cannot be read.
    public struct Fault: Error, CustomStringConvertible {
        public let description: String
    }

    private struct File {
        let bytes: [UInt8]
        let type: String
        /// Of the content.
        let version: String
    }

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "png": "image/png",
        "json": "application/json",
    ]
    private static let names = [
        "pages.css", "map.js", "live.js", "fleet-map.js", "alerts.js", "replay.js",
        "tours.css", "tour-map.js", "tours.js", "tour-preview.js",
        "leaflet/leaflet.css", "leaflet/leaflet.js", "leaflet/images/layers.png",
        "leaflet/images/layers-2x.png", "leaflet/images/marker-icon.png", "leaflet/images/marker-icon-2x.png",
        "leaflet/images/marker-shadow.png", "natural-earth.json",
    ]

    private let files: [String: File]

    public init(folder: String) throws {
        var files: [String: File] = [:]
        for name in AssetFiles.names {
            guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
                throw Fault(
                    description: "\(folder)/\(name) cannot be read. Pages load it: install the whole folder Assets")
            }
            let bytes = [UInt8](data)
            files[name] = File(
                bytes: bytes, type: AssetFiles.types[String(name.split(separator: ".").last!)]!,
                version: Hex.text(Secrets.digest(bytes).prefix(8)))
        }
        self.files = files
    }

    public func add(to router: inout Router) {
        for (name, file) in files {
            router.add("GET", "/assets/" + name) { request in
                let response = Response(200, headers: [("Content-Type", file.type)], body: file.bytes)
                // The address names the content: it can be kept for ever. Without that, caches ask each time.
                return request.query["v"] == file.version
                    ? response.with("Cache-Control", "public, max-age=31536000, immutable")
                    : response.conditional(request)
            }
        }
    }

    /// What stands in it. Precondition: `name` is on the list.
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
