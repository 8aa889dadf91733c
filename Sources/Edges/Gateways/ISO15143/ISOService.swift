internal import Basics
internal import Clients
internal import Codecs
internal import Formats
internal import Foundation
internal import Telemetry

/// Why a page was not got. Holds no secret.
struct ISOServiceError: Error, CustomStringConvertible {
    let description: String
    /// The service said when to come back.
    var retryAfterMs: Int64?
    /// Asking again would get the same answer.
    var isHopeless = false
}

/// One maker's service: asks with an access token and gets a new one when it has run out.
final class ISOService {
    /// A service that wants us to stay away for longer is asked again after a day.
    private static let retryAfterMsMax: Int64 = 86_400_000

    private let settings: ISOFleetSettings
    private let tokenURL: URL?
    private let client: HTTPSClient
    private var token: (text: String, untilMs: Int64)?

    init(_ settings: ISOFleetSettings) throws {
        self.settings = settings
        tokenURL = settings.tokenURL.isEmpty ? nil : try ISOService.url(settings.tokenURL, "iso.token_url")
        client = try HTTPSClient(caFile: settings.caFile)
    }

    static func url(_ text: String, _ setting: String) throws -> URL {
        guard let url = URL(string: text), url.scheme == "https", url.host != nil, url.user == nil else {
            throw ISOServiceError(description: "\(setting): must be an address like https://service.example/Fleet/1")
        }
        return url
    }

    /// The body of a page.
    func page(_ url: URL) throws -> [UInt8] {
        let reply = try ask(url)
        if reply.status == 200 { return reply.body }
        var error = failure(reply, url)
        // The next try asks for another token, and there is nothing to wait for.
        if reply.status == 401, token != nil { (token, error.retryAfterMs) = (nil, 0) }
        throw error
    }

    private func ask(_ url: URL) throws -> Reply {
        var headers = [(name: "Accept", value: "application/xml")]
        if let token = try accessToken() { headers.append(("Authorization", "Bearer " + token)) }
        return try client.ask(url.absoluteString, headers: headers)
    }

    /// OAuth 2.0, client credentials (RFC 6749, 4.4), the client named by HTTP Basic (2.3.1), escaped as appendix B wants it.
    private func accessToken() throws -> String? {
        guard let tokenURL else { return nil }
        if let token, token.untilMs > Clock.steadyMs() { return token.text }
        let credentials = PercentEncoding.text(settings.clientID) + ":" + PercentEncoding.text(settings.clientSecret)
        let reply = try client.ask(
            tokenURL.absoluteString,
            headers: [
                ("Authorization", "Basic " + Data(credentials.utf8).base64EncodedString()),
                ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
            ], body: Array("grant_type=client_credentials".utf8))
        guard reply.status == 200 else {
            var error = failure(reply, tokenURL)
            if reply.status == 400 || reply.status == 401 {
                error = ISOServiceError(
                    description: "\(error): the client credentials are refused. Check iso.client_id and its secret",
                    isHopeless: true)
            }
            throw error
        }
        guard let answer = try? JSONValue(reply.body), let text = answer["access_token"]?.text, !text.isEmpty,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw ISOServiceError(description: "\(tokenURL.host ?? ""): the answer holds no access token") }
        // A little early: it has to hold until the request arrives.
        let seconds = Int64(min(max(answer["expires_in"]?.double ?? 300, 0), 86_400))
        token = (text, Clock.steadyMs() + max(0, seconds - 30) * 1_000)
        return text
    }

    private func failure(_ reply: Reply, _ url: URL) -> ISOServiceError {
        let isHopeless = (400...499).contains(reply.status) && ![401, 408, 425, 429].contains(reply.status)
        return ISOServiceError(
            description: "\(url.host ?? "")\(url.path): status \(reply.status)",
            retryAfterMs: RetryAfter.ms(reply.headers["retry-after"], nowMs: Clock.nowMs()).map {
                min($0, ISOService.retryAfterMsMax)
            }, isHopeless: isHopeless)
    }

    /// The address that a page gives for the next one; nil when it is the same page.
    /// - Throws: when it leads to somebody else, who would get our token.
    func follow(_ address: String, from page: URL) throws -> URL? {
        guard let next = URL(string: address, relativeTo: page)?.absoluteURL, next.scheme == "https",
            next.host == page.host, next.port == page.port
        else {
            throw ISOServiceError(
                description: "\(page.host ?? "")\(page.path): its next page is at another server", isHopeless: true)
        }
        return next == page ? nil : next
    }

    /// `…/Fleet/1` → `…/Fleet/Equipment/PIN/Locations/FROM/TO/1`, as the standard lays its paths out.
    static func series(_ name: String, of pin: String, _ fromMs: Int64, _ toMs: Int64, endpoint: URL) -> URL {
        func time(_ ms: Int64) -> String { UTC.text(ms / 1_000 * 1_000) }
        let isPage = Int(endpoint.lastPathComponent) != nil
        let base = (isPage ? endpoint.deletingLastPathComponent() : endpoint).absoluteString
        let parts = ["Equipment", pin, name, time(fromMs), time(toMs), isPage ? endpoint.lastPathComponent : "1"]
        let path = (base.hasSuffix("/") ? base : base + "/") + parts.map(PercentEncoding.text).joined(separator: "/")
        guard let url = URL(string: path) else { preconditionFailure("escaped parts make an address") }
        return url
    }
}
