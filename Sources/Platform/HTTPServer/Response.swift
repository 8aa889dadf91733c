internal import Basics

/// A response. `Server` adds Date, Content-Length and the security headers that are missing.
package struct Response: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Set: it says why a request was refused, for programs; this is the same for people.
    package private(set) var refusal: (title: String, detail: String)?
    /// Set: the body goes on, and `body` is not sent.
    package var stream: BodyStream?
    /// Set: the body is a part of a file, and `body` is not sent.
    var file: (body: FileBody, range: Range<Int>)?
    /// Set: this is none, and that gives it.
    var later: DeferredResponse?

    package init(_ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8") -> Response
    {
        Response(status, headers: [("Content-Type", type)], body: Array(text.utf8))
    }

    /// - Parameter json: already JSON.
    package static func json(_ json: String, status: Int = 200) -> Response {
        Response(status, headers: [("Content-Type", "application/json")], body: Array(json.utf8))
    }

    /// A body that goes on until `stream` ends; the connection ends with it.
    package static func streaming(_ stream: BodyStream, type: String) -> Response {
        var response = Response(200, headers: [("Content-Type", type), ("Connection", "close")])
        response.stream = stream
        return response
    }

    /// True while the content is not known yet.
    package var isLater: Bool { later != nil }

    /// A response that `answer` will supply.
    package static func later(_ answer: DeferredResponse) -> Response {
        var response = Response(500)
        response.later = answer
        return response
    }

    /// Maps the response: at once, or later on the thread that supplies it.
    package func then(_ make: @escaping @Sendable (Response) -> Response) -> Response {
        guard let later else { return make(self) }
        let answer = DeferredResponse()
        later.whenGiven { answer.give(make($0)) }
        return .later(answer)
    }

    /// To another page of ours after a form was taken. Precondition: `path` begins with one `/`.
    package static func seeOther(_ path: String) -> Response {
        precondition(path.hasPrefix("/") && !path.hasPrefix("//"), "redirects stay on this server")
        return Response(303, headers: [("Location", path)])
    }

    /// Problem details, RFC 9457.
    /// - Parameters:
    ///   - type: stable name of the problem for programs, kebab case; becomes `urn:drover:problem:TYPE`.
    ///   - detail: what happened to this request and what to do.
    ///   - more: further members, values already JSON.
    package static func problem(
        _ status: Int, type: String, detail: String, more: KeyValuePairs<String, String> = [:]
    ) -> Response {
        var json =
            "{\"type\":\(JSONString.quoted("urn:drover:problem:" + type)),\"title\":\(JSONString.quoted(reason(status))),"
        json += "\"status\":\(status),\"detail\":\(JSONString.quoted(detail))"
        for (name, value) in more { json += ",\(JSONString.quoted(name)):\(value)" }
        var response = Response(
            status, headers: [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")],
            body: Array((json + "}").utf8))
        response.refusal = (reason(status), detail)
        return response
    }

    /// The same with one more header.
    package func with(_ name: String, _ value: String) -> Response {
        var response = self
        response.headers.append((name, value))
        return response
    }

    /// The first value of a header.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// RFC 9110, 15.
    private static func reason(_ status: Int) -> String {
        let reasons = [
            400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
            409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
            415: "Unsupported Media Type", 416: "Range Not Satisfiable", 421: "Misdirected Request",
            422: "Unprocessable Content",
            428: "Precondition Required",
            429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
            504: "Gateway Timeout",
        ]
        return reasons[status] ?? "Status \(status)"
    }
}

/// Headers that every answer gets unless the handler set them.
enum SecurityHeaders {
    /// - Parameter isSecure: the answer goes over TLS of ours; browsers heed no promise of TLS that came without (RFC 6797, 8.1).
    static func missing(from response: Response, isSecure: Bool) -> [(name: String, value: String)] {
        var wanted = [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin")]
        if isSecure { wanted.append(("Strict-Transport-Security", "max-age=31536000")) }
        if response.header("Content-Type")?.lowercased().hasPrefix("text/html") == true {
            wanted += [
                (
                    "Content-Security-Policy",
                    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
                        + "base-uri 'none'; frame-ancestors 'none'"
                ), ("X-Frame-Options", "DENY"),
            ]
        }
        return wanted.filter { response.header($0.0) == nil }.map { (name: $0.0, value: $0.1) }
    }
}
