internal import Basics
internal import Codecs
internal import Crypto
internal import HTTPServer

/// Accepts forms of our own pages only. Browsers tell where a form was sent from; a form of somebody who is logged in also has a mark of
/// the session, which no other site can read.
enum CSRFGuard {
    static let field = "form"

    /// Nil: it comes from a page of this server.
    static func refusal(_ request: Request) -> Response? {
        if let site = request.headers["sec-fetch-site"] {
            return site == "same-origin" ? nil : foreign
        }
        // Browsers from before 2023 say the origin only.
        guard let origin = request.headers["origin"], let host = request.headers["host"] else { return foreign }
        return origin == "https://" + host || origin == "http://" + host ? nil : foreign
    }

    /// The mark in the forms of this session.
    static func mark(_ session: Token) -> String { Hex.text(Secrets.digest(Array("form".utf8), key: session.digest)) }

    private static var foreign: Response {
        .problem(
            403, type: "form-foreign",
            detail: "This form was not sent from a page of this server. Open the page again and send it from there.")
    }
}

struct SessionCookie {
    private static let keptS = 90 * 86_400
    /// Over HTTPS a name that browsers take from this host only (RFC 6265bis, 4.1.3.2).
    let name: String
    let isSecure: Bool

    init(isSecure: Bool) { (self.isSecure, name) = (isSecure, isSecure ? "__Host-drover" : "drover") }

    func token(_ request: Request) -> Token? { SessionCookie.token(request, named: name) }

    static func token(_ request: Request, named name: String) -> Token? {
        for pair in (request.headers["cookie"] ?? "").split(separator: ";") {
            let text = pair.drop { $0 == " " }
            guard text.hasPrefix(name + "=") else { continue }
            // A second one of the name is somebody else's attempt: the first counts, as servers agree on.
            return Token(String(text.dropFirst(name.utf8.count + 1)))
        }
        return nil
    }

    func set(_ token: Token, isKept: Bool) -> String {
        attributes("\(name)=\(token.text)", isKept ? "; Max-Age=\(SessionCookie.keptS)" : "")
    }

    var ended: String { attributes("\(name)=", "; Max-Age=0") }

    private func attributes(_ start: String, _ age: String) -> String {
        start + "; Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "") + age
    }
}

/// The cookie by which a browser is known that somebody has logged in with: others' wrong guesses do not shut it out. It opens
/// nothing by itself.
struct DeviceCookie {
    private static let keptS = 365 * 86_400
    private let name: String
    private let isSecure: Bool

    init(isSecure: Bool) {
        self.isSecure = isSecure
        name = isSecure ? "__Host-drover-device" : "drover-device"
    }

    func token(_ request: Request) -> Token? { SessionCookie.token(request, named: name) }

    func set(_ token: Token) -> String {
        "\(name)=\(token.text); Max-Age=\(DeviceCookie.keptS); Path=/; HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }
}
