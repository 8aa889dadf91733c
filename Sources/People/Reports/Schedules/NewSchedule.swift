package import Alerts
internal import Fleet
internal import Presentation
package import Storage

/// A schedule as somebody wants it.
package struct NewSchedule: Sendable {
    package struct Fault: Error, CustomStringConvertible {
        package let description: String
        package init(_ description: String) { self.description = description }
    }

    package let report: Report
    package let length: ReportSpan.Length
    package let of, fleet: String
    package let format: ReportFormat
    /// `metric` or `us`.
    package let units: DriverSettings.Units
    package let cron, zone: String

    /// Checks everything, so that nothing that was accepted fails later.
    package init(
        report: Report, length: ReportSpan.Length, of: String, fleet: String, format: ReportFormat,
        units: DriverSettings.Units,
        cron: String, zone: String, leastMinutes: Int = 1, nowMs: Int64
    ) throws(Fault) {
        guard of.isEmpty || Report.isID(of, report.of) else {
            throw Fault(t("`\(of)` is not an id."))
        }
        guard fleet.isEmpty || (report.hasFleets && VehicleID(fleet) != nil) else {
            throw Fault(t("This is no fleet's id, or the report has no fleets."))
        }
        try NewSchedule.check(cron, zone: zone, leastMinutes: leastMinutes, nowMs: nowMs)
        self.report = report
        self.length = length
        self.of = of
        self.fleet = fleet
        self.format = format
        self.units = units
        self.cron = cron
        self.zone = zone
    }

    /// Requires that these times ever occur.
    /// - Parameter leastMinutes: from one to the next, up to an hour: a report may take all that a server has.
    package static func check(_ cron: String, zone: String, leastMinutes: Int = 1, nowMs: Int64) throws(Fault) {
        guard ZonedDay(date: "2026-01-01", zone: zone) != nil else {
            throw Fault(t("A zone is a name such as Europe/Berlin."))
        }
        let times: CronTimes
        do { times = try CronTimes(cron) } catch { throw Fault("\(error).") }
        guard times.next(afterMs: nowMs, zone: zone) != nil else {
            throw Fault(t("`\(cron)` never falls due."))
        }
        guard times.leastMinutes >= leastMinutes else {
            throw Fault(
                t(
                    "`\(cron)` comes every \(times.leastMinutes) minutes; here \(leastMinutes) lie between two times at least. Name one minute, like 0 6-18 * * *, or ask who runs Drover (web.schedule_min)."
                ))
        }
    }

    /// As the table has it.
    package var fields: ScheduleFields {
        ScheduleFields(
            report: report.name, span: length.rawValue, of: of, fleet: fleet, format: format.rawValue, units: units,
            cron: cron, zone: zone)
    }
}
