/// A request as a handler sees it. Requests have no body yet: nothing here takes one.
public struct Request: Sendable {
    public let method: String
    /// Percent-decoded, begins with `/`.
    public let path: String
    public let query: [String: String]

    public init(method: String, path: String, query: [String: String]) {
        (self.method, self.path, self.query) = (method, path, query)
    }
}

public struct Response: Sendable {
    public var status: UInt32
    public var contentType: String
    public var body: [UInt8]
    public var headers: [(String, String)] = []

    public init(status: UInt32 = 200, contentType: String, body: String) {
        (self.status, self.contentType, self.body) = (status, contentType, Array(body.utf8))
    }

    /// Pages bring everything with them: no script, no font, no picture from elsewhere, no frame around them.
    public static func html(_ text: String, status: UInt32 = 200) -> Response {
        var response = Response(status: status, contentType: "text/html; charset=utf-8", body: text)
        response.headers = [
            ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
            ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
        ]
        return response
    }

    /// Problem details, RFC 9457. The texts are ours and need no escaping but of quotes.
    public static func problem(_ status: UInt32, type: String, title: String, detail: String) -> Response {
        func quoted(_ text: String) -> String {
            text.unicodeScalars.map { scalar in
                switch scalar {
                case "\"": "\\\""
                case "\\": "\\\\"
                default: scalar.value < 0x20 ? " " : String(Character(scalar))
                }
            }.joined()
        }
        return Response(
            status: status, contentType: "application/problem+json",
            body: "{\"type\":\"urn:drover:problem:\(type)\",\"title\":\"\(quoted(title))\",\"status\":\(status),\"detail\":\"\(quoted(detail))\"}\n")
    }
}

/// What went wrong with the listener.
public struct HTTPError: Error, CustomStringConvertible, Sendable {
    public let description: String
}
