internal import Formats
internal import HTTPServer

/// Bodies that may come as gzip.
enum PackedBody {
    /// A packed body may become so long.
    static let bytesMax = 8 << 20

    /// The body as it was before it was packed.
    static func unpacked(
        _ request: Request, bytesMax: Int = bytesMax, _ then: ([UInt8]) -> Response
    ) -> Response {
        switch (request.headers["content-encoding"] ?? "identity").lowercased() {
        case "identity": return then(request.body)
        case "gzip", "x-gzip": break
        default: return .problem(415, type: "content-encoding", detail: "The body may come as it is or as gzip.")
        }
        do throws(Gunzip.Fault) {
            return then(try Gunzip.unpack(request.body, bytesMax: bytesMax))
        } catch .tooLarge(let most) {
            return .problem(413, type: "body-too-large", detail: "\(Gunzip.Fault.tooLarge(most: most)).")
        } catch {
            return .problem(400, type: "not-gzip", detail: "\(error).")
        }
    }

    /// Whether a client takes gzip (RFC 9110, 12.5.3).
    static func isTaken(by request: Request) -> Bool {
        (request.headers["accept-encoding"] ?? "").lowercased().split(separator: ",").contains { part in
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let name = words.first, ["gzip", "x-gzip", "*"].contains(name) else { return false }
            return !words.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 0 <= 0 }
        }
    }
}
