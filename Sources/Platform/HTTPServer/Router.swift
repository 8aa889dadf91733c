/// Finds a request's handler by method and path. Give `route` to `Server` as its handler.
package struct Router: Sendable {
    package typealias Handler = @Sendable (Request) -> Response

    private enum Part: Sendable, Hashable { case fixed(String), parameter(String) }
    private struct Entry: Sendable {
        let parts: [Part]
        var handlers: [String: Handler]
    }

    private var entries: [Entry] = []

    package init() {}

    /// - Parameter pattern: `/vehicles/{vehicle}/trips`; `{name}` matches one non-empty segment. Patterns are tried in the
    ///   order in which they were added.
    package mutating func add(_ method: String, _ pattern: String, _ handler: @escaping Handler) {
        precondition(pattern.hasPrefix("/"), "\(pattern): a pattern begins with /")
        let parts = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part -> Part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .parameter(String(part.dropFirst().dropLast())) : .fixed(String(part))
        }
        if let index = entries.firstIndex(where: { $0.parts == parts }) {
            precondition(entries[index].handlers[method] == nil, "\(method) \(pattern) is there already")
            entries[index].handlers[method] = handler
        } else {
            entries.append(Entry(parts: parts, handlers: [method: handler]))
        }
    }

    /// HEAD gets GET's handler. 404 and 405 come as problem details.
    package func route(_ request: Request) -> Response {
        var allowed: Set<String> = []
        for entry in entries {
            guard let parameters = Router.match(entry.parts, request.segments) else { continue }
            let handler = entry.handlers[request.method] ?? (request.method == "HEAD" ? entry.handlers["GET"] : nil)
            if let handler {
                var request = request
                request.parameters = parameters
                return handler(request)
            }
            allowed.formUnion(entry.handlers.keys)
        }
        guard !allowed.isEmpty else {
            return .problem(404, type: "not-found", detail: "There is nothing at this address. Check its spelling.")
        }
        if allowed.contains("GET") { allowed.insert("HEAD") }
        allowed.insert("OPTIONS")
        let allow = allowed.sorted().joined(separator: ", ")
        if request.method == "OPTIONS" { return Response(204, headers: [("Allow", allow)]) }
        return .problem(405, type: "method-not-allowed", detail: "This address takes \(allow).").with("Allow", allow)
    }

    private static func match(_ parts: [Part], _ segments: [String]) -> [String: String]? {
        guard parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            switch part {
            case .fixed(let text): guard text == segment else { return nil }
            case .parameter(let name):
                guard !segment.isEmpty else { return nil }
                parameters[name] = segment
            }
        }
        return parameters
    }
}
