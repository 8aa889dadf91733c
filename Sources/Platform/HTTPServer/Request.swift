internal import Basics

/// A request whose target, headers and body have been checked.
package struct Request: Sendable {
    /// `GET`, `POST`, …; a HEAD request comes as it is, the router gives it GET's handler.
    package var method: String
    /// Percent-decoded, valid UTF-8, without NUL, control characters and dot segments. Begins with `/`.
    package var path: String
    /// The path's parts, each decoded by itself: an encoded `/` does not make two of one.
    package var segments: [String]
    /// The first value of each name in the query.
    package var query: [String: String]
    /// All of the query, in order.
    package var queryItems: [(name: String, value: String)]
    /// By lower-case name; repeated headers are joined with `, `.
    package var headers: [String: String]
    package var body: [UInt8]
    /// The client's address as this server sees it: a proxy's, when there is one in front. `?` when unknown.
    package var remote: String
    /// The values of `{name}` segments in the route's pattern.
    package var parameters: [String: String] = [:]

    package init(
        method: String, path: String, segments: [String]? = nil, queryItems: [(name: String, value: String)] = [],
        headers: [String: String] = [:], body: [UInt8] = [], remote: String = "?"
    ) {
        self.method = method
        self.path = path
        self.segments =
            segments ?? path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        self.queryItems = queryItems
        query = Dictionary(queryItems.map { ($0.name, $0.value) }) { first, _ in first }
        self.headers = headers
        self.body = body
        self.remote = remote
    }

    /// The media type in lower case, without its parameters.
    package var contentType: String? {
        headers["content-type"].map { value in
            String(value.prefix { $0 != ";" }).filter { $0 != " " && $0 != "\t" }.lowercased()
        }
    }

    /// An `application/x-www-form-urlencoded` body; nil when it is none or not valid UTF-8.
    package var formItems: [(name: String, value: String)]? {
        guard contentType == "application/x-www-form-urlencoded" else { return nil }
        return Target.items(body[...])
    }
}

/// A request target in origin form (RFC 9112, 3.2.1), taken apart. Nil anywhere: the request is refused with 400.
package struct Target {
    package let path: String
    package let segments: [String]
    package let queryItems: [(name: String, value: String)]

    package init?(_ bytes: [UInt8]) {
        guard bytes.first == UInt8(ascii: "/"), !bytes.contains(UInt8(ascii: "#")),
            bytes.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        let split = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        var segments: [String] = []
        for part in bytes[1..<split].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            // Dot segments are for clients to resolve; one that arrives is an attempt to climb.
            guard let text = Target.decoded(part, plusIsSpace: false), text != ".", text != "..", !text.contains("\\")
            else { return nil }
            segments.append(text)
        }
        guard let items = Target.items(split < bytes.endIndex ? bytes[(split + 1)...] : []) else { return nil }
        self.segments = segments
        path = "/" + segments.joined(separator: "/")
        queryItems = items
    }

    static let itemsMax = 200

    static func items(_ bytes: ArraySlice<UInt8>) -> [(name: String, value: String)]? {
        var items: [(name: String, value: String)] = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard items.count < itemsMax, let name = decoded(pair[..<equals], plusIsSpace: true, isText: true),
                let value = decoded(pair[equals...].dropFirst(), plusIsSpace: true, isText: true)
            else { return nil }
            items.append((name, value))
        }
        return items
    }

    /// - Parameter isText: line ends and tabs are allowed, as in a form's text area.
    static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool, isText: Bool = false) -> String? {
        guard let out = PercentEncoding.bytes(bytes, plusIsSpace: plusIsSpace) else { return nil }
        for byte in out where byte < 0x20 || byte == 0x7F {
            guard isText, byte == 0x0A || byte == 0x0D || byte == 0x09 else { return nil }
        }
        return String(validating: out, as: UTF8.self)
    }
}
