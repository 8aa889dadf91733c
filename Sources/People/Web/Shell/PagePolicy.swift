internal import Crypto
internal import Foundation
internal import HTTPServer
internal import Presentation

/// The Content Security Policy (level 3) of our pages: only this server's resources and no inline script. The one inline style is allowed
/// by its digest.
enum PagePolicy {
    static let text = "default-src 'none'; style-src 'self' \(style); " + rest
    /// For pages that show a secret, with a script of ours that fetches nothing: neither pictures nor responses.
    static let drawing = "default-src 'none'; script-src 'self'; style-src 'self' \(style); img-src data:; " + bounds
    /// For pages with scripts of ours, which may call this server.
    static let withScripts =
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' \(style); " + rest

    /// For pages with a map: MapLibre reads tiles and letters on a worker of ours, and makes pictures of tiles that it has fetched.
    static let withMap =
        "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' \(style); "
        + "img-src 'self' data: blob:; media-src 'self'; " + bounds
    /// For MapLibre's worker itself.
    static let worker = "default-src 'none'; connect-src 'self'"

    private static let style =
        "'sha256-\(Data(Secrets.sha256(Array(HTML.style.markup.utf8))).base64EncodedString())'"
    private static let rest =
        "img-src 'self' data:; media-src 'self'; " + bounds
    private static let bounds = "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

extension Response {
    /// A page of ours.
    static func page(_ html: HTML, status: Int = 200, hasScripts: Bool = false, hasMap: Bool = false) -> Response {
        let policy = hasMap ? PagePolicy.withMap : hasScripts ? PagePolicy.withScripts : PagePolicy.text
        return page(Array(html.markup.utf8), status, policy)
    }

    /// A report that was made of HTML and kept as a file since (`ReportOutput.file`).
    static func page(ofKeptReport file: [UInt8]) -> Response { page(file, 200, PagePolicy.text) }

    /// One that no cache keeps, with a picture that the browser draws of a secret.
    static func drawn(_ html: HTML, _ status: Int) -> Response {
        page(Array(html.markup.utf8), status, PagePolicy.drawing).with("Cache-Control", "no-store")
    }

    private static func page(_ body: [UInt8], _ status: Int, _ policy: String) -> Response {
        Response(status, headers: [("Content-Type", "text/html; charset=utf-8")], body: body)
            .with("Content-Security-Policy", policy)
    }
}
