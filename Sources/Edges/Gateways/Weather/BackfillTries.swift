/// When the weather of a survey or a trip is asked for again; bounded. Pure.
package struct BackfillTries {
    package static let entriesMax = 20_000
    /// The worker needs a moment to join what was found.
    static let filledMs: Int64 = 60_000
    private static let firstMs: Int64 = 600_000
    private static let mostMs: Int64 = 86_400_000

    private var entries: [String: (tries: Int, nextMs: Int64)] = [:]

    package init() {}

    package func isDue(_ key: String, nowMs: Int64) -> Bool { (entries[key]?.nextMs ?? 0) <= nowMs }

    /// Retries missing data after 10 minutes, 20, 40 … at most a day.
    package mutating func tried(_ key: String, isFilled: Bool, nowMs: Int64) {
        if entries.count >= BackfillTries.entriesMax, entries[key] == nil {
            // Too many to remember: those that are due are forgotten, or all of them.
            entries = entries.filter { $0.value.nextMs > nowMs }
            if entries.count >= BackfillTries.entriesMax { entries.removeAll() }
        }
        let tries = isFilled ? 0 : (entries[key]?.tries ?? 0) + 1
        let waitMs =
            isFilled
            ? BackfillTries.filledMs : min(BackfillTries.mostMs, BackfillTries.firstMs << Int64(min(tries - 1, 10)))
        entries[key] = (tries, nowMs + waitMs)
    }
}
