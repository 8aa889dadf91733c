internal import Basics
internal import Clients
internal import Foundation

/// A picture of a map.
package struct Tile: Sendable {
    /// By its first bytes, whatever the server calls it.
    package let mediaType: String
    package let content: [UInt8]

    /// Nil: it is no picture that maps are drawn of.
    init?(_ content: [UInt8]) {
        func begins(_ magic: [UInt8], at place: Int = 0) -> Bool { content.dropFirst(place).starts(with: magic) }
        if begins([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            mediaType = "image/png"
        } else if begins([0xFF, 0xD8, 0xFF]) {
            mediaType = "image/jpeg"
        } else if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) {
            mediaType = "image/webp"
        } else {
            return nil
        }
        self.content = content
    }
}

/// The address of picture tiles with `{z}`, `{x}`, `{y}` and, where the server wants one, `{key}`.
package struct TileAddress: Sendable {
    package struct Fault: Error, CustomStringConvertible { package let description: String }

    private let text: String
    private let key: String
    let isPlain: Bool

    package init(_ text: String, key: String, setting: String) throws(Fault) {
        let places = ["{z}", "{x}", "{y}"]
        guard places.allSatisfy({ text.components(separatedBy: $0).count == 2 }) else {
            throw Fault(
                description: "\(setting): must have {z}, {x} and {y} in it, once each, like "
                    + "https://tiles.example/{z}/{x}/{y}.png")
        }
        guard text.contains("{key}") == !key.isEmpty else {
            throw Fault(description: "\(setting): {key} stands in it where map.tiles_key is set, and only there")
        }
        let whole = TileAddress.filled(text, key, zoom: 0, column: 0, row: 0)
        guard let url = URLComponents(string: whole), let host = url.host, !host.isEmpty, url.user == nil,
            url.password == nil, whole.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x7B && $0 != 0x7D })
        else { throw Fault(description: "\(setting): is no address like https://tiles.example/{z}/{x}/{y}.png") }
        isPlain = url.scheme == "http"
        guard url.scheme == "https" || isPlain && ServiceAddress.isLoopback(host) else {
            throw Fault(
                description: "\(setting): must begin with https://; plain http:// only to this machine (127.0.0.1)")
        }
        self.text = text
        self.key = key
    }

    func url(zoom: Int, column: Int, row: Int) -> String {
        TileAddress.filled(text, key, zoom: zoom, column: column, row: row)
    }

    private static func filled(_ text: String, _ key: String, zoom: Int, column: Int, row: Int) -> String {
        text.replacing("{z}", with: "\(zoom)").replacing("{x}", with: "\(column)").replacing("{y}", with: "\(row)")
            .replacing("{key}", with: PercentEncoding.text(key))
    }
}

/// Asks for tiles, for one thread; its calls block.
package final class TileServer {
    private static let service = "tiles"
    private static let tileBytesMax = 1 << 20

    private let address: TileAddress
    private let userAgent: String
    private let client: HTTPSClient

    package init(_ address: TileAddress, caFile: String?, userAgent: String) throws {
        self.address = address
        self.userAgent = userAgent
        var limits = HTTPSClient.Limits()
        limits.connectMs = 3_000
        limits.totalMs = 8_000
        limits.bodyBytesMax = TileServer.tileBytesMax
        client = try HTTPSClient(caFile: caFile, limits: limits, isPlainAllowed: address.isPlain)
    }

    /// Nil: the server has none there.
    package func tile(zoom: Int, column: Int, row: Int) throws(ServiceError) -> Tile? {
        let reply: Reply
        do throws(RequestError) {
            reply = try client.ask(
                address.url(zoom: zoom, column: column, row: row), headers: [("User-Agent", userAgent)])
        } catch {
            // Not the address: a key may stand in it.
            throw ServiceError(TileServer.service, .unreachable, error.reason)
        }
        switch reply.status {
        case 200: break
        case 204, 404: return nil
        case 401, 403: throw ServiceError(TileServer.service, .refused, "the server refuses us (\(reply.status))")
        case 429: throw ServiceError(TileServer.service, .toldToWait, "the server wants fewer requests (429)")
        default: throw ServiceError(TileServer.service, .status, "the server answers \(reply.status)")
        }
        guard let tile = Tile(reply.body) else {
            throw ServiceError(TileServer.service, .unreadable, "what the server sends is no png, jpg or webp")
        }
        return tile
    }
}
