internal import Basics
internal import Codecs
internal import Crypto
internal import HTTPServer

extension Response {
    /// Adds an ETag of the body, and answers 304 when the client has it (RFC 9110, 13.1.2). Caches revalidate each time: changes must not
    /// wait.
    /// - Parameter caching: what caches may do instead.
    func conditional(_ request: Request, caching: String = "no-cache") -> Response {
        guard status == 200 else { return self }
        let tag = "\"" + Hex.text(Secrets.digest(body).prefix(16)) + "\""
        let known = (request.headers["if-none-match"] ?? "").split(separator: ",").map { part in
            let text = part.filter { $0 != " " && $0 != "\t" }
            return text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
        }
        var response = self
        if known.contains(tag) || known == ["*"] { response = Response(304) }
        response.headers.removeAll { $0.name == "Cache-Control" }
        return response.with("ETag", tag).with("Cache-Control", caching)
    }
}
