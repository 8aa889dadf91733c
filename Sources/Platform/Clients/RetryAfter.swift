internal import Foundation

/// The header `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
package enum RetryAfter {
    private static let secondsMax: Int64 = 366 * 86_400

    /// Milliseconds from now; nil where there is none that can be read.
    package static func ms(_ text: String?, nowMs: Int64) -> Int64? {
        guard let text else { return nil }
        if let seconds = Int64(text) { return seconds >= 0 ? min(seconds, secondsMax) * 1_000 : nil }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        format.timeZone = TimeZone(secondsFromGMT: 0)
        guard let date = format.date(from: text) else { return nil }
        return max(0, min(Int64(date.timeIntervalSince1970 * 1_000) - nowMs, secondsMax * 1_000))
    }
}
