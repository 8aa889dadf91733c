internal import Formats
package import HTTPServer

/// Pages, and what their scripts read, as gzip. Beside a text that another site chose the length of a packed page would reveal its
/// secrets (CVE-2013-3587): whatever another site made the browser ask for goes out as it is.
package enum PackedPage {
    /// Smaller ones fit into the first packets as they are.
    private static let bytesMin = 1_000
    private static let types = ["text/html", "application/json"]

    package static func packed(_ response: Response, to request: Request) -> Response {
        guard let site = request.headers["sec-fetch-site"], ["same-origin", "none"].contains(site),
            PackedBody.isTaken(by: request)
        else { return response }
        return response.then { response in
            guard response.body.count >= bytesMin, isWhole(response),
                let type = response.header("Content-Type"), types.contains(where: type.hasPrefix)
            else { return response }
            var packed = response
            packed.headers += [
                (name: "Content-Encoding", value: "gzip"), (name: "Vary", value: "Accept-Encoding, Sec-Fetch-Site"),
            ]
            packed.body = Gzip.pack(response.body)
            return packed
        }
    }

    /// An ETag is of the bytes as they are; what is packed already stays so.
    private static func isWhole(_ response: Response) -> Bool {
        response.stream == nil && response.header("Content-Encoding") == nil && response.header("ETag") == nil
    }
}
