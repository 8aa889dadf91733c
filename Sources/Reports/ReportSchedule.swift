internal import Alerts
internal import Fleet
internal import Postgres

/// A report that comes at times of its own: a row of drover.report_schedule.
struct ReportSchedule {
    let id: Int64
    /// With whose rights.
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

    init(_ row: Row) throws {
        id = Int64(try row.int("schedule_id")!)
        guard let account = try row.text("account") else { throw Fault(description: "it belongs to nobody") }
        guard let report = Report.named(try row.text("report")!) else {
            throw Fault(description: "there is no report \(try row.text("report")!)")
        }
        guard let length = ReportSpan.Length(rawValue: try row.text("span")!),
            let format = ReportFormat(rawValue: try row.text("format")!)
        else { throw Fault(description: "its span or format is none") }
        (self.account, self.report, self.length, self.format) = (account, report, length, format)
        (of, fleet, zone) = (try row.text("narrowed_to")!, try row.text("fleet")!, try row.text("zone")!)
        units = try row.text("units") == "us" ? .us : .metric
        mailTo = try (row.textArray("mail_to") ?? []).compactMap(\.self)
        isFiled = try row.bool("is_filed")!
    }

    /// Of the last day, week or month that is over when it falls due.
    func ask(dueMs: Int64) -> ReportAsk? {
        guard let now = ReportSpan(length, of: ZonedDay.date(ofMs: dueMs, zone: zone), zone: zone),
            let span = ReportSpan(length, of: ZonedDay.date(ofMs: now.fromMs - 1, zone: zone), zone: zone)
        else { return nil }
        var ask = ReportAsk(span: span)
        (ask.of, ask.fleet, ask.units) = (of, fleet, units)
        return ask
    }
}
