internal import Alerts
internal import Presentation
internal import Storage

/// A report that comes at times of its own: a row of drover.report_schedule.
struct ReportSchedule {
    let id: Int64
    /// The account whose rights apply.
    let account: String
    let report: Report
    let length: ReportSpan.Length
    let of, fleet: String
    let format: ReportFormat
    let units: DriverSettings.Units
    let zone: String
    let mailTo: [String]
    let isFiled: Bool

    struct Fault: Error, CustomStringConvertible { let description: String }

    init(_ stored: StoredSchedule) throws(Fault) {
        guard let account = stored.account else { throw Fault(description: "it belongs to nobody") }
        guard let report = Report.named(stored.report) else {
            throw Fault(description: "there is no report \(stored.report)")
        }
        guard let length = ReportSpan.Length(rawValue: stored.span), let format = ReportFormat(rawValue: stored.format)
        else { throw Fault(description: "its span or format is none") }
        self.account = account
        self.report = report
        self.length = length
        self.format = format
        id = stored.id
        of = stored.of
        fleet = stored.fleet
        zone = stored.zone
        units = stored.units
        mailTo = stored.mailTo
        isFiled = stored.isFiled
    }

    /// The parameters for the last complete day, week or month when it falls due.
    func ask(dueMs: Int64) -> ReportParameters? {
        guard let now = ReportSpan(length, of: ZonedDay.date(ofMs: dueMs, zone: zone), zone: zone),
            let span = ReportSpan(length, of: ZonedDay.date(ofMs: now.fromMs - 1, zone: zone), zone: zone)
        else { return nil }
        var ask = ReportParameters(span: span)
        ask.of = of
        ask.fleet = fleet
        ask.units = units
        return ask
    }
}
