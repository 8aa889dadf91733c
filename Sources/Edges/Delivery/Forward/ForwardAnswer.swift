package import Clients

/// The meaning of a collector's answer for the version sent. Pure.
package enum ForwardAnswer: Equatable {
    case taken
    /// For good: it will never be taken as it is.
    case refused
    /// Neither yes nor no; `waitMs`: when the collector wants to be asked again, if it says so.
    case later(waitMs: Int64?)

    private static let waitMsMax: Int64 = 86_400_000
    /// For a 429 that does not say.
    private static let waitMsStandard: Int64 = 60_000

    package init(_ reply: Reply, nowMs: Int64) {
        let said = RetryAfter.ms(reply.headers["retry-after"], nowMs: nowMs).map { min($0, ForwardAnswer.waitMsMax) }
        self =
            switch reply.status {
            case 200..<300: .taken
            case 429: .later(waitMs: said ?? ForwardAnswer.waitMsStandard)
            // 401: our own key is not taken, which says nothing of the survey. 408, 425: not now (RFC 9110, RFC 8470).
            case 401, 408, 425: .later(waitMs: said)
            case 400..<500: .refused
            default: .later(waitMs: said)
            }
    }

    /// The collector's words, for people: printable, on one line, without our key.
    package static func words(_ reply: Reply, without key: String?) -> String {
        var text = String(decoding: reply.body.prefix(4_096), as: UTF8.self)
        if let key, !key.isEmpty { text = text.replacing(key, with: "…") }
        let plain = text.unicodeScalars.map { scalar -> Character in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                ? " " : Character(scalar)
        }
        return String(plain).split(separator: " ").joined(separator: " ")
    }
}
