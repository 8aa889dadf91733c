internal import Foundation
internal import HTTP
internal import Reports
internal import Secrets

/// What a browser may do on our pages (Content Security Policy 3): nothing but what this server says, and no script that
/// stands in the page. The one style in the page is allowed by its digest.
enum PagePolicy {
    static let text = "default-src 'none'; style-src 'self' \(style); " + rest
    /// Of pages with scripts of ours, which may ask this server.
    static let withScripts =
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' \(style); " + rest

    private static let style =
        "'sha256-\(Data(Secrets.sha256(Array(HTMLText.style.utf8))).base64EncodedString())'"
    private static let rest =
        "img-src 'self' data:; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

extension Response {
    /// A page of ours.
    static func page(_ html: String, status: Int = 200, hasScripts: Bool = false) -> Response {
        .html(html, status: status)
            .with("Content-Security-Policy", hasScripts ? PagePolicy.withScripts : PagePolicy.text)
    }
}
