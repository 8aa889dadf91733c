internal import Foundation
internal import Reports
internal import Settings
internal import Telemetry

/// Scheduled reports, wired from settings.
enum ReportRole {
    /// Nil: there is no login that reads as an account reads, so nobody's reports can be made.
    static func scheduler(_ settings: Settings, log: Log) throws -> ReportScheduler? {
        let page = settings.text("postgres.page_url")
        guard !page.isEmpty else {
            log.info("reports that fall due are not made here: postgres.page_url is not set")
            return nil
        }
        let folder = settings.text("reports.folder")
        var isFolder: ObjCBool = false
        let isThere = unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder)
        guard folder.isEmpty || (isThere && isFolder.boolValue) else {
            throw Failure("reports.folder: \(folder): there is no such folder. Make it, or leave the setting empty")
        }
        return ReportScheduler(
            ReportSchedulerSettings(
                conninfo: settings.relayConninfo, pageConninfo: page, rules: try settings.tripRules(),
                price: settings.fuelPrice, queries: try Home.reportQueries(), address: settings.text("web.public_url"),
                folder: folder, graceS: settings.integer("reports.grace_s"), lookS: settings.integer("reports.look_s"),
                lookDays: settings.integer("reports.look_days"), keepDays: settings.integer("reports.keep_days")),
            metrics: Metrics(), log: log)
    }
}
