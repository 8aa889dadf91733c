/// The rate limits of a service, as its owner gives them: `60/min, 1000/day`. Pure.
package struct CallLimits: Equatable, Sendable {
    package enum Period: String, CaseIterable, Sendable {
        case minute = "min", hour = "h", day, month

        /// At most a month, whatever the owner asks for.
        var ms: Int64 {
            switch self {
            case .minute: 60_000
            case .hour: 3_600_000
            case .day: 86_400_000
            case .month: 31 * 86_400_000
            }
        }
        /// Calls are counted by slices of a period.
        var slices: Int64 {
            switch self {
            case .minute, .hour: 12
            case .day: 24
            case .month: 31
            }
        }
        var sliceMs: Int64 { ms / slices }
    }

    package struct Fault: Error, CustomStringConvertible { package let description: String }

    package var calls: [Period: Int] = [:]
    /// Between the beginnings of two calls; 0: none.
    package var spacingMs: Int64 = 0

    /// Empty: no limit.
    package init(_ text: String) throws(Fault) {
        for part in text.split(separator: ",") {
            let words = part.split(separator: "/", omittingEmptySubsequences: false)
                .map { $0.filter { !$0.isWhitespace } }
            guard words.count == 2, let count = Int(words[0]), (1...1_000_000_000).contains(count) else {
                throw CallLimits.fault(part)
            }
            if words[1] == "s" {
                guard count <= 1_000, spacingMs == 0 else { throw CallLimits.fault(part) }
                spacingMs = (1_000 + Int64(count) - 1) / Int64(count)
            } else {
                guard let period = Period(rawValue: words[1]), calls[period] == nil else {
                    throw CallLimits.fault(part)
                }
                calls[period] = count
            }
        }
    }

    private static func fault(_ part: Substring) -> Fault {
        Fault(
            description:
                "`\(part)` is no limit: write `60/min, 1000/day`, each of /s, /min, /h, /day and /month at most once"
        )
    }

    package var text: String {
        let spacing = spacingMs > 0 ? ["\(1_000 / spacingMs)/s"] : []
        let texts = spacing + Period.allCases.compactMap { period in calls[period].map { "\($0)/\(period.rawValue)" } }
        return texts.isEmpty ? "none" : texts.joined(separator: ", ")
    }
}
