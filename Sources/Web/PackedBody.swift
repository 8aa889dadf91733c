internal import HTTP

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
}
