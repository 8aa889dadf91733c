import Basics

/// At which engine hours a service can have been done. Hours are thousandths.
public struct ServiceHours: Sendable {
    /// The last reading of the hour meter, and its time.
    public let hours, readMs: Int64

    public init(hours: Int64, readMs: Int64) { (self.hours, self.readMs) = (hours, readMs) }

    /// For clocks that are set by hand, and meters that are read askew.
    private static let marginMs = UTC.msPerDay

    /// Why a service cannot have been done at `given` hours; nil: it can. One that is counted far ahead would keep the next from ever
    /// being due. No engine gains an hour in less than one.
    public func fault(_ given: Int64, doneMs: Int64) -> String? {
        let (most, isTooMuch) = hours.addingReportingOverflow((max(0, doneMs - readMs) + ServiceHours.marginMs) / 3_600)
        guard !isTooMuch, given > most else { return nil }
        let (known, typed) = (Decimal.text(hours, decimals: 3), Decimal.text(given, decimals: 3))
        return
            "The machine said \(known) engine hours on \(UTC.text(readMs)): at work day and night it could not have \(typed) h. "
            + "Correct the hours, or the time of the service."
    }
}
